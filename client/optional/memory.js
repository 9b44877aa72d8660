/** Memories: what waves reveal together of a kept draw; analysis/core/waves.py has the proofs. */
import { CHANNELS } from '../channels.js';
import { ENCODERS } from '../encoders.js';
import { fewestParts, larger, micro, must, power, range, sum, times } from '../exact.js';
import { memories, part, states } from '../randomizer.js';

/** The largest number of ones that one of two inputs has and the other has not. */
const mostOnes = (apart = [[0, 0]]) => Math.max(...apart.flat());

/** The most by which the chance of a last report can differ, whatever came before. */
function last(instant, waves, apart) {
  const touched = Math.min(instant.inputs, 2 * waves * mostOnes(apart));
  return CHANNELS[instant.name].ratio(instant, [[touched, 0], [0, touched]]);
}

/** With more waves a search takes too long: if inputs are few, but over two; and in any case. */
const [EXACT, SEARCHED] = [6, 12];

const product = (numbers) => numbers.reduce((all, one) => all * one, 1n);

/** All falling sequences of so many whole numbers, of at most `most`, with this sum. */
function partitions(length, whole, most = whole) {
  if (length === 0) return whole === 0 ? [[]] : [];
  return range(Math.min(whole, most) + 1).flatMap((first) =>
    partitions(length - 1, whole - first, first).map((rest) => [first, ...rest]));
}

/** All lists of whole numbers, none of which is above its limit. */
const upTo = (limits) =>
  limits.reduce((all, n) => range(n + 1).flatMap((k) => all.map((one) => one.concat(k))), [[]]);

/** The chance of an input's reports, by how many are each symbol, up to a constant factor. */
function chanceOfWindow(permanent, instant, input, counts) {
  const [near, far, inputs] = [permanent.near, permanent.far, permanent.inputs].map(BigInt);
  const chanceOf = (n) => power(instant.near, n) * power(instant.far, sum(counts) - n);
  return counts.reduce(
    (all, n, symbol) => all + (symbol === input ? near : far) * (chanceOf(n) - chanceOf(0)),
    (near + (inputs - 1n) * far) * chanceOf(0),
  );
}

function worstWindow(permanent, instant, waves) {
  const { inputs } = permanent;
  const chance = (input, counts) => chanceOfWindow(permanent, instant, input, counts);
  /** The least chance, over all ways to share the reports among the inputs from this one on. */
  function searched(counts, input = 0, known = new Map()) {
    if (input === inputs - 1) return chance(input, counts);
    const key = `${input}:${counts}`;
    if (!known.has(key)) {
      const found = upTo(counts).map((own) => {
        const rest = counts.map((n, symbol) => n - own[symbol]);
        return chance(input, own) * searched(rest, input + 1, known);
      });
      known.set(key, found.reduce((a, b) => (a < b ? a : b)));
    }
    return known.get(key);
  }
  /** At most that, and just that if there are more inputs than reports: none reports its own. */
  const relaxed = (counts) => product(range(waves).map((row) =>
    chance(-1, counts.filter((n) => n > row).map(() => 1))));
  const worst = (length, least) => partitions(length, waves)
    .filter((counts) => !counts[inputs])
    .map((counts) => [product(counts.map((n) => chance(0, [n]))), least(counts)]).reduce(larger);
  if (inputs <= waves && (inputs === 2 || waves <= EXACT)) return worst(inputs, searched);
  const bound = worst(waves, relaxed);
  if (inputs > waves) return bound;
  const longer = times(worstWindow(permanent, instant, waves - 1), last(instant));
  return larger(bound, longer) === bound ? longer : bound;
}

const constantWindow = (permanent, instant, waves) => [0, 1].map((input) =>
  chanceOfWindow(permanent, instant, input, [waves]));

/** The chances of reports that share the kept bit of a 1, and of a 0, by how many are 1. */
const chancesOfBit = (permanent, instant, waves) => [permanent.one, permanent.zero].map((weight) =>
  range(waves + 1).map((length) => range(length + 1).map((ones) => {
    const drawn = (one) => power(one, ones) * power(instant.total - one, length - ones);
    const rest = permanent.total - weight;
    return BigInt(weight) * drawn(instant.one) + BigInt(rest) * drawn(instant.zero);
  })));

