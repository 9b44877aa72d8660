/**
 * Subset channel: a random set of `size` symbols that holds the input with the weight `include`
 * against `exclude`. Counterpart of analysis/channels/subset.py, which names the sources.
 */
import { below, checkTotal, sum } from '../draw.js';

/** Each number that states it; the depth of lists of them. */
export const fields = { inputs: 0, size: 0, include: 0, exclude: 0 };

/** @throws {RangeError} unless the weights form a channel */
export function check(c) {
  if (c.size >= c.inputs) {
    throw new RangeError(`subset: size must be less than inputs, got ${c.size}`);
  }
  checkTotal('subset', sum([c.include, c.exclude]));
}

/** The largest ratio of the probabilities of one report under two inputs. @returns {bigint[]} */
export function ratio(c) {
  const within = BigInt(c.include) * BigInt(c.inputs - c.size);
  const without = BigInt(c.exclude) * BigInt(c.size);
  return within > without ? [within, without] : [without, within];
}

/** @param {number} symbol the input, 0 <= symbol < inputs @returns {number[]} sorted */
export function randomize(symbol, c, words) {
  const member = below(c.include + c.exclude, words) < c.include;
  let needed = c.size - (member ? 1 : 0);
  let left = c.inputs - 1;
  const chosen = [];
  for (let other = 0; other < c.inputs; other += 1) {
    if (other === symbol) {
      if (member) chosen.push(other);
      continue;
    }
    if (below(left, words) < needed) {
      chosen.push(other);
      needed -= 1;
    }
    left -= 1;
  }
  return chosen;
}
