/**
 * Kinds of questions, counterpart of analysis/survey/kinds/. Each has `value`, of an answer as form
 * controls hold it, which refuses what is none; `values`, all of them, as encoders ask for
 * them; `names`, the ids of what reports can name; `reserved`, ids of no option; `madeUp`, answers
 * to try; `control`, its name in page/controls.js; `plain`, an answer from how it was typed;
 * `written`, for people, with its options' names or its unit; `complaint`, why it is refused.
 */
import { must } from './exact.js';

/** @throws {RangeError} unless it is an answer; the message repeats no answer, which may be true */
export const mustAnswer = (isOne, { id, kind }) => must(isOne, `"${id}" expected a ${kind}`);
/** Whether an answer skips a question that may be skipped. */
export const isSkipped = (answer, question) =>
  question.no_answer && (answer === '' || answer === 'no-answer');
export const isNote = ({ kind }) => kind === 'note';
export const idsOf = ({ options }) => options.map(({ id }) => id);
export const domain = (question) =>
  [...idsOf(question), ...(question.no_answer ? ['no-answer'] : [])];

/** One of several options; a point of a scale too. Its value is a place; no answer is the last. */
const choice = {
  values: (question) => ({ places: domain(question).length }),
  value(answer, question) {
    const place = domain(question).indexOf(answer || 'no-answer');
    mustAnswer(place >= 0, question);
    return place;
  },
  names: domain,
  madeUp: idsOf,
  control: 'options',
  written: (answer, nameOf) => answer.split('|').map(nameOf),
  complaint: () => 'page.required',
};

/** Any number of several options, or "none" of them: a flag for each; null for no answer. */
const choices = {
  ...choice,
  values: ({ options, at_most: most }) => ({ flags: options.length + 1, most }),
  /** From ids joined by '|', or 'none'. */
  value(answer, question) {
    if (isSkipped(answer, question)) return null;
    const [ids, ticked] = [idsOf(question), answer.split('|')];
    const known = ticked.every((id) => ids.includes(id)) && new Set(ticked).size === ticked.length;
    mustAnswer(answer === 'none' || (known && ticked.length <= question.at_most), question);
    return [...ids, 'none'].map((id) => (ticked.includes(id) ? 1 : 0));
  },
  reserved: ['none'],
  names: (question) => [...idsOf(question), 'none', 'no-answer'],
  madeUp: (question) => [...idsOf(question), 'none'],
  complaint: (answer) => (answer ? 'question.tick-at-most' : 'question.tick-one'),
};

/** Every kind by its name, with those of optional/. */
export const KINDS = { 'yes-no': choice, choice, choices, scale: choice };

/** Made-up answers to choose from, `example` as a text; '' for none, if that is possible. */
export const madeUp = (question, example) =>
  [...KINDS[question.kind].madeUp(question, example), ...(question.no_answer ? [''] : [])];

/** The word for what is wrong with an answer; undefined if nothing is. */
export function complaintOf(answer, question) {
  const { value, complaint } = KINDS[question.kind];
  try {
    mustAnswer(answer || !question.required, question);
    value(answer, question);
    return undefined;
  } catch {
    return complaint(answer, question);
  }
}
