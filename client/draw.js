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
