/** The only file that draws: from the device's own source of cryptographic randomness. */
import { toHex } from './hashes.js';

/** An endless stream of uniform 32-bit words. */
export function words() {
  const one = new Uint32Array(1);
  return { next: () => crypto.getRandomValues(one)[0] };
}

/** So many random bytes. */
export const bytes = (length) => crypto.getRandomValues(new Uint8Array(length));

/** Random bytes in hexadecimal. */
export const hex = (length) => toHex(bytes(length));
