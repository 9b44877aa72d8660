/** A text in the respondent's own words. */
import { normalized } from '../texts.js';

/** Whether an encoder maps each answer, and nothing else, to an input. @returns {boolean} */
export function fits({ candidates, longest }, encoder) {
  if (candidates) return ['digest', 'bloom'].includes(encoder.name);
  return encoder.name === 'prefix' && encoder.lengths.at(-1) >= longest;
}

/**
 * @param {string} answer as typed, or '' for no answer
 * @param {object} question
 * @returns {string|null} the normalized text; null for no answer
 * @throws {RangeError} if it is no answer to this question
 */
export function value(answer, { longest, no_answer: skips }) {
  // Normalizing a huge text takes long, and compatibility forms have 18 letters at most.
  const text = answer.length <= 36 * longest + 198 ? normalized(answer) : answer;
  if (skips && (text === '' || text === 'no-answer')) return null;
  if (text && text !== 'no-answer' && [...text].length <= longest) return text;
  throw new RangeError(`a text of at most ${longest} letters${skips ? ', or empty' : ''}`);
}
