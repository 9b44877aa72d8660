/** From a worst probability ratio to ε, in whole numbers. Counterpart of analysis/epsilon.py. */

const SCALE = 2n ** 128n;
const MICRO = 1_000_000n;

/** A number at most e^(micros / 10^6), times 2^128: each term of the series is rounded down. */
function expLower(micros) {
  let [term, total] = [SCALE, SCALE];
  for (let index = 1n; term > 0n; index += 1n) {
    term = (term * micros) / (MICRO * index);
    total += term;
  }
  return total;
}

/** A fraction of any length, to within 2^-128. @param {bigint[]} fraction @returns {number} */
export const asNumber = ([top, bottom]) => Number((top * SCALE) / bottom) / 2 ** 128;

/** ln of a fraction of at least 1, however large. @param {bigint[]} fraction @returns {number} */
export function ln([top, bottom]) {
  const more = BigInt(Math.max(0, top.toString(2).length - bottom.toString(2).length));
  return Math.log1p(asNumber([top - (bottom << more), bottom << more])) + Number(more) * Math.LN2;
}

/**
 * What a report costs.
 * @param {bigint[]} ratio [top, bottom], the worst of its probabilities under two answers
 * @returns {number} the fewest whole millionths of ε that prove it
 */
export function micro([top, bottom]) {
  let guess = BigInt(Math.max(0, Math.ceil(ln([top, bottom]) * 1e6) - 2));
  while (top * SCALE > bottom * expLower(guess)) guess += 1n;
  return Number(guess);
}
