/** Refusals: what was expected, and what was got. */

/** How a value that was got is written in a message: as JSON, of which the beginning. */
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
