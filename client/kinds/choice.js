/** One of several options. */

const ids = (question) => [
  ...question.options.map((option) => option.id),
  ...(question.no_answer ? ['no-answer'] : []),
];

/** Whether an encoder maps each answer, and nothing else, to an input. @returns {boolean} */
export const fits = (question, encoder) =>
  encoder.name === 'index' && encoder.inputs === ids(question).length;

/**
 * @param {string} answer an option's id, or '' for no answer
 * @param {object} question
 * @returns {number} its place in the domain; no answer is the last
 * @throws {RangeError} if it is no answer to this question
 */
export function value(answer, question) {
  const place = ids(question).indexOf(answer || 'no-answer');
  if (place < 0) throw new RangeError(`"${question.id}" expected one of ${ids(question)}`);
  return place;
}
