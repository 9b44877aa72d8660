/** The only file that draws: from the device's own source of cryptographic randomness. */

/** @returns {import('./draw.js').Words} an endless stream of uniform 32-bit words */
export function words() {
  const one = new Uint32Array(1);
  return { next: () => crypto.getRandomValues(one)[0] };
}

/**
 * @param {number} length in bytes
 * @returns {string} so many random bytes in hexadecimal
 */
export function hex(length) {
  const bytes = crypto.getRandomValues(new Uint8Array(length));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
