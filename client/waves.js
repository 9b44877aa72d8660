/** What several waves tell together of a draw that is kept; analysis/waves.py has the proofs. */
import { CHANNELS } from './channels.js';
import { fewestParts, larger, micro, power, range, sum, times } from './exact.js';

/** The largest number of ones that one of two inputs has and the other has not. */
const mostOnes = (apart = [[0, 0]]) => Math.max(...apart.flat());

/** The most by which the chance of a last report can differ, whatever came before. */
function last(instant, waves, apart) {
  const touched = Math.min(instant.inputs, 2 * waves * mostOnes(apart));
  return CHANNELS[instant.name].ratio(instant, [[touched, 0], [0, touched]]);
}

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

const constantWindow = (permanent, instant, waves) => [0, 1].map((input) =>
  chanceOfWindow(permanent, instant, input, [waves]));

/** The chance of reports that share one kept bit, by how many they are and how many are 1. */
function chancesOfBit(weight, permanent, instant, waves) {
  const [kept, total] = [BigInt(weight), BigInt(permanent.total)];
  return range(waves + 1).map((length) => range(length + 1).map((ones) => {
    const drawn = (one) => power(one, ones) * power(instant.total - one, length - ones);
    return kept * drawn(instant.one) + (total - kept) * drawn(instant.zero);
  }));
}

/** The largest ratios of a bit's reports, if 1 in `fewest`.. waves, to never; and of never. */
function gains(permanent, instant, waves, fewest) {
  const [one, zero] = [permanent.one, permanent.zero].map((weight) =>
    chancesOfBit(weight, permanent, instant, waves));
  const total = BigInt(permanent.total);
  const ratios = range(waves + 1).slice(fewest).map((size) =>
    upTo([size, waves - size]).map(([inside, outside]) => [
      one[size][inside] * zero[waves - size][outside], zero[waves][inside + outside] * total,
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
  const [one, zero] = [permanent.one, permanent.zero].map((weight) =>
    chancesOfBit(weight, permanent, instant, waves));
  const [aboutOne, aboutZero] = [one, zero].map((all) => all.map((some) => some.map(Number)));
  return (raised, lowered) => {
    const parts = (ones, zeros) =>
      [raised, lowered].map((size) => [ones[size], zeros[waves - size]]);
    const [about, exact] = [parts(aboutOne, aboutZero), parts(one, zero)];
    let [largest, near] = [0, []];
    /** Considers reports: how many are 1 where both histories have a 1, one has, and neither. */
    function consider(both, first, second, neither) {
      const ratio = (about[0][0][both + first] * about[0][1][second + neither]) /
        (about[1][0][both + second] * about[1][1][first + neither]);
      if (ratio < largest * NEAR) return;
      largest = Math.max(largest, ratio);
      near.push({ ratio, reports: [both, first, second, neither] });
    }
    for (let overlap = Math.max(0, raised + lowered - waves); overlap <= Math.min(raised, lowered);
      overlap += 1) {
      const [alone, other] = [raised - overlap, lowered - overlap];
      for (let a = 0; a <= overlap; a += 1) {
        for (let b = 0; b <= alone; b += 1) {
          for (let c = 0; c <= other; c += 1) {
            for (let d = 0; d <= waves - raised - other; d += 1) consider(a, b, c, d);
          }
        }
      }
    }
    near = near.filter(({ ratio }) => ratio >= largest * NEAR);
    const worst = near.map(({ reports: [a, b, c, d] }) => [
      exact[0][0][a + b] * exact[0][1][c + d], exact[1][0][a + c] * exact[1][1][b + d],
    ]).reduce(larger);
    return fewestParts(worst, TRILLION);
  };
}

/** The largest sum of gains of sizes that sum to at most `slots`. */
function packedSum(sizes, slots) {
  const best = [0];
  for (let used = 1; used <= slots; used += 1) {
    const sums = sizes.slice(1, used + 1).map((gain, n) => gain + best[used - n - 1]);
    best.push(Math.max(best[used - 1], ...sums));
  }
  return best[slots];
}

/** The largest sum of gains, of one for each bit, if sizes sum to from `waves` to `slots` each. */
function sharedSum(table, bits, slots) {
  const side = slots + 1;
  const waves = table.length - 1;
  let best = new Float64Array(side * side).fill(-Infinity);
  best[0] = 0;
  for (let bit = 0; bit < bits; bit += 1) {
    const withBit = best.slice();
    for (let raised = 0; raised <= waves; raised += 1) {
      for (let lowered = 0; lowered <= waves; lowered += 1) {
        const gain = table[raised][lowered];
        for (let x = raised; x < side; x += 1) {
          const [to, from] = [x * side, (x - raised) * side - lowered];
          for (let y = lowered; y < side; y += 1) {
            const sum = best[from + y] + gain;
            if (sum > withBit[to + y]) withBit[to + y] = sum;
          }
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
    return packedSum(sizes.map((raised) => gain(raised, 0)), slots) +
      packedSum(sizes.map((lowered) => gain(0, lowered)), slots);
  }
  const table = sizes.map((raised) => sizes.map((lowered) => gain(raised, lowered)));
  return sharedSum(table, permanent.inputs, slots);
}

/** What was computed before: the page asks for the same totals again and again. */
const known = new Map();

/**
 * Of each channel whose draws can be kept: how much the probability of so many reports can differ,
 * at `worst`, whatever was answered, and if the answer is `constant`; `total`, see above.
 */
const KEPT = {
  window: { worst: worstWindow, constant: constantWindow },
  bits: { worst: worstBits, constant: constantBits, total: worstTotal },
};

/** A bound of how much the probability of so many reports can differ, whatever was answered. */
function worstRatio(permanent, instant, waves, apart) {
  if (waves <= SEARCHED) return KEPT[permanent.name].worst(permanent, instant, waves, apart);
  const before = worstRatio(permanent, instant, waves - 1, apart);
  return times(before, last(instant, waves, apart));
}

/** The same, exactly, if the answer is the same in all waves. */
export const constantRatio = (permanent, instant, waves, apart) =>
  KEPT[permanent.name].constant(permanent, instant, waves, apart);

/** What so many reports cost together, in millionths of ε, whatever was answered in each. */
export function worstCost(permanent, instant, waves, apart, protocol) {
  const { total } = KEPT[permanent.name];
  const most = mostOnes(apart);
  const isShared = protocol > 1 && total && waves > 1 && most <= MOST_ONES;
  if (!isShared) return micro(worstRatio(permanent, instant, waves, apart));
  const key = JSON.stringify([permanent, instant, most, waves]);
  if (!known.has(key)) known.set(key, total(permanent, instant, waves, most));
  return Math.ceil(known.get(key) / (TRILLION / 1e6));
}
