/**
 * Proof of work: a device pays some seconds of computing for a report, so that thousands are dear.
 * Adam Back, "Hashcash - a denial of service counter-measure", 2002.
 */

/** Hashes under way at once. */
const BATCH = 256;

/** How many leading bits of some bytes are zero. */
function leadingZeros(bytes) {
  const first = bytes.findIndex((byte) => byte > 0);
  return first < 0 ? 8 * bytes.length : 8 * first + Math.clz32(bytes[first]) - 24;
}

/**
 * Finds a number that ends in a hash with so many leading zero bits.
 * @param {string} text that the number is for, and that is never used again
 * @param {number} bits 2^bits hashes are needed on average
 * @returns {Promise<number>}
 */
export async function work(text, bits) {
  const encoder = new TextEncoder();
  for (let start = 0; ; start += BATCH) {
    const hashes = await Promise.all(
      Array.from({ length: BATCH }, (_, place) =>
        crypto.subtle.digest('SHA-256', encoder.encode(`${text}:${start + place}`)),
      ),
    );
    const place = hashes.findIndex((hash) => leadingZeros(new Uint8Array(hash)) >= bits);
    if (place >= 0) return start + place;
  }
}
