/**
 * Channels, the one random step; analysis/core/channels/ has the sources. Each has `fields` and
 * `isSound`, as encoders have; the `total` of its weights; the worst `ratio` of probabilities;
 * `weights`, if a report is one symbol; `placesOf` inputs, or bits, that a report speaks for;
 * `randomize`, to a report; `remember`, to what is kept, if it `canBeKept`.
 */
import {
  below, between, byWeight, larger, must, power, range, sum, worstOf,
} from './exact.js';

/** The `width` outputs from the input on have weight `near`, all others `far`. */
const window = {
  fields: { inputs: 0, width: 0, near: 0, far: 0 },
  total: (c) => c.width * c.near + (c.inputs - 1) * c.far,
  ratio: (c) => between(c.near, c.far),
  weights: (symbol, c) => range(c.inputs + c.width - 1).map((output) =>
    (symbol <= output && output < symbol + c.width ? c.near : c.far)),
  placesOf: (report, c) => range(c.width).map((back) => report - back)
    .filter((place) => place >= 0 && place < c.inputs).reverse(),
  randomize(symbol, c, words) {
    const draw = below(window.total(c), words);
    const inside = c.width * c.near;
    if (draw < inside) return symbol + Math.floor(draw / c.near);
    const outside = Math.floor((draw - inside) / c.far);
    return outside < symbol ? outside : outside + c.width;
  },
  canBeKept: ({ width, near, far }) => width === 1 && near >= far,
  remember: (symbol, c, drawn) => drawn(symbol, (words) => window.randomize(symbol, c, words)),
};

/** Draws `needed` of `count` items; each call says whether the next item is drawn. */
export const chooser = (needed, count, words) => () => {
  const isChosen = below(count, words) < needed;
  needed -= isChosen ? 1 : 0;
  count -= 1;
  return isChosen;
};

/** A set of `size` of `inputs` symbols, uniform among those with, or without, `symbol`. */
export const drawSet = (inputs, size, symbol, isMember, words) => {
  const isChosen = chooser(size - (isMember ? 1 : 0), inputs - 1, words);
  return range(inputs).filter((other) => (other === symbol ? isMember : isChosen()));
};

/** `size` symbols, the input among them by the weight `include` against `exclude`. */
const subset = {
  fields: { inputs: 0, size: 0, include: 0, exclude: 0 },
  isSound: (c) => c.size < c.inputs,
  total: (c) => c.include + c.exclude,
  ratio: (c) =>
    between(BigInt(c.include) * BigInt(c.inputs - c.size), BigInt(c.exclude) * BigInt(c.size)),
  placesOf: (report) => report,
  randomize(symbol, c, words) {
    const member = below(subset.total(c), words) < c.include;
    return drawSet(c.inputs, c.size, symbol, member, words);
  },
};

/** A drawn bit for each place: 1 with weight `one` of `total` for a 1, otherwise with `zero`. */
const flags = (isOne, c, words) =>
  range(c.inputs).map((place) => (below(c.total, words) < (isOne(place) ? c.one : c.zero) ? 1 : 0));

/** Each bit is drawn; an input is the places of its ones, rather than one symbol. */
const bits = {
  fields: { inputs: 0, one: 0, zero: 0, total: 0 },
  takesBits: true,
  isSound: (c) => c.zero <= c.one && c.one < c.total,
  total: (c) => c.total,
  /** For inputs that differ by [more, fewer] ones. */
  ratio: (c, apart) => apart.map(([more, fewer]) => [
    power(c.one, more) * power(c.total - c.zero, fewer),
    power(c.zero, more) * power(c.total - c.one, fewer),
  ]).reduce(larger),
  /** The report is base64url of the bits, the first in each byte's highest place. */
  randomize(symbol, c, words) {
    return bits.written(flags((place) => symbol.includes(place), c, words));
  },
  written(drawn) {
    const bytes = drawn.join('').match(/.{1,8}/g).map((byte) => parseInt(byte.padEnd(8, '0'), 2));
    const text = btoa(String.fromCharCode(...bytes));
    return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
  },
  /** The places of the ones in a report. */
  placesOf: (report) => [...atob(report.replaceAll('-', '+').replaceAll('_', '/'))]
    .flatMap((byte) => [...byte.charCodeAt(0).toString(2).padStart(8, '0')])
    .flatMap((bit, place) => (bit === '1' ? [place] : [])),
  canBeKept: () => true,
  /** Each place has a bit for a 1 and one for a 0: another input changes no bit that both have. */
  async remember(symbol, c, drawn) {
    const ones = await drawn(1, (words) => flags(() => true, c, words));
    const zeros = await drawn(0, (words) => flags(() => false, c, words));
    return range(c.inputs).filter((place) => (symbol.includes(place) ? ones : zeros)[place]);
  },
};

/** The inputs under which a report is likeliest. */
const likeliest = (report, c) => {
  const weights = range(c.inputs).map((symbol) => CHANNELS[c.name].weights(symbol, c)[report]);
  return range(c.inputs).filter((symbol) => weights[symbol] === Math.max(...weights));
};

/** Adds -(inputs-1)..inputs-1 by the weights `noise`, up to the borders. */
const shift = {
  fields: { inputs: 0, noise: 1 },
  isSound: (c) => c.noise.length === 2 * c.inputs - 1,
  total: (c) => sum(c.noise),
  ratio: (c) => worstOf(range(c.inputs).map((symbol) => shift.weights(symbol, c))),
  weights(symbol, { inputs, noise }) {
    const last = inputs - 1;
    const row = noise.slice(last - symbol, 2 * last - symbol + 1);
    row[0] += sum(noise.slice(0, last - symbol));
    row[last] += sum(noise.slice(2 * last - symbol + 1));
    return row;
  },
  placesOf: likeliest,
  randomize(symbol, { inputs, noise }, words) {
    const report = symbol + byWeight(noise, words) - (inputs - 1);
    return Math.min(Math.max(report, 0), inputs - 1);
  },
};

/** Any weights, a row for each input and a column for each report. */
const table = {
  fields: { inputs: 0, rows: 2 },
  isSound: (c) => c.rows.length === c.inputs &&
    c.rows.every((row) => row.length === c.rows[0].length && sum(row) === table.total(c)),
  total: (c) => sum(c.rows[0]),
  ratio: (c) => worstOf(c.rows),
  weights: (symbol, c) => c.rows[symbol],
  placesOf: likeliest,
  randomize: (symbol, c, words) => byWeight(c.rows[symbol], words),
};

/** The largest of fractions, divided by the least. */
export const spread = (fractions) => {
  const [high, low] = [fractions, fractions.map(([top, bottom]) => [bottom, top])]
    .map((some) => some.reduce(larger));
  return [high[0] * low[0], high[1] * low[1]];
};

/** Every channel of one answer by its name, with those of optional/. */
export const CHANNELS = { window, subset, bits, shift, table };
