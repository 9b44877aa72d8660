/** Refusals; draws from uniform 32-bit words, and fractions [top, bottom] of BigInts, all exact. */

/** A value as a message shows it: the beginning of its JSON. */
const shown = (value) =>
  JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? `${one}` : one))?.slice(0, 80);

/** @throws {RangeError} with what was expected, unless a condition holds */
export function must(holds, expected, ...got) {
  if (!holds) throw new RangeError([expected, ...got.map(shown)].join(', got '));
}

/** A number, if it is a whole one of 0..count-1. @throws {RangeError} */
export function whole(name, number, count) {
  const isOne = Number.isInteger(number) && number >= 0 && number < count;
  must(isOne, `${name} must be a whole number of 0..${count - 1}`, number);
  return number;
}

/** The number of values of a word. */
export const WORD = 2 ** 32;
/** The sum of whole numbers, exact up to 2^53; what is larger comes out larger. */
export const sum = (numbers) => numbers.reduce((total, one) => total + one, 0);
/** The whole numbers from 0 to below a count. */
export const range = (count) => [...Array(count).keys()];

/**
 * A uniform integer of 0..total-1: equally many words stand for each; others are drawn again. A
 * total above 2^32 takes two words, of which the first counts 2^32 times.
 */
export function below(total, words) {
  if (total > WORD) return wide(BigInt(total), words);
  const limit = WORD - (WORD % total);
  let word = words.next();
  while (word >= limit) word = words.next();
  return word % total;
}

function wide(total, words) {
  const limit = 2n ** 64n - (2n ** 64n % total);
  const two = () => BigInt(words.next()) * BigInt(WORD) + BigInt(words.next());
  let drawn = two();
  while (drawn >= limit) drawn = two();
  return Number(drawn % total);
}

/** A place in a list of weights, with a probability in proportion to its weight. */
export function byWeight(weights, words) {
  let left = below(sum(weights), words);
  return weights.findIndex((weight) => {
    left -= weight;
    return left < 0;
  });
}

/** 1 with exactly the probability top/bottom, of BigInts, or 0: compares digits of base 2^32. */
export function bernoulli(top, bottom, words) {
  for (let rest = top; rest > 0n; rest = (rest * BigInt(WORD)) % bottom) {
    const cut = (rest * BigInt(WORD)) / bottom;
    const word = BigInt(words.next());
    if (word !== cut) return word < cut ? 1 : 0;
  }
  return 0;
}

const SCALE = 2n ** 128n;

export const power = (base, exponent) => BigInt(base) ** BigInt(exponent);
export const times = ([a, b], [c, d]) => [a * c, b * d];
/** The larger of two fractions; of equals the first. */
export const larger = (a, b) => (a[0] * b[1] >= b[0] * a[1] ? a : b);
/** By what factor two numbers differ, whichever is larger. */
export const between = (a, b) => (a > b ? [BigInt(a), BigInt(b)] : [BigInt(b), BigInt(a)]);
/** The largest ratio within a column of rows of weights. */
export const worstOf = (rows) => rows[0].map((_, place) => {
  const column = rows.map((row) => row[place]);
  return between(...[Math.max, Math.min].map((end) => column.reduce((a, b) => end(a, b))));
}).reduce(larger);
/** A fraction of any length as a number, to within 2^-128. */
export const asNumber = ([top, bottom]) => Number((top * SCALE) / bottom) / 2 ** 128;

/** ln of a fraction of at least 1, however large. */
export function ln([top, bottom]) {
  const more = BigInt(Math.max(0, top.toString(2).length - bottom.toString(2).length));
  return Math.log1p(asNumber([top - (bottom << more), bottom << more])) + Number(more) * Math.LN2;
}

/** A number at most e^(count / parts), times 2^128: each term of the series is rounded down. */
function expLower(count, parts) {
  let [term, total] = [SCALE, SCALE];
  for (let index = 1n; term > 0n; index += 1n) {
    term = (term * count) / (parts * index);
    total += term;
  }
  return total;
}

/** The fewest whole numbers of 1/parts that prove a ratio to be at most e^(number/parts). */
export function fewestParts([top, bottom], parts) {
  let guess = BigInt(Math.max(0, Math.ceil(ln([top, bottom]) * parts) - 2));
  while (top * SCALE > bottom * expLower(guess, BigInt(parts))) guess += 1n;
  return Number(guess);
}

/** What a report of this worst ratio costs: the fewest whole millionths of ε that prove it. */
export const micro = (ratio) => fewestParts(ratio, 1_000_000);

/** The whole millionths in a number, rounded down exactly: floats are compared, not multiplied. */
export function millionths(number) {
  const nearest = Math.round(number * 1e6);
  return nearest / 1e6 <= number ? nearest : nearest - 1;
}

/** The binomial coefficient: how many sets of `size` of `count` things there are. */
export const choose = (count, size) => range(size)
  .reduce((product, done) => (product * BigInt(count - done)) / BigInt(done + 1), 1n);

/** The set of `size` of `count` things at a place of all such sets in order. */
export const chosenAt = (place, count, size) => range(count).filter((member) => {
  const beginning = size && Number(choose(count - 1 - member, size - 1));
  const isChosen = place < beginning;
  if (isChosen) size -= 1;
  else place -= beginning;
  return isChosen;
});
