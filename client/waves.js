/**
 * What several waves tell together, if the device keeps its permanent draws and adds fresh noise.
 * Counterpart of analysis/waves.py, which has sources and proofs. A ratio is [top, bottom].
 */

/** With more waves than this the exact search of few, but over two, inputs takes too long. */
const EXACT = 6;
/** With more than this any search does. */
const SEARCHED = 12;

const times = ([a, b], [c, d]) => [a * c, b * d];
const larger = (a, b) => (a[0] * b[1] >= b[0] * a[1] ? a : b);
const product = (numbers) => numbers.reduce((all, one) => all * one, 1n);
const range = (length) => Array.from({ length }, (_, index) => index);

/** All falling sequences of at most `parts` numbers of 1..most with this sum. */
function partitions(whole, most, parts) {
  if (whole === 0) return [[]];
  const firsts = range(parts ? Math.min(whole, most) : 0).map((index) => index + 1);
  return firsts.flatMap((first) =>
    partitions(whole - first, first, parts - 1).map((rest) => [first, ...rest]),
  );
}

/** All lists of whole numbers that are nowhere above these. */
const upTo = (limits) =>
  limits.reduce((all, n) => all.flatMap((one) => range(n + 1).map((next) => [...one, next])), [[]]);

function worstWindow(permanent, instant, waves) {
  const g = permanent.inputs;
  const [near, far] = [BigInt(permanent.near), BigInt(permanent.far)];
  const [high, low] = [BigInt(instant.near), BigInt(instant.far)];
  const total = near + BigInt(g - 1) * far;

  /** The chance of an input's reports, by how many are which symbol, up to a constant factor. */
  function chance(input, counts) {
    const reports = counts.reduce((all, n) => all + BigInt(n), 0n);
    const none = low ** reports;
    return counts.reduce((all, n, symbol) => {
      const rise = high ** BigInt(n) * low ** (reports - BigInt(n)) - none;
      return all + (symbol === input ? near : far) * rise;
    }, total * none);
  }

  /** At most the least chance of such reports, and just that if there are more inputs than them. */
  const relaxed = (counts) =>
    product(range(waves).map((row) => {
      const columns = counts.filter((n) => n > row).length;
      return total * low + far * (high - low) * BigInt(columns);
    }));

  /** The least chance, over all ways to share the reports among the inputs from this one on. */
  function searched(counts, input = 0, known = new Map()) {
    if (input === g - 1) return chance(input, counts);
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

  const worst = (length, least) =>
    partitions(waves, waves, g)
      .map((some) => [...some, ...Array(length - some.length).fill(0)])
      .map((counts) => [product(counts.map((n) => chance(0, [n]))), least(counts)])
      .reduce(larger);

  if (g <= waves && (g === 2 || waves <= EXACT)) return worst(g, (counts) => searched(counts));
  const bound = worst(waves, relaxed);
  if (g > waves) return bound;
  const longer = times(worstWindow(permanent, instant, waves - 1), [high, low]);
  return larger(bound, longer) === bound ? longer : bound;
}

function constantWindow(permanent, instant, waves) {
  const [near, far, g] = [permanent.near, permanent.far, permanent.inputs].map(BigInt);
  const [high, low] = [instant.near, instant.far].map((one) => BigInt(one) ** BigInt(waves));
  const rest = (g - 2n) * far * low;
  return [near * high + far * low + rest, far * high + near * low + rest];
}

/** The largest ratios of a bit's reports, if 1 in `fewest`.. waves, to never; and of never. */
function gains(permanent, instant, waves, fewest = 0) {
  const [one, zero, total] = [permanent.one, permanent.zero, permanent.total].map(BigInt);

  /** The chance of these reports in waves that share a kept bit, up to a constant factor. */
  function chance(kept, ones, zeros) {
    const drawn = (weight) => BigInt(weight) ** BigInt(ones) *
      BigInt(instant.total - weight) ** BigInt(zeros);
    return kept * drawn(instant.one) + (total - kept) * drawn(instant.zero);
  }

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
    best.forEach((kept, used) => {
      const before = unlimited ? next : best;
      const longer = sizes.slice(1, used + 1);
      const more = longer.map((gain, index) => times(gain, before[used - index - 1]));
      next.push(more.reduce(larger, kept));
    });
    best = next;
  }
  return best[slots];
}

function worstBits(permanent, instant, waves, apart) {
  if (waves < 2) return constantBits(permanent, instant, waves, apart);
  const slots = waves * Math.max(...apart.flat());
  const [up, down] = gains(permanent, instant, waves);
  return times(packed(up, permanent.inputs, slots), packed(down, permanent.inputs, slots));
}

function constantBits(permanent, instant, waves, apart) {
  const ends = gains(permanent, instant, waves, waves).map(([all]) => all);
  const power = (gain, n) => gain.map((one) => one ** BigInt(n));
  return apart
    .map(([more, fewer]) => times(power(ends[0], more), power(ends[1], fewer)))
    .reduce(larger);
}

/** The most by which the chance of a last report can differ, whatever came before. */
function last(instant, apart, waves) {
  if (instant.name === 'window') return [BigInt(instant.near), BigInt(instant.far)];
  const [one, zero, total] = [instant.one, instant.zero, instant.total].map(BigInt);
  const touched = BigInt(Math.min(instant.inputs, 2 * waves * Math.max(...apart.flat())));
  return larger([one, zero], [total - zero, total - one]).map((part) => part ** touched);
}

const WORST = { window: worstWindow, bits: worstBits };
const CONSTANT = { window: constantWindow, bits: constantBits };

/**
 * By how much the probability of so many reports can differ, whatever was answered in each wave.
 * @param {object} permanent channel whose draws the device keeps: a window of width 1, or bits
 * @param {object} instant channel, of the same kind, that then draws anew in each wave
 * @param {number[][]} apart in how many ones two inputs can differ, [more, fewer], for bits
 * @param {number} waves at least 0
 * @returns {bigint[]} at least the worst ratio
 */
export function worstRatio(permanent, instant, apart, waves) {
  const searched = Math.min(waves, SEARCHED);
  const more = range(waves).slice(searched).map((before) => last(instant, apart, before + 1));
  return more.reduce(times, WORST[permanent.name](permanent, instant, searched, apart));
}

/** As `worstRatio`, exactly, if the answer is the same in all waves. @returns {bigint[]} */
export const constantRatio = (permanent, instant, apart, waves) =>
  CONSTANT[permanent.name](permanent, instant, waves, apart);
