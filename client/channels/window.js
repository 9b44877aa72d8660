/**
 * Window channel: of the outputs, the `width` ones from the input on have weight `near`, all
 * others `far`. Counterpart of analysis/channels/window.py, which names the sources.
 */
import { below, checkTotal } from '../draw.js';

/** Each number that states it; the depth of lists of them. */
export const fields = { inputs: 0, width: 0, near: 0, far: 0 };

const total = (c) => c.width * c.near + (c.inputs - 1) * c.far;

/** @throws {RangeError} unless the weights form a channel */
export function check(c) {
  if (c.inputs < 2) throw new RangeError(`window: inputs must be at least 2, got ${c.inputs}`);
  const inside = BigInt(c.width) * BigInt(c.near);
  checkTotal('window', inside + BigInt(c.inputs - 1) * BigInt(c.far));
}

/** The largest ratio of the probabilities of one report under two inputs. @returns {bigint[]} */
export function ratio(c) {
  const [near, far] = [BigInt(c.near), BigInt(c.far)];
  return near > far ? [near, far] : [far, near];
}

/** This channel, and after it another, as one of BigInts; both have width 1. @returns {object} */
export function followedBy(c, instant) {
  const [near, far, own, other] = [c.near, c.far, instant.near, instant.far].map(BigInt);
  const others = BigInt(c.inputs);
  return {
    ...c,
    near: near * own + (others - 1n) * far * other,
    far: near * other + far * own + (others - 2n) * far * other,
  };
}

/** The weight of each report for an input; all inputs have the same sum. @returns {number[]} */
export function weights(symbol, c) {
  const weight = (output) => (symbol <= output && output < symbol + c.width ? c.near : c.far);
  return Array.from({ length: c.inputs + c.width - 1 }, (_, output) => weight(output));
}

/** @param {number} symbol the input, 0 <= symbol < inputs @returns {number} the report */
export function randomize(symbol, c, words) {
  const draw = below(total(c), words);
  const inside = c.width * c.near;
  if (draw < inside) return symbol + Math.floor(draw / c.near);
  const outside = Math.floor((draw - inside) / c.far);
  return outside < symbol ? outside : outside + c.width;
}

/**
 * The report that is kept for an input.
 * @param {function(number, function): Promise} drawn draws with the words of a number
 * @returns {Promise<number>}
 */
export const remember = (symbol, c, drawn) =>
  drawn(symbol, (words) => randomize(symbol, c, words));
