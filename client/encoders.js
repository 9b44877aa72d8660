/**
 * Encoders: the public step before a channel, from a value to one of its inputs. Those that go into
 * a `pattern` have `parts`, how many symbols each has; `states`, these; `joined`, their report.
 */
import { CHANNELS } from './channels.js';
import { must, range, sum, whole } from './exact.js';

/** For a number of 2 to 2^16. */
const isPrime = (n) => range(256).every((part) => part < 2 || part >= n || n % part > 0);
/** A value, if it is `count` flags. @throws {RangeError} */
export function flagsOf(value, count) {
  const areFlags = Array.isArray(value) && value.every((flag) => flag === 0 || flag === 1);
  must(areFlags && value.length === count, `value must be ${count} flags of 0 or 1`, value);
  return value;
}

/** The value itself. */
const index = {
  fields: { inputs: 0 },
  namesValue: true,
  fits: ({ inputs }, { places }) => inputs === places,
  encode: (value, e) => whole('value', value, e.inputs),
  parts: (e) => [e.inputs],
  states: (value, e) => [index.encode(value, e)],
  joined: ([set]) => set,
};

/** A bit for each category; that of the value is 1. */
const onehot = {
  fields: { inputs: 0 },
  namesValue: true,
  fits: index.fits,
  apart: () => [[1, 1]],
  encode: (value, e) => [whole('value', value, e.inputs)],
};

/** The value's digits to the prime base `inputs`, times those of the cohort, summed modulo it. */
const hash = {
  fields: { values: 0, digits: 0, inputs: 0 },
  cohorts: ({ digits, inputs }) => Number(BigInt(inputs) ** BigInt(digits)),
  isSound: (e) => e.values >= 2 && e.inputs <= 65536 && isPrime(e.inputs) && e.digits <= 32 &&
    hash.cohorts(e) >= e.values && hash.cohorts(e) <= 2 ** 32,
  fits: ({ values }, { places }) => values === places,
  encode(value, e, cohort) {
    const digit = (number, place) => Math.floor(number / e.inputs ** place) % e.inputs;
    whole('value', value, e.values);
    whole('cohort', cohort, hash.cohorts(e));
    const products = range(e.digits).map((place) => digit(value, place) * digit(cohort, place));
    return sum(products) % e.inputs;
  },
};

/** The places of ticked options: 1 to `most`, or the last place alone, "none of these". */
export function ticked(value, options, most) {
  const flags = flagsOf(value, options + 1);
  const places = range(flags.length).filter((place) => flags[place]);
  const fits = places.length >= 1 && places.length <= (places.includes(options) ? 1 : most);
  must(fits, `value must have 1 to ${most} flags, or that of "none"`, flags);
  return places;
}

/** A bit for each option, then one for "none of these", then, if there is one, for no-answer. */
const multihot = {
  fields: { options: 0, at_most: 0, inputs: 0 },
  namesValue: true,
  // With more bits apart, a ratio could exceed the 4,000 digits that are read.
  isSound: (e) => e.at_most <= e.options && [1, 2].includes(e.inputs - e.options) &&
    sum(multihot.apart(e)[0]) <= 400,
  fits: (e, { flags, most }, skips) =>
    e.at_most === most && e.options + 1 === flags && e.inputs === flags + Number(skips),
  apart({ options, at_most: most }) {
    const other = Math.max(1, Math.min(most, options - most));
    return [[most, other], [other, most]];
  },
  encode: (value, e) => (value === null && e.inputs === e.options + 2
    ? [e.options + 1] : ticked(value, e.options, e.at_most)),
  parts: (e) => range(e.inputs).map(() => 2),
  states: (value, e) => range(e.inputs).map((place) => Number(multihot.encode(value, e).includes(place))),
  joined: (sets) => CHANNELS.bits.written(sets.flat()),
};

/** One of the value's flags, that of the cohort: 0 if set, 1 if not, 2 for no-answer. */
const pick = {
  fields: { parts: 0, inputs: 0 },
  cohorts: ({ parts }) => parts,
  isSound: ({ inputs }) => inputs <= 3,
  fits: ({ parts, inputs }, { flags }, skips) => parts === flags && inputs === 2 + Number(skips),
  encode(value, e, cohort) {
    whole('cohort', cohort, e.parts);
    return value === null && e.inputs === 3 ? 2 : 1 - flagsOf(value, e.parts)[cohort];
  },
};

/**
 * Every encoder by its name, with those of optional/; analysis/core/encoders/ has the sources.
 * Each has `fields`, its numbers and the depth of lists of them; `isSound`, if they make sense;
 * `fits`, whether it maps all values of a kind (kinds.js), and nothing else, to its inputs;
 * `namesValue`, if the place of an input, or bit, is that of its value; `isNumber`, if inputs are
 * in its order; `cohorts`, how many, if reports name one; `apart`, for bits: by how many ones two
 * inputs can differ, [more, fewer]; `ones`, if all have as many; `isHashed`, if it hashes texts.
 */
export const ENCODERS = { index, onehot, hash, multihot, pick };

/** Whether an encoder of some parts of a whole has not too many cohorts and inputs. */
export const areGroups = (e, cohorts, patterns) =>
  [0, 1].includes(e.inputs - patterns) && cohorts * e.inputs <= 2 ** 18;
