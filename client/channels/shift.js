/**
 * Shift channel: noise of -(inputs-1)..inputs-1 with the weights `noise` is added, and what leaves
 * the range stays at its border. Counterpart of analysis/channels/shift.py, with the sources.
 */
import { below, checkTotal, sum } from '../draw.js';
import { placeOf, worstRatio } from './one_symbol.js';

/** Each number that states it; the depth of lists of them. */
export const fields = { inputs: 0, noise: 1 };

/** @throws {RangeError} unless the weights form a channel */
export function check({ inputs, noise }) {
  if (inputs < 2 || noise.length !== 2 * inputs - 1) {
    throw new RangeError(
      `shift: noise must have 2 inputs - 1 weights, inputs at least 2, got ${noise.length}`,
    );
  }
  checkTotal('shift', sum(noise));
}

/** The largest ratio of the probabilities of one report under two inputs. @returns {bigint[]} */
export function ratio(c) {
  return worstRatio(Array.from({ length: c.inputs }, (_, symbol) => weights(symbol, c)));
}

/** The weight of each report for an input; all inputs have the same sum. @returns {number[]} */
export function weights(symbol, { inputs, noise }) {
  const last = inputs - 1;
  const row = noise.slice(last - symbol, 2 * last - symbol + 1);
  row[0] += Number(sum(noise.slice(0, last - symbol)));
  row[last] += Number(sum(noise.slice(2 * last - symbol + 1)));
  return row;
}

/** @param {number} symbol the input, 0 <= symbol < inputs @returns {number} the report */
export function randomize(symbol, { inputs, noise }, words) {
  const draw = below(Number(sum(noise)), words);
  const report = symbol + placeOf(draw, noise) - (inputs - 1);
  return Math.min(Math.max(report, 0), inputs - 1);
}
