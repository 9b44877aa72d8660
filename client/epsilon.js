/** Fractions [top, bottom] of BigInts, and ε, their logarithm, without rounding. */
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

/** A number at most e^(micros / 10^6), times 2^128: each term of the series is rounded down. */
function expLower(micros) {
  let [term, total] = [SCALE, SCALE];
  for (let index = 1n; term > 0n; index += 1n) {
    term = (term * micros) / (1_000_000n * index);
    total += term;
  }
  return total;
}

/** What a report of this worst ratio costs: the fewest whole millionths of ε that prove it. */
export function micro([top, bottom]) {
  let guess = BigInt(Math.max(0, Math.ceil(ln([top, bottom]) * 1e6) - 2));
  while (top * SCALE > bottom * expLower(guess)) guess += 1n;
  return Number(guess);
}
