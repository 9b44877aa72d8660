/** Several items, put in order. */

const factorial = (n) => (n < 2 ? 1 : n * factorial(n - 1));

/** Whether an encoder maps each answer, and nothing else, to an input. @returns {boolean} */
export function fits(question, encoder) {
  const items = question.options.length;
  const skips = question.no_answer ? 1 : 0;
  if (encoder.name === 'pick') {
    return encoder.parts === (items * (items - 1)) / 2 && encoder.inputs === 2 + skips;
  }
  return (
    encoder.name === 'order' && encoder.items === items &&
    encoder.inputs === factorial(items) + skips
  );
}

/**
 * @param {string} answer ids of all items, the first first, joined by '|'; or '' for no answer
 * @param {object} question
 * @returns {number[]|null} a flag for each pair, set if they are in that order; null for no answer
 * @throws {RangeError} if it is no answer to this question
 */
export function value(answer, question) {
  if (question.no_answer && (answer === '' || answer === 'no-answer')) return null;
  const ids = question.options.map((option) => option.id);
  const order = answer.split('|');
  if ([...order].sort().join('|') !== [...ids].sort().join('|')) {
    const empty = question.no_answer ? ', or empty' : '';
    throw new RangeError(`all of ${ids.join(', ')} in order, joined by |${empty}`);
  }
  return ids.flatMap((first, place) =>
    ids.slice(place + 1).map((second) => (order.indexOf(first) < order.indexOf(second) ? 1 : 0)));
}
