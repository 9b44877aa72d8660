/** One of several options; a point of a scale too. */

const ids = (question) => [
  ...question.options.map((option) => option.id),
  ...(question.no_answer ? ['no-answer'] : []),
];

/** Whether an encoder maps each answer, and nothing else, to an input. @returns {boolean} */
export function fits(question, encoder) {
  const values = { index: encoder.inputs, onehot: encoder.inputs, hash: encoder.values };
  return Object.hasOwn(values, encoder.name) && values[encoder.name] === ids(question).length;
}

/**
 * @param {string} answer an option's id, or '' for no answer
 * @param {object} question
 * @returns {number} its place in the domain; no answer is the last
 * @throws {RangeError} if it is no answer to this question
 */
export function value(answer, question) {
  const known = ids(question);
  const place = known.indexOf(answer || 'no-answer');
  if (place >= 0) return place;
  const more = known.length > 20 ? ', …' : '';
  const empty = question.no_answer ? ', or empty' : '';
  throw new RangeError(`one of ${known.slice(0, 20).join(', ')}${more}${empty}`);
}
