/** A text in the respondent's own words: its value is normalized; null for no answer. */
import { normalized } from '../texts.js';
import { isSkipped, mustAnswer } from './choice.js';

export function fits({ candidates, longest }, { name, lengths }) {
  if (candidates) return ['digest', 'bloom'].includes(name);
  return name === 'prefix' && lengths.at(-1) >= longest;
}

export function value(answer, question) {
  const { longest } = question;
  // Normalizing a huge text takes long, and compatibility forms have 18 letters at most.
  const text = answer.length <= 36 * longest + 198 ? normalized(answer) : answer;
  if (isSkipped(text, question)) return null;
  mustAnswer(text && text !== 'no-answer' && [...text].length <= longest, question);
  return text;
}
