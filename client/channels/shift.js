/** Shift channel: -(inputs-1)..inputs-1 is added by the weights `noise`, up to the borders. */
import { byWeight, range, sum, worstOf } from '../exact.js';

export const fields = { inputs: 0, noise: 1 };
export const isSound = (c) => c.noise.length === 2 * c.inputs - 1;
export const total = (c) => sum(c.noise);
export const ratio = (c) => worstOf(range(c.inputs).map((symbol) => weights(symbol, c)));

export function weights(symbol, { inputs, noise }) {
  const last = inputs - 1;
  const row = noise.slice(last - symbol, 2 * last - symbol + 1);
  row[0] += sum(noise.slice(0, last - symbol));
  row[last] += sum(noise.slice(2 * last - symbol + 1));
  return row;
}

export function randomize(symbol, { inputs, noise }, words) {
  const report = symbol + byWeight(noise, words) - (inputs - 1);
  return Math.min(Math.max(report, 0), inputs - 1);
}
