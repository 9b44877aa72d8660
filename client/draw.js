/** Exact draws from a stream of uniform 32-bit words; the same as analysis/words.py. */

/** The number of values of a word. */
export const WORD = 2 ** 32;
/** The sum of whole numbers: exact up to 2^53, and above 2^53 if it is. */
export const sum = (numbers) => numbers.reduce((total, one) => total + one, 0);
/** The whole numbers from 0 to below a count. */
export const range = (count) => [...Array(count).keys()];

/** A uniform integer of 0..total-1: as many words stand for each, and others are drawn again. */
export function below(total, words) {
  const limit = WORD - (WORD % total);
  let word = words.next();
  while (word >= limit) word = words.next();
  return word % total;
}

/** A place in a list of weights, with a probability in proportion to its weight. */
export function byWeight(weights, words) {
  let left = below(sum(weights), words);
  return weights.findIndex((weight) => {
    left -= weight;
    return left < 0;
  });
}

/** 1 with exactly the probability top/bottom, of BigInts, else 0: compares digits of base 2^32. */
export function bernoulli(top, bottom, words) {
  for (let rest = top; rest > 0n; rest = (rest * BigInt(WORD)) % bottom) {
    const cut = (rest * BigInt(WORD)) / bottom;
    const word = BigInt(words.next());
    if (word !== cut) return word < cut ? 1 : 0;
  }
  return 0;
}
