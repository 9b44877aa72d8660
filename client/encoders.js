/**
 * Encoders: the public step before a channel, from a value to one of its inputs. They protect
 * nothing. Counterpart of analysis/encoders.py.
 */
import { bernoulli } from './draw.js';

const index = {
  fields: ['inputs'],
  check(e) {
    if (e.inputs < 2) throw new RangeError('index: inputs must be at least 2');
  },
  encode: (value) => value,
};

/** Unbiased stochastic rounding; the value is a fraction [top, bottom] of 0..1, or null. */
const grid = {
  fields: ['steps', 'inputs'],
  check(e) {
    if (e.steps < 1 || e.steps >= e.inputs) {
      throw new RangeError('grid: steps must be in 1..inputs-1');
    }
  },
  encode(value, e, words) {
    if (value === null) return e.inputs - 1;
    const [top, bottom] = value;
    const place = top * BigInt(e.steps);
    return Number(place / bottom) + bernoulli(place % bottom, bottom, words);
  },
};

/** Every encoder by its name on the wire. */
export const ENCODERS = { index, grid };
