/** Questions that put items in order: their answers, and how these are encoded. */
import { areGroups, ENCODERS, flagsOf } from '../encoders.js';
import { choose, chosenAt, must, range, sum, whole } from '../exact.js';
import { idsOf, isSkipped, KINDS, mustAnswer } from '../kinds.js';

/** How many orders so many items have. */
const factorial = (n) => (n < 2 ? 1 : n * factorial(n - 1));
/** Each item with each later one. */
const pairs = (items) =>
  items.flatMap((one, place) => items.slice(place + 1).map((later) => [one, later]));

/** From an order, as a flag for each pair of items, to its place among all orders. */
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

/** From the order of some items, those of the cohort, to its place among all their orders. */
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

/** Several items, put in order: a flag for each pair, set if in that order; null for no answer. */
const rank = {
  values: ({ options }) => ({ items: options.length, flags: pairs(options).length }),
  /** From the ids of all items, in order, joined by '|'. */
  value(answer, question) {
    if (isSkipped(answer, question)) return null;
    const [ids, order] = [idsOf(question), answer.split('|')];
    mustAnswer([...order].sort().join('|') === [...ids].sort().join('|'), question);
    return pairs(ids.map((id) => order.indexOf(id))).map(([one, later]) => (one < later ? 1 : 0));
  },
  madeUp: (question) => [idsOf(question), idsOf(question).reverse()].map((ids) => ids.join('|')),
  control: 'ranking',
  written: (answer, nameOf) => answer.split('|').map((id, place) => `${place + 1}. ${nameOf(id)}`),
  complaint: (_, { required }) => (required ? 'question.rank-all' : 'question.rank-whole'),
};

Object.assign(ENCODERS, { order, suborder });
Object.assign(KINDS, { rank });
