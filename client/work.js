/** Proof of work: seconds of computing, so that thousands of reports are dear (Back, 2002). */
import { bytesOf, sha256 } from './bytes.js';
import { range } from './draw.js';

function leadingZeros(bytes) {
  const first = bytes.findIndex((byte) => byte > 0);
  return first < 0 ? 8 * bytes.length : 8 * first + Math.clz32(bytes[first]) - 24;
}

/** Finds a number that, after a text of its own, has a hash of so many leading zero bits. */
export async function work(text, bits) {
  for (let start = 0; ; start += 256) {
    const hashed = range(256).map((place) => sha256(bytesOf(`${text}:${start + place}`)));
    const hashes = await Promise.all(hashed);
    const place = hashes.findIndex((hash) => leadingZeros(new Uint8Array(hash)) >= bits);
    if (place >= 0) return start + place;
  }
}
