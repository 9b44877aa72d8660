/**
 * Window channel: of the outputs, the `width` ones from the input on have weight `near`, all
 * others `far`. Counterpart of analysis/channels/window.py, which names the sources.
 */
import { WORD, below } from '../draw.js';

export const fields = ['inputs', 'width', 'near', 'far'];

const total = (c) => c.width * c.near + (c.inputs - 1) * c.far;

/** @throws {RangeError} unless the weights form a channel */
export function check(c) {
  if (c.inputs < 2 || c.width < 1 || c.near < 1 || c.far < 1) {
    throw new RangeError('window: inputs must be at least 2, width and weights at least 1');
  }
  if (total(c) > WORD) throw new RangeError('window: weights must sum to at most 2^32');
}

/** The largest ratio of the probabilities of one report under two inputs. @returns {bigint[]} */
export function ratio(c) {
  return [BigInt(Math.max(c.near, c.far)), BigInt(Math.min(c.near, c.far))];
}

/** @param {number} symbol the input, 0 <= symbol < inputs @returns {number} the report */
export function randomize(symbol, c, words) {
  const draw = below(total(c), words);
  const inside = c.width * c.near;
  if (draw < inside) return symbol + Math.floor(draw / c.near);
  const outside = Math.floor((draw - inside) / c.far);
  return outside < symbol ? outside : outside + c.width;
}
