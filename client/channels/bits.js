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

/** This channel, and after it another, as one of BigInts. @returns {object} */
export function followedBy(c, instant) {
  const total = BigInt(c.total);
  const [one, zero] = [BigInt(instant.one), BigInt(instant.zero)];
  const both = (weight) => weight * one + (total - weight) * zero;
  return {
    ...c,
    one: both(BigInt(c.one)),
    zero: both(BigInt(c.zero)),
    total: total * BigInt(instant.total),
  };
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

/** A drawn bit for each place. @param {function(number): boolean} isOne @returns {number[]} */
function flags(isOne, c, words) {
  const bits = [];
  for (let place = 0; place < c.inputs; place += 1) {
    bits.push(below(c.total, words) < (isOne(place) ? c.one : c.zero) ? 1 : 0);
  }
  return bits;
}

/** @param {number[]} symbol the places of the input's ones @returns {string} the report */
export const randomize = (symbol, c, words) =>
  packed(flags((place) => symbol.includes(place), c, words));

/**
 * The report that is kept for an input: each place has a bit for a 1 of the input and one for a 0,
 * so that another input changes no bit that both have.
 * @param {function(number, function): Promise} drawn draws with the words of 1, or of 0
 * @returns {Promise<number[]>} the places of its ones
 */
export async function remember(symbol, c, drawn) {
  const ones = await drawn(1, (words) => flags(() => true, c, words));
  const zeros = await drawn(0, (words) => flags(() => false, c, words));
  const places = [...ones.keys()];
  return places.filter((place) => (symbol.includes(place) ? ones : zeros)[place]);
}