/** Largest ratios of reports: a bit that is 1 in `fewest`.. waves to one never 1; and inverses. */
function gains(permanent, instant, waves, fewest) {
  const [one, zero] = chancesOfBit(permanent, instant, waves);
  const total = BigInt(permanent.total);
  const ratios = range(waves + 1).slice(fewest).map((size) =>
    upTo([size, waves - size]).map(([inside, outside]) => [
      one[size][inside] * zero[waves - size][outside], zero[waves][inside + outside] * total,
    ]));
  const lowered = ratios.map((some) => some.map(([top, bottom]) => [bottom, top]));
  return [ratios, lowered].map((all) => all.map((some) => some.reduce(larger)));
}

/** The largest product or sum of gains, a size for each bit; sizes sum to at most `slots`. */
function packed(sizes, bits, slots, [none, join, better] = [[1n, 1n], times, larger]) {
  const unlimited = bits >= slots;
  let best = Array(slots + 1).fill(none);
  for (let bit = 0; bit < (unlimited ? 1 : bits); bit += 1) {
    const next = [];
    for (const [used, kept] of best.entries()) {
      const before = unlimited ? next : best;
      const more = sizes.slice(1, used + 1).map((gain, n) => join(gain, before[used - n - 1]));
      next.push(more.reduce((a, b) => better(a, b), kept));
    }
    best = next;
  }
  return best[slots];
}

function worstBits(permanent, instant, waves, apart) {
  if (waves < 2) return constantBits(permanent, instant, waves, apart);
  const both = gains(permanent, instant, waves, 0);
  const slots = waves * mostOnes(apart);
  return both.map((sizes) => packed(sizes, permanent.inputs, slots)).reduce(times);
}

function constantBits(permanent, instant, waves, apart) {
  const [[up], [down]] = gains(permanent, instant, waves, waves);
  const raised = (gain, count) => gain.map((part) => power(part, count));
  return apart.map(([more, fewer]) => times(raised(up, more), raised(down, fewer))).reduce(larger);
}

/** Logarithms are rounded up to trillionths: whole numbers, whose sums are exact. */
const TRILLION = 1e12;
/** Inputs with more ones have too many sizes to go through. */
const MOST_ONES = 4;
/** Floats choose which reports are compared as fractions; their own error is below 1e-13. */
const NEAR = 1 - 1e-9;

/**
 * Gives ln of the worst ratio of one bit's reports under two histories, in trillionths, by the
 * number of waves in which it is 1 under the first and under the second, however these overlap.
 */
function gainOfBit(permanent, instant, waves) {
  const exact = chancesOfBit(permanent, instant, waves);
  const about = exact.map((all) => all.map((some) => some.map(Number)));
  return (raised, lowered) => {
    const [fewest, most] = [Math.max(0, raised + lowered - waves), Math.min(raised, lowered)];
    // How many reports are 1 where both histories have a 1, one has, and neither.
    const reports = range(most + 1).slice(fewest).flatMap((both) =>
      upTo([both, raised - both, lowered - both, waves - raised - lowered + both]));
    const parts = ([one, zero]) => ([both, first, second, neither]) => [
      one[raised][both + first], zero[waves - raised][second + neither],
      one[lowered][both + second], zero[waves - lowered][first + neither],
    ];
    const ratios = reports.map(parts(about)).map(([a, b, c, d]) => (a * b) / (c * d));
    const least = Math.max(...ratios) * NEAR;
    const near = reports.filter((_, n) => ratios[n] >= least).map(parts(exact));
    return fewestParts(near.map(([a, b, c, d]) => [a * b, c * d]).reduce(larger), TRILLION);
  };
}

