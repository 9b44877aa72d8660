/**
 * Encoders: the public step before a channel, from a value to one of its inputs. Of those that go
 * into a `pattern`: `parts`, how many symbols each has; `states`, these; `joined`, their report.
 */
import { CHANNELS } from './channels.js';
import { bernoulli, choose, chosenAt, must, range, sum, whole } from './exact.js';
import { asFour, bytesOf, sha256, wordsIn } from './hashes.js';

/** Of a number of 2 to 2^16. */
const isPrime = (n) => range(256).every((part) => part < 2 || part >= n || n % part > 0);
/** How many orders so many items have. */
const factorial = (n) => (n < 2 ? 1 : n * factorial(n - 1));
/** Each item with each later one. */
export const pairs = (items) =>
  items.flatMap((one, place) => items.slice(place + 1).map((later) => [one, later]));

/** A value, if it is so many flags. @throws {RangeError} */
function flagsOf(value, count) {
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

/** A bit for each category, of which that of the value is 1. */
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

/** Unbiased stochastic rounding; the value is a fraction [top, bottom] of 0..1, or null. */
const grid = {
  fields: { steps: 0, inputs: 0 },
  isSound: ({ steps, inputs }) => steps < inputs,
  fits: ({ steps, inputs }, { isFraction }, skips) => isFraction && inputs > steps + 1 === skips,
  encode(value, { steps, inputs }, cohort, words) {
    if (value === null && inputs > steps + 1) return inputs - 1;
    const [top, bottom] = Array.isArray(value) ? value : [];
    const isFraction = typeof top === 'bigint' && typeof bottom === 'bigint' && bottom > 0n;
    must(isFraction && top >= 0n && top <= bottom, 'value must be a fraction of 0..1', value);
    const place = top * BigInt(steps);
    return Number(place / bottom) + bernoulli(place % bottom, bottom, words);
  },
};

/** The places of what is ticked of so many options: some, at most, or the last, "none of these". */
function ticked(value, options, most) {
  const flags = flagsOf(value, options + 1);
  const places = range(flags.length).filter((place) => flags[place]);
  const fits = places.length >= 1 && places.length <= (places.includes(options) ? 1 : most);
  must(fits, `value must have 1 to ${most} flags, or that of "none"`, flags);
  return places;
}

/** A bit for each option, then one for "none of these", then, if there is one, for no-answer. */
const multihot = {
  fields: { options: 0, at_most: 0, inputs: 0 },
  // More bits apart, and a ratio could have over 4,000 digits, the most that are read.
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

/** The same, then `at_most` - 1 pads, of which as many are set as ticks are missing. */
const padded = {
  fields: multihot.fields,
  skips: (e) => e.inputs - e.options - e.at_most,
  isSound: (e) => e.at_most <= e.options && [0, 1].includes(padded.skips(e)),
  fits: (e, { flags, most }, skips) =>
    e.at_most === most && e.options + 1 === flags && padded.skips(e) === Number(skips),
  ones: (e) => e.at_most,
  apart: ({ at_most: most }) => [[most, most]],
  encode(value, e) {
    const places = value === null && padded.skips(e)
      ? [e.options + 1] : ticked(value, e.options, e.at_most);
    const pad = (place) => e.options + 1 + padded.skips(e) + place;
    return [...places, ...range(e.at_most - places.length).map(pad)];
  },
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

/** An order, told by a flag for each pair of items, to its place among all orders. */
const order = {
  fields: { items: 0, inputs: 0 },
  isSound: (e) => e.items >= 2 && e.items <= 8 && [0, 1].includes(e.inputs - factorial(e.items)),
  fits: (e, { items }, skips) => e.items === items && e.inputs === factorial(items) + Number(skips),
  encode(value, { items, inputs }) {
    if (value === null && inputs > factorial(items)) return inputs - 1;
    const all = pairs(range(items));
    const flags = flagsOf(value, all.length);
    const losers = all.map(([one, later], place) => (flags[place] ? later : one));
    const before = range(items).map((item) => losers.filter((one) => one === item).length);
    must(new Set(before).size === items, 'value must be the flags of an order', value);
    return sum(all.map(([one], place) => (flags[place] ? 0 : factorial(items - 1 - one))));
  },
};

const areGroups = (e, cohorts, patterns) =>
  [0, 1].includes(e.inputs - patterns) && cohorts * e.inputs <= 2 ** 18;

/** Some flags together, those of the cohort, as a number; if all are, they are the options'. */
const group = {
  fields: { parts: 0, picked: 0, inputs: 0 },
  cohorts: ({ parts, picked }) => Number(choose(parts, picked)),
  flags: ({ parts, picked }) => parts + Number(picked === parts),
  isSound: (e) => e.picked >= 2 && e.picked <= Math.min(e.parts, 8) &&
    areGroups(e, group.cohorts(e), 2 ** e.picked),
  fits: (e, { flags }, skips) =>
    group.flags(e) === flags && e.inputs === 2 ** e.picked + Number(skips),
  encode(value, e, cohort) {
    whole('cohort', cohort, group.cohorts(e));
    if (value === null && e.inputs > 2 ** e.picked) return e.inputs - 1;
    const flags = flagsOf(value, group.flags(e));
    return sum(chosenAt(cohort, e.parts, e.picked).map((part, place) => flags[part] * 2 ** place));
  },
};

/** The order of some items, those of the cohort, to its place among all their orders. */
const suborder = {
  fields: { items: 0, picked: 0, inputs: 0 },
  cohorts: ({ items, picked }) => Number(choose(items, picked)),
  isSound: (e) => e.picked >= 3 && e.picked <= Math.min(e.items - 1, 5) &&
    areGroups(e, suborder.cohorts(e), factorial(e.picked)),
  fits: (e, { items }, skips) =>
    e.items === items && e.inputs === factorial(e.picked) + Number(skips),
  encode(value, { items, picked, inputs }, cohort) {
    whole('cohort', cohort, suborder.cohorts({ items, picked }));
    const all = pairs(range(items));
    const chosen = chosenAt(cohort, items, picked);
    const own = value && flagsOf(value, all.length)
      .filter((_, place) => all[place].every((item) => chosen.includes(item)));
    return order.encode(own, { items: picked, inputs });
  },
};

const [NOTHING, WHOLE, BEGINNING] = [0, 1, 2];

/** Public words of nothing, a whole text or the beginning of one; eight come from one SHA-256. */
export const textWords = (what, text, start, count) =>
  Promise.all(range(count).map(async (more) => {
    const block = asFour(Math.floor((start + more) / 8));
    const message = [...bytesOf('deniable-text-1'), what, ...block, ...bytesOf(text)];
    return wordsIn(await sha256(message))[(start + more) % 8];
  }));

/** The words of an answer, or of so many letters of it. */
function wordsOf(value, start, count, length = Infinity) {
  if (value === null) return textWords(NOTHING, '', start, count);
  must(typeof value === 'string', 'value must be a text', value);
  const letters = [...value];
  if (letters.length <= length) return textWords(WHOLE, value, start, count);
  return textWords(BEGINNING, letters.slice(0, length).join(''), start, count);
}

/** Whether symbols, and the words of a text that cohorts and hashes call for, are not too many. */
const areFew = (inputs, words) => inputs <= 65536 && words <= 2 ** 20;

/** A hash of the text's beginning, whose length its cohort says; of all of it, if no longer. */
const prefix = {
  fields: { functions: 0, lengths: 1, inputs: 0 },
  cohorts: ({ functions, lengths }) => functions * lengths.length,
  isSound: (e) => areFew(e.inputs, prefix.cohorts(e)) &&
    e.lengths.every((length, place) => place === 0 || length > e.lengths[place - 1]),
  fits: ({ lengths }, { longest, candidates }) => !candidates && lengths.at(-1) >= longest,
  async encode(value, e, cohort) {
    const place = Math.floor(whole('cohort', cohort, prefix.cohorts(e)) / e.functions);
    const [word] = await wordsOf(value, cohort, 1, e.lengths[place]);
    return word % e.inputs;
  },
};

/** The text's word of that number, the cohort, modulo `inputs`. */
const digest = {
  fields: { functions: 0, inputs: 0 },
  cohorts: ({ functions }) => functions,
  isSound: (e) => areFew(e.inputs, e.functions),
  fits: (_, { candidates }) => Boolean(candidates),
  encode: (value, e, cohort) => prefix.encode(value, { ...e, lengths: [Infinity] }, cohort),
};

/** A bit for each of `hashes` words of the text, those of its cohort, modulo `inputs`. */
const bloom = {
  fields: { functions: 0, hashes: 0, inputs: 0 },
  cohorts: ({ functions }) => functions,
  keepsCohort: true,
  fits: digest.fits,
  apart: ({ hashes }) => [[hashes, hashes]],
  isSound: ({ functions, hashes, inputs }) =>
    areFew(inputs, functions * hashes) && hashes <= Math.min(16, inputs / 2),
  async encode(value, e, cohort) {
    const words = await wordsOf(value, whole('cohort', cohort, e.functions) * e.hashes, e.hashes);
    return [...new Set(words.map((word) => word % e.inputs))].sort((a, b) => a - b);
  },
};

/** Those that hash texts. */
export const TEXTS = { digest, bloom, prefix };

/**
 * Every encoder by its name; analysis/core/encoders/ has the sources. Of each: `fields`, its numbers and
 * the depth of lists of them; `isSound`, whether they make sense; `fits`, whether it maps all the
 * values that a kind describes (kinds.js), and nothing else, to its inputs; `namesValue`, if the
 * place of an input is that of its value; `cohorts`, how many, if reports name one; `apart`, if it
 * gives bits: in how many ones two inputs can differ, [more, fewer]; `ones`, if all have as many.
 */
export const ENCODERS = {
  ...{ index, onehot, hash, grid, multihot, padded, pick, group, order, suborder }, ...TEXTS,
};
