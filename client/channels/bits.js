/**
 * Bits channel: every bit is drawn anew, 1 with the weight `one` of `total` where the input has a
 * 1, else `zero`. Counterpart of analysis/channels/bits.py, which names the sources.
 */
import { below, checkTotal } from '../draw.js';

/** Each number that states it; the depth of lists of them. */
export const fields = { inputs: 0, one: 0, zero: 0, total: 0 };

/** An input is the places of its ones, rather than one symbol. */
export const takesBits = true;

/** @throws {RangeError} unless the weights form a channel */
export function check({ one, zero, total }) {
  if (zero > one || one >= total) {
    throw new RangeError(
      `bits: zero must be at most one, one less than total, got ${zero}, ${one}, ${total}`,
    );
  }
  checkTotal('bits', BigInt(total));
}

/**
 * The largest ratio of the probabilities of one report under two inputs.
 * @param {number[][]} apart in how many ones two inputs can differ, [more, fewer]
 * @returns {bigint[]}
 */
export function ratio(c, apart) {
  const [one, zero, total] = [c.one, c.zero, c.total].map(BigInt);
  const ratios = apart.map((counts) => {
    const [more, fewer] = counts.map(BigInt);
    return [one ** more * (total - zero) ** fewer, zero ** more * (total - one) ** fewer];
  });
  return ratios.reduce((a, b) => (a[0] * b[1] >= b[0] * a[1] ? a : b));
}

/** Base64url of the bits, the first in each byte's highest place. @returns {string} */
function packed(bits) {
  const bytes = [];
  for (let start = 0; start < bits.length; start += 8) {
    const byte = bits.slice(start, start + 8).join('').padEnd(8, '0');
    bytes.push(String.fromCharCode(parseInt(byte, 2)));
  }
  return btoa(bytes.join('')).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** @param {number[]} symbol the places of the input's ones @returns {string} the report */
export function randomize(symbol, c, words) {
  const bits = [];
  for (let place = 0; place < c.inputs; place += 1) {
    const weight = symbol.includes(place) ? c.one : c.zero;
    bits.push(below(c.total, words) < weight ? 1 : 0);
  }
  return packed(bits);
}
