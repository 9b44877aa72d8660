/**
 * Subset channel: a random set of `size` symbols that holds the input with the weight `include`
 * against `exclude`. Counterpart of analysis/channels/subset.py, which names the sources.
 */
import { WORD, below } from '../draw.js';

export const fields = ['inputs', 'size', 'include', 'exclude'];

/** @throws {RangeError} unless the weights form a channel */
export function check(c) {
  if (c.size < 1 || c.size >= c.inputs || c.include < 1 || c.exclude < 1) {
    throw new RangeError('subset: size must be in 1..inputs-1, weights at least 1');
  }
  if (c.include + c.exclude > WORD) {
    throw new RangeError('subset: weights must sum to at most 2^32');
  }
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
