/** The proof of work that some surveys ask for, so that nobody can easily send masses of reports. */
import { range } from '../exact.js';
import { bytesOf, proofs, sha256 } from '../hashes.js';

function leadingZeros(bytes) {
  const first = bytes.findIndex((byte) => byte > 0);
  return first < 0 ? 8 * bytes.length : 8 * first + Math.clz32(bytes[first]) - 24;
}

/** Finds a number whose hash, with a text before it, has so many leading zero bits. */
export async function work(text, bits) {
  for (let start = 0; ; start += 2048) {
    // Lets the page be painted, and pressed, in between.
    await new Promise((resolve) => { setTimeout(resolve); });
    const hashed = range(2048).map((place) => sha256(bytesOf(`${text}:${start + place}`)));
    const hashes = await Promise.all(hashed);
    const place = hashes.findIndex((hash) => leadingZeros(new Uint8Array(hash)) >= bits);
    if (place >= 0) return start + place;
  }
}

proofs.work = work;
