/** What several waves tell together of a draw that is kept; analysis/waves.py has the proofs. */
import { CHANNELS } from './channels.js';
import { larger, power, range, sum, times } from './exact.js';

/** With more waves a search takes too long: of few, but over two, inputs; and of any. */
const [EXACT, SEARCHED] = [6, 12];

const product = (numbers) => numbers.reduce((all, one) => all * one, 1n);

/** All falling sequences of so many whole numbers, of at most `most`, with this sum. */
function partitions(length, whole, most = whole) {
  if (length === 0) return whole === 0 ? [[]] : [];
  return range(Math.min(whole, most) + 1).flatMap((first) =>
    partitions(length - 1, whole - first, first).map((rest) => [first, ...rest]));
}

/** All lists of whole numbers that are nowhere above these. */
const upTo = (limits) =>
  limits.reduce((all, n) => all.flatMap((one) => range(n + 1).map((next) => [...one, next])), [[]]);

/** The chance of an input's reports, by how many are which symbol, up to a constant factor. */
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

/** The largest ratios of a bit's reports, if 1 in `fewest`.. waves, to never; and of never. */
function gains(permanent, instant, waves, fewest) {
  const total = BigInt(permanent.total);
  /** The chance of these reports in waves that share a kept bit, up to a constant factor. */
  function chance(weight, ones, zeros) {
    const drawn = (one) => power(one, ones) * power(instant.total - one, zeros);
    return BigInt(weight) * drawn(instant.one) + (total - BigInt(weight)) * drawn(instant.zero);
  }
  const { one, zero } = permanent;
  const ratios = range(waves + 1).slice(fewest).map((size) =>
    upTo([size, waves - size]).map(([inside, outside]) => [
      chance(one, inside, size - inside) * chance(zero, outside, waves - size - outside),
      chance(zero, inside + outside, waves - inside - outside) * total,
    ]));
  const lowered = ratios.map((some) => some.map(([top, bottom]) => [bottom, top]));
  return [ratios, lowered].map((all) => all.map((some) => some.reduce(larger)));
}

/** The largest product of gains, of a size for each bit, that sum to at most `slots`. */
function packed(sizes, bits, slots) {
  const unlimited = bits >= slots;
  let best = Array(slots + 1).fill([1n, 1n]);
  for (let bit = 0; bit < (unlimited ? 1 : bits); bit += 1) {
    const next = [];
    for (const [used, kept] of best.entries()) {
      const before = unlimited ? next : best;
      const more = sizes.slice(1, used + 1).map((gain, n) => times(gain, before[used - n - 1]));
      next.push(more.reduce(larger, kept));
    }
    best = next;
  }
  return best[slots];
}

/** The most by which the chance of a last report can differ, whatever came before. */
function last(instant, apart, waves) {
  if (instant.name === 'window') return [BigInt(instant.near), BigInt(instant.far)];
  const touched = Math.min(instant.inputs, 2 * waves * Math.max(...apart.flat()));
  return CHANNELS.bits.ratio(instant, [[touched, 0], [0, touched]]);
}

/** A bound of how much the probability of so many reports can differ, whatever was answered. */
export function worstRatio(permanent, instant, apart, waves) {
  if (waves > SEARCHED) {
    return times(worstRatio(permanent, instant, apart, waves - 1), last(instant, apart, waves));
  }
  if (permanent.name === 'window') return worstWindow(permanent, instant, waves);
  if (waves < 2) return constantRatio(permanent, instant, apart, waves);
  const slots = waves * Math.max(...apart.flat());
  const both = gains(permanent, instant, waves, 0);
  return both.map((sizes) => packed(sizes, permanent.inputs, slots)).reduce(times);
}

/** The same, exactly, if the answer is the same in all waves. */
export function constantRatio(permanent, instant, apart, waves) {
  if (permanent.name === 'window') {
    return [0, 1].map((input) => chanceOfWindow(permanent, instant, input, [waves]));
  }
  const [[up], [down]] = gains(permanent, instant, waves, waves);
  const raised = (gain, count) => gain.map((part) => power(part, count));
  return apart.map(([more, fewer]) => times(raised(up, more), raised(down, fewer))).reduce(larger);
}
