/** Bytes: of texts and numbers, what they are hashed to, and what is read from them. */
export const bytesOf = (text) => new TextEncoder().encode(text);
/** The four bytes of a number below 2^32, the highest first. */
export const asFour = (number) =>
  [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256);
/** The 32-bit words in a buffer, the highest byte first. */
export const wordsIn = (buffer) => Array.from({ length: buffer.byteLength / 4 },
  (_, place) => new DataView(buffer).getUint32(4 * place));
/** Two hexadecimal digits for each byte. */
export const toHex = (bytes) =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
export const sha256 = (bytes) => crypto.subtle.digest('SHA-256', Uint8Array.from(bytes));
