/**
 * Encoders: the public step before a channel, from a value to one of its inputs. They protect
 * nothing. Counterpart of analysis/encoders/, which names the sources.
 */
import { bernoulli } from './draw.js';
import { isFraction, shown, whole } from './shown.js';
import { bloom, digest, prefix } from './texts.js';

/** More, and a ratio could have over 4,000 digits, the most that are read. */
const FURTHEST = 400;

const factorial = (n) => (n < 2 ? 1 : n * factorial(n - 1));

/** @returns {number[]} the value, if it is `count` flags @throws {RangeError} if not */
function flagsOf(value, count) {
  const known = (flag) => flag === 0 || flag === 1;
  if (Array.isArray(value) && value.length === count && value.every(known)) return value;
  throw new RangeError(`value must be ${count} flags of 0 or 1, got ${shown(value)}`);
}

const checkTwo = (name) => ({ inputs }) => {
  if (inputs < 2) throw new RangeError(`${name}: inputs must be at least 2, got ${inputs}`);
};

/** The value itself. */
const index = {
  fields: { inputs: 0 },
  check: checkTwo('index'),
  encode: (value, { inputs }) => whole('value', value, inputs),
};

/** A bit for each category, of which that of the value is 1. */
const onehot = {
  fields: { inputs: 0 },
  check: checkTwo('onehot'),
  apart: () => [[1, 1]],
  encode: (value, { inputs }) => [whole('value', value, inputs)],
};

function isPrime(number) {
  for (let part = 2; part * part <= number; part += 1) if (number % part === 0) return false;
  return number > 1;
}

/** The value's digits to the prime base `inputs`, times those of the cohort, summed modulo it. */
const hash = {
  fields: { values: 0, digits: 0, inputs: 0 },
  cohorts: ({ digits, inputs }) => Number(BigInt(inputs) ** BigInt(digits)),
  check(e) {
    if (e.values < 2) throw new RangeError(`hash: values must be at least 2, got ${e.values}`);
    if (e.inputs > 65536 || !isPrime(e.inputs)) {
      throw new RangeError(`hash: inputs must be a prime below 2^16, got ${e.inputs}`);
    }
    if (e.digits > 32 || hash.cohorts(e) < e.values || hash.cohorts(e) > 2 ** 32) {
      throw new RangeError(
        `hash: inputs to the power of digits must be from values to 2^32, got digits ${e.digits}`,
      );
    }
  },
  encode(value, e, cohort) {
    let left = whole('value', value, e.values);
    let factors = whole('cohort', cohort, hash.cohorts(e));
    let symbol = 0;
    for (let digit = 0; digit < e.digits; digit += 1) {
      symbol += (left % e.inputs) * (factors % e.inputs);
      left = Math.floor(left / e.inputs);
      factors = Math.floor(factors / e.inputs);
    }
    return symbol % e.inputs;
  },
};

/** Unbiased stochastic rounding; the value is a fraction [top, bottom] of 0..1, or null. */
const grid = {
  fields: { steps: 0, inputs: 0 },
  check(e) {
    if (e.steps >= e.inputs) {
      throw new RangeError(`grid: steps must be less than inputs, got ${e.steps}`);
    }
  },
  encode(value, e, cohort, words) {
    if (value === null && e.inputs > e.steps + 1) return e.inputs - 1;
    if (!isFraction(value) || value[0] < 0n || value[1] < 1n || value[0] > value[1]) {
      throw new RangeError(`value must be a fraction of 0..1, got ${shown(value)}`);
    }
    const [top, bottom] = value;
    const place = top * BigInt(e.steps);
    return Number(place / bottom) + bernoulli(place % bottom, bottom, words);
  },
};

/** A bit for each option, then one for "none of these", then, if there is one, for no-answer. */
const multihot = {
  fields: { options: 0, at_most: 0, inputs: 0 },
  check(e) {
    if (e.at_most > e.options) {
      throw new RangeError(`multihot: at_most must be at most options, got ${e.at_most}`);
    }
    const [more, fewer] = multihot.apart(e)[0];
    if (more + fewer > FURTHEST) {
      throw new RangeError(
        `multihot: values must differ in at most ${FURTHEST} bits, got ${more + fewer}`,
      );
    }
    if (e.inputs !== e.options + 1 && e.inputs !== e.options + 2) {
      throw new RangeError(
        `multihot: inputs must be one or two more than options, got ${e.inputs}`,
      );
    }
  },
  apart({ options, at_most: most }) {
    const other = Math.max(1, Math.min(most, options - most));
    return [[most, other], [other, most]];
  },
  encode(value, e) {
    if (value === null && e.inputs === e.options + 2) return [e.options + 1];
    const flags = flagsOf(value, e.options + 1);
    const places = [...flags.keys()].filter((place) => flags[place]);
    const alone = places.includes(e.options) ? 1 : e.at_most;
    if (places.length < 1 || places.length > alone) {
      throw new RangeError(
        `value must have 1 to ${e.at_most} flags set, or only that of "none", got ${shown(flags)}`,
      );
    }
    return places;
  },
};

/** One of the value's flags, that of the cohort: 0 if set, 1 if not, 2 for no-answer. */
const pick = {
  fields: { parts: 0, inputs: 0 },
  cohorts: ({ parts }) => parts,
  check({ inputs }) {
    if (inputs === 2 || inputs === 3) return;
    throw new RangeError(`pick: inputs must be 2 or 3, got ${inputs}`);
  },
  encode(value, e, cohort) {
    whole('cohort', cohort, e.parts);
    return value === null && e.inputs === 3 ? 2 : 1 - flagsOf(value, e.parts)[cohort];
  },
};

/** An order, told by a flag for each pair of items, to its place among all orders. */
const order = {
  fields: { items: 0, inputs: 0 },
  check({ items, inputs }) {
    if (items < 2 || items > 8) throw new RangeError(`order: items must be 2 to 8, got ${items}`);
    if (inputs === factorial(items) || inputs === factorial(items) + 1) return;
    throw new RangeError(`order: inputs must be as many as orders, or one more, got ${inputs}`);
  },
  encode(value, { items, inputs }) {
    if (value === null && inputs > factorial(items)) return inputs - 1;
    const left = [...flagsOf(value, (items * (items - 1)) / 2)];
    const before = Array(items).fill(0);
    let place = 0;
    for (let item = 0; item < items - 1; item += 1) {
      for (let later = item + 1; later < items; later += 1) {
        const first = left.shift() === 1;
        before[first ? later : item] += 1;
        if (!first) place += factorial(items - 1 - item);
      }
    }
    if (new Set(before).size < items) {
      throw new RangeError(`value must be the flags of an order, got ${shown(value)}`);
    }
    return place;
  },
};

/** Every encoder by its name on the wire. */
export const ENCODERS = {
  index, onehot, hash, grid, multihot, pick, order, digest, bloom, prefix,
};
