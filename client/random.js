/** The only file that draws: from the device's own source of cryptographic randomness. */
import { toHex } from './hex.js';

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
  return toHex(crypto.getRandomValues(new Uint8Array(length)));
}
