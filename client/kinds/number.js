/** A number between bounds. Decimals are kept exact, as fractions of BigInt. */

const DECIMAL = /^([+-]?)(?=\.?[0-9])([0-9]*)\.?([0-9]*)(?:[eE]([+-]?[0-9]{1,2}))?$/;
const LONGEST = 400;

/** Whether an encoder maps each answer, and nothing else, to an input. @returns {boolean} */
export const fits = (question, encoder) =>
  encoder.name === 'grid' && encoder.inputs > encoder.steps + 1 === question.no_answer;

/** @returns {bigint[]} [top, bottom] of a decimal */
function exact(text, message = 'a decimal number') {
  const match = text.length <= LONGEST ? DECIMAL.exec(text) : null;
  if (!match) throw new RangeError(message);
  const [, sign, whole, part, exponent = '0'] = match;
  const digits = BigInt(`${sign === '-' ? '-' : ''}${whole}${part}`);
  const scale = Number(exponent) - part.length;
  return scale >= 0 ? [digits * 10n ** BigInt(scale), 1n] : [digits, 10n ** BigInt(-scale)];
}

const expected = ({ min, max, no_answer: skips }) =>
  `a number from ${min} to ${max}${skips ? ', or empty' : ''}`;

/**
 * @param {string} answer a decimal, or '' for no answer
 * @param {object} question
 * @returns {bigint[]|null} the number's place in its range as [top, bottom]; null for no answer
 * @throws {RangeError} if it is no answer to this question
 */
export function value(answer, question) {
  if (answer === '' && question.no_answer) return null;
  const [top, bottom] = exact(answer, expected(question));
  const [low, lowScale] = exact(String(question.min));
  const [high, highScale] = exact(String(question.max));
  const above = (top * lowScale - low * bottom) * highScale;
  const range = (high * lowScale - low * highScale) * bottom;
  if (above < 0n || above > range) {
    throw new RangeError(expected(question));
  }
  return [above, range];
}
