/** Any number of several options, or "none" of them: a flag for each; null for no answer. */
import { idsOf, isSkipped, mustAnswer } from './choice.js';

export function fits({ options: { length }, at_most: most, no_answer: skips }, e) {
  if (e.name === 'pick') return e.parts === length + 1 && e.inputs === (skips ? 3 : 2);
  const areBits = e.name === 'multihot' && e.options === length && e.at_most === most;
  return areBits && e.inputs === length + (skips ? 2 : 1);
}

/** Of ids joined by '|', or of 'none'. */
export function value(answer, question) {
  if (isSkipped(answer, question)) return null;
  const [ids, ticked] = [idsOf(question), answer.split('|')];
  const known = ticked.every((id) => ids.includes(id)) && new Set(ticked).size === ticked.length;
  mustAnswer(answer === 'none' || (known && ticked.length <= question.at_most), question);
  return [...ids, 'none'].map((id) => (ticked.includes(id) ? 1 : 0));
}
