/** Several items, put in order: a flag for each pair, set if in that order; null for no answer. */
import { factorial, pairs } from '../encoders.js';
import { idsOf, isSkipped, mustAnswer } from './choice.js';

export function fits({ options, no_answer: skips }, { name, parts, items, inputs }) {
  if (name === 'pick') return parts === pairs(options).length && inputs === (skips ? 3 : 2);
  const areAll = name === 'order' && items === options.length;
  return areAll && inputs === factorial(items) + (skips ? 1 : 0);
}

/** Of the ids of all items, the first first, joined by '|'. */
export function value(answer, question) {
  if (isSkipped(answer, question)) return null;
  const [ids, order] = [idsOf(question), answer.split('|')];
  mustAnswer([...order].sort().join('|') === [...ids].sort().join('|'), question);
  return pairs(ids.map((id) => order.indexOf(id))).map(([one, later]) => (one < later ? 1 : 0));
}
