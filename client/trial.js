/** Made-up answers, drawn by the real randomizers to show what these do; none of it is sent. */
import { domain, idsOf } from './kinds.js';
import { CHANNELS } from './randomizer.js';
import { draw, prepare } from './report.js';

/** About the middle of a range: on a step, or with one or two digits. */
function middle({ min, max, step = 10 ** (Math.floor(Math.log10(max - min)) - 1) }) {
  const above = Math.floor((max - min) / step / 2) * step;
  // Sums of decimals are not exact.
  return Number((min + above).toPrecision(12));
}

/** What can be tried, by the kind of a question; of others, each option. */
const TRIED = {
  choices: (question) => [...idsOf(question), 'none'],
  number: (question) => [question.min, middle(question), question.max].map(String),
  rank: (question) => [idsOf(question), idsOf(question).reverse()].map((ids) => ids.join('|')),
  text: ({ candidates, longest }) => candidates?.slice(0, 20) ?? ['example'.slice(0, longest)],
};

/** Answers to choose from, as form controls hold them; '' for none, if that is possible. */
export const madeUp = (question) =>
  [...(TRIED[question.kind] ?? idsOf)(question), ...(question.no_answer ? [''] : [])];

/** So many reports of an answer, each as a device would draw it whose key `newKey` makes. */
export async function trial(question, randomizer, answer, surveyId, newKey, words, count) {
  const survey = { id: surveyId, questions: [{ ...question, shows_if: undefined }] };
  const open = { survey, randomizers: { [question.id]: randomizer } };
  const reports = [];
  while (reports.length < count) {
    const prepared = await prepare(open, { [question.id]: answer }, await newKey(), words);
    reports.push(draw(open, prepared, {}, words).content.reports[question.id]);
  }
  return reports;
}

/** The ids of options, and of no answer, that a report plainly names; null if it names none so. */
export function named(report, question, { encoder, channel }) {
  const { weights, placesOf = (places) => [places].flat() } = CHANNELS[channel.name];
  const isPlain = !weights || weights(0, channel).length === channel.inputs;
  if (!isPlain || !['index', 'onehot'].includes(encoder.name)) return null;
  return placesOf(report).map((place) => domain(question)[place]);
}
