/** Bits channel: each bit is drawn, 1 with the weight `one` of `total` for a 1, else `zero`. */
import { below, larger, power, range } from '../exact.js';

export const fields = { inputs: 0, one: 0, zero: 0, total: 0 };
/** An input is the places of its ones, rather than one symbol. */
export const takesBits = true;
export const isSound = (c) => c.zero <= c.one && c.one < c.total;
export const total = (c) => c.total;

/** Of inputs that differ by so many ones, [more, fewer]. */
export const ratio = (c, apart) => apart.map(([more, fewer]) => [
  power(c.one, more) * power(c.total - c.zero, fewer),
  power(c.zero, more) * power(c.total - c.one, fewer),
]).reduce(larger);

/** Base64url of the bits, the first in each byte's highest place. */
function packed(bits) {
  const bytes = bits.join('').match(/.{1,8}/g).map((byte) => parseInt(byte.padEnd(8, '0'), 2));
  const text = btoa(String.fromCharCode(...bytes));
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** The places of the ones in a report. */
export const placesOf = (report) => [...atob(report.replaceAll('-', '+').replaceAll('_', '/'))]
  .flatMap((byte) => [...byte.charCodeAt(0).toString(2).padStart(8, '0')])
  .flatMap((bit, place) => (bit === '1' ? [place] : []));

/** A drawn bit for each place. */
const flags = (isOne, c, words) =>
  range(c.inputs).map((place) => (below(c.total, words) < (isOne(place) ? c.one : c.zero) ? 1 : 0));

export const randomize = (symbol, c, words) =>
  packed(flags((place) => symbol.includes(place), c, words));

/** Each place has a bit for a 1 and one for a 0: another input changes no bit that both have. */
export async function remember(symbol, c, drawn) {
  const ones = await drawn(1, (words) => flags(() => true, c, words));
  const zeros = await drawn(0, (words) => flags(() => false, c, words));
  return range(c.inputs).filter((place) => (symbol.includes(place) ? ones : zeros)[place]);
}
