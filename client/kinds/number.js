/** A number between bounds: its place in their range, as an exact fraction; null for no answer. */
import { mustAnswer } from './choice.js';

const DECIMAL = /^(?=.{1,400}$)([+-]?(?=\.?[0-9])[0-9]*)\.?([0-9]*)(?:[eE]([+-]?[0-9]{1,2}))?$/;
export const fits = (question, { name, steps, inputs }) =>
  name === 'grid' && inputs > steps + 1 === question.no_answer;

/** A decimal as [top, bottom]. */
function exact(text) {
  const [, whole, part, exponent = '0'] = DECIMAL.exec(text);
  const scale = Number(exponent) - part.length;
  const digits = BigInt(`${whole}${part}`);
  return scale >= 0 ? [digits * 10n ** BigInt(scale), 1n] : [digits, 10n ** BigInt(-scale)];
}

export function value(answer, question) {
  if (answer === '' && question.no_answer) return null;
  mustAnswer(DECIMAL.test(answer), question);
  const minus = ([a, b], [c, d]) => [a * d - c * b, b * d];
  const [given, min, max] = [answer, String(question.min), String(question.max)].map(exact);
  const [above, range] = [minus(given, min), minus(max, min)];
  const [top, bottom] = [above[0] * range[1], above[1] * range[0]];
  mustAnswer(top >= 0n && top <= bottom, question);
  return [top, bottom];
}
