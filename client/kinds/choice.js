/** One of several options. */

/**
 * @param {string} answer an option's id, or '' for no answer
 * @param {object} question
 * @returns {number} its place in the domain; no answer is the last
 * @throws {RangeError} if it is no answer to this question
 */
export function value(answer, question) {
  const ids = question.options.map((option) => option.id);
  if (question.no_answer) ids.push('no-answer');
  const place = ids.indexOf(answer || 'no-answer');
  if (place < 0) throw new RangeError(`"${question.id}" expected one of ${ids}`);
  return place;
}
