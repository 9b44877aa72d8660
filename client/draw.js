/**
 * Exact draws from a stream of uniform 32-bit words; the same as analysis/words.py.
 * @typedef {{next: function(): number}} Words whole numbers of 0..2^32-1, uniform, independent
 */

/** The number of values of a word. */
export const WORD = 2 ** 32;

/**
 * A uniform integer of 0..total-1. A word at or above the largest multiple of total is drawn
 * again, so that each result has the same number of words behind it (no modulo bias).
 * @param {number} total 1 <= total <= 2^32
 * @param {Words} words
 * @returns {number}
 */
export function below(total, words) {
  const limit = WORD - (WORD % total);
  let word = words.next();
  while (word >= limit) word = words.next();
  return word % total;
}

/**
 * 1 with exactly the probability top/bottom, else 0: compares the binary expansion of the
 * fraction with random bits, a word at a time.
 * @param {bigint} top 0 <= top < bottom
 * @param {bigint} bottom
 * @param {Words} words
 * @returns {number}
 */
export function bernoulli(top, bottom, words) {
  let rest = top;
  while (rest > 0n) {
    rest *= BigInt(WORD);
    const cut = rest / bottom;
    rest %= bottom;
    const word = BigInt(words.next());
    if (word !== cut) return word < cut ? 1 : 0;
  }
  return 0;
}

/**
 * @param {number[]} weights whole numbers
 * @returns {bigint} their sum, exact even above 2^53
 */
export const sum = (weights) => weights.reduce((total, weight) => total + BigInt(weight), 0n);

/** @param {bigint[]} fraction [top, bottom] @returns {bigint[]} the same in lowest terms */
export function reduced([top, bottom]) {
  let [common, rest] = [top < 0n ? -top : top, bottom];
  while (rest) [common, rest] = [rest, common % rest];
  return common ? [top / common, bottom / common] : [top, bottom];
}

/**
 * @param {string} name of a channel
 * @param {bigint} total of its weights
 * @throws {RangeError} if one word cannot serve them
 */
export function checkTotal(name, total) {
  if (total > BigInt(WORD)) {
    throw new RangeError(`${name}: weights must sum to at most 2^32, got ${total}`);
  }
}
