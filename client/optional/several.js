/** Several options in one report: by a set that is likelier to hold them, or by a few of them. */
import { CHANNELS, chooser, spread } from '../channels.js';
import { areGroups, ENCODERS, flagsOf, ticked } from '../encoders.js';
import { byWeight, choose, chosenAt, range, sum, whole } from '../exact.js';

/** The bits of `multihot`, then `at_most` - 1 pads, of which as many are set as ticks are missing. */
const padded = {
  fields: ENCODERS.multihot.fields,
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

/** Some flags together, those of the cohort, as a number; if all, those of the options. */
const group = {
  fields: { parts: 0, picked: 0, inputs: 0 },
  cohorts: ({ parts, picked }) => Number(choose(parts, picked)),
  flags: ({ parts, picked }) => parts + Number(picked === parts),
  isSound: (e) => e.picked >= 2 && e.picked <= Math.min(e.parts, 8) &&
    areGroups(e, group.cohorts(e), 2 ** e.picked),
  // Pairs of a ranking are flags, too, of which no number is the most.
  fits: (e, { flags, most }, skips) =>
    most && group.flags(e) === flags && e.inputs === 2 ** e.picked + Number(skips),
  encode(value, e, cohort) {
    whole('cohort', cohort, group.cohorts(e));
    if (value === null && e.inputs > 2 ** e.picked) return e.inputs - 1;
    const flags = flagsOf(value, group.flags(e));
    return sum(chosenAt(cohort, e.parts, e.picked).map((part, place) => flags[part] * 2 ** place));
  },
};

/** `size` symbols, by the weights of how many of the input's ones are among them. */
const overlap = {
  fields: { inputs: 0, ones: 0, size: 0, weights: 1 },
  takesBits: true,
  least: ({ inputs, ones, size }) => Math.max(0, size + ones - inputs),
  isSound: (c) => c.inputs <= 1024 && c.ones < c.inputs && c.size < c.inputs &&
    c.weights.length === Math.min(c.size, c.ones) - overlap.least(c) + 1,
  total: (c) => sum(c.weights),
  ratio: (c) => spread(c.weights.map((weight, more) => {
    const hits = overlap.least(c) + more;
    return [BigInt(weight), choose(c.ones, hits) * choose(c.inputs - c.ones, c.size - hits)];
  })),
  placesOf: (report) => report,
  randomize(symbol, c, words) {
    const hits = overlap.least(c) + byWeight(c.weights, words);
    const isHit = chooser(hits, c.ones, words);
    const isOther = chooser(c.size - hits, c.inputs - c.ones, words);
    return range(c.inputs).filter((place) => (symbol.includes(place) ? isHit() : isOther()));
  },
};

Object.assign(ENCODERS, { padded, group });
Object.assign(CHANNELS, { overlap });
