/** Any number of several options, or "none" of them. */

/** Whether an encoder maps each answer, and nothing else, to an input. @returns {boolean} */
export function fits(question, encoder) {
  const options = question.options.length;
  const skips = question.no_answer ? 1 : 0;
  if (encoder.name === 'pick') {
    return encoder.parts === options + 1 && encoder.inputs === 2 + skips;
  }
  return (
    encoder.name === 'multihot' && encoder.options === options &&
    encoder.at_most === question.at_most && encoder.inputs === options + 1 + skips
  );
}

/**
 * @param {string} answer ids of what is ticked, joined by '|'; 'none'; or '' for no answer
 * @param {object} question
 * @returns {number[]|null} a flag for each option and for "none"; null for no answer
 * @throws {RangeError} if it is no answer to this question
 */
export function value(answer, question) {
  if (question.no_answer && (answer === '' || answer === 'no-answer')) return null;
  const ids = question.options.map((option) => option.id);
  const ticked = answer.split('|');
  const known = ticked.every((id) => ids.includes(id)) && new Set(ticked).size === ticked.length;
  if (answer !== 'none' && (!known || ticked.length > question.at_most)) {
    const empty = question.no_answer ? ', or empty' : '';
    throw new RangeError(
      `at most ${question.at_most} of ${ids.join(', ')} joined by |, or none${empty}`,
    );
  }
  return [...ids, 'none'].map((id) => (ticked.includes(id) ? 1 : 0));
}
