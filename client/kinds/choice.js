/** One of several options; a point of a scale too. Its value is a place; no answer is the last. */
import { must } from '../shown.js';

/** @throws {RangeError} that does not tell what was got, which may be true, unless it is one */
export const mustAnswer = (isOne, { id, kind }) => must(isOne, `"${id}" expected a ${kind}`);
/** Whether a question may be skipped, and this is how. */
export const isSkipped = (answer, question) =>
  question.no_answer && (answer === '' || answer === 'no-answer');
export const idsOf = ({ options }) => options.map(({ id }) => id);
export const domain = (question) =>
  [...idsOf(question), ...(question.no_answer ? ['no-answer'] : [])];
export const fits = (question, { name, inputs, values }) =>
  ({ index: inputs, onehot: inputs, hash: values })[name] === domain(question).length;

export function value(answer, question) {
  const place = domain(question).indexOf(answer || 'no-answer');
  mustAnswer(place >= 0, question);
  return place;
}