/** The largest sum of gains, one for each bit, if sizes sum to `waves` to `slots` each. */
function sharedSum(table, bits, waves, slots) {
  const side = slots + 1;
  let best = new Float64Array(side * side).fill(-Infinity);
  best[0] = 0;
  for (let bit = 0; bit < bits; bit += 1) {
    const withBit = best.slice();
    for (const [raised, lowered, gain] of table) {
      for (let x = raised; x < side; x += 1) {
        const [to, from] = [x * side, (x - raised) * side - lowered];
        for (let y = lowered; y < side; y += 1) {
          const total = best[from + y] + gain;
          if (total > withBit[to + y]) withBit[to + y] = total;
        }
      }
    }
    best = withBit;
  }
  return best.filter((_, n) => n >= waves * side && n % side >= waves)
    .reduce((a, b) => Math.max(a, b));
}

/** A bound of ln of the worst ratio of reports of bits, in trillionths; for memories from 2 on. */
function worstTotal(permanent, instant, waves, most) {
  if (waves > SEARCHED) {
    const each = CHANNELS.bits.ratio(instant, [[1, 0], [0, 1]]);
    const touched = Math.min(permanent.inputs, 2 * most * waves);
    return worstTotal(permanent, instant, waves - 1, most) + touched * fewestParts(each, TRILLION);
  }
  const gain = gainOfBit(permanent, instant, waves);
  const [slots, sizes] = [most * waves, range(waves + 1)];
  if (permanent.inputs >= 2 * slots) {
    return sum([(n) => gain(n, 0), (n) => gain(0, n)].map((gainOf) =>
      packed(sizes.map(gainOf), permanent.inputs, slots, [0, (a, b) => a + b, Math.max])));
  }
  const table = upTo([waves, waves]).map((pair) => [...pair, gain(...pair)]);
  return sharedSum(table, permanent.inputs, waves, slots);
}

/** What was computed before: the page asks for the same totals again and again. */
const known = new Map();

/**
 * For each channel whose draws can be kept, how much the probability of so many reports can differ:
 * at `worst`, whatever was answered; if answers are `constant`; by `total`, a better bound.
 */
const KEPT = {
  window: { worst: worstWindow, constant: constantWindow },
  bits: { worst: worstBits, constant: constantBits, total: worstTotal },
};

/** A bound of how much the probability of so many reports can differ, whatever was answered. */
function worstRatio(permanent, instant, waves, apart) {
  if (waves <= SEARCHED) return KEPT[permanent.name].worst(permanent, instant, waves, apart);
  return times(worstRatio(permanent, instant, waves - 1, apart), last(instant, waves, apart));
}

/** What so many reports cost together, in millionths of ε, whatever was answered in each. */
function worstCost(permanent, instant, waves, apart, protocol) {
  const { total } = KEPT[permanent.name];
  const most = mostOnes(apart);
  const isShared = protocol > 1 && total && waves > 1 && most <= MOST_ONES;
  if (!isShared) return micro(worstRatio(permanent, instant, waves, apart));
  const key = JSON.stringify([permanent, instant, most, waves]);
  if (!known.has(key)) known.set(key, total(permanent, instant, waves, most));
  return Math.ceil(known.get(key) / (TRILLION / 1e6));
}

/** Checks that a channel can be kept, and what one report and any number of them reveal. */
function verify(randomizer) {
  const { encoder, channel, permanent } = randomizer;
  const { ratio } = part('permanent', CHANNELS, permanent);
  const areAlike = permanent.name === channel.name && permanent.inputs === channel.inputs;
  const follows = areAlike &&
    [permanent, channel].every((data) => CHANNELS[data.name].canBeKept?.(data));
  must(follows, 'permanent must be as channel: bits, or a window of width 1', permanent);
  const apart = ENCODERS[encoder.name].apart?.(encoder);
  states(randomizer, 'ratio', KEPT[permanent.name].constant(permanent, channel, 1, apart));
  states(randomizer, 'forever', ratio(permanent, apart));
}

/** What so many reports cost, in millionths of ε; `isStable` if answers never change. */
function cost({ encoder, permanent, channel }, reports, isStable, protocol) {
  const apart = ENCODERS[encoder.name].apart?.(encoder);
  if (!isStable) return worstCost(permanent, channel, reports, apart, protocol);
  return micro(KEPT[permanent.name].constant(permanent, channel, reports, apart));
}

Object.assign(memories, { verify, cost });
