/** Questions that are answered in the respondent's own words: their answers, and their hashes. */
import { ENCODERS } from '../encoders.js';
import { must, range, whole } from '../exact.js';
import { asFour, bytesOf, sha256, wordsIn } from '../hashes.js';
import { isSkipped, KINDS, mustAnswer } from '../kinds.js';

const [NOTHING, WHOLE, BEGINNING] = [0, 1, 2];

/** Public words for nothing, a whole text or the beginning of one; a SHA-256 gives eight. */
export const textWords = (what, text, start, count) =>
  Promise.all(range(count).map(async (more) => {
    const block = asFour(Math.floor((start + more) / 8));
    const message = [...bytesOf('deniable-text-1'), what, ...block, ...bytesOf(text)];
    return wordsIn(await sha256(message))[(start + more) % 8];
  }));

/** The words of an answer, or of its first `length` letters. */
function wordsOf(value, start, count, length = Infinity) {
  if (value === null) return textWords(NOTHING, '', start, count);
  must(typeof value === 'string', 'value must be a text', value);
  const letters = [...value];
  if (letters.length <= length) return textWords(WHOLE, value, start, count);
  return textWords(BEGINNING, letters.slice(0, length).join(''), start, count);
}

/** Whether symbols, and the words of a text that cohorts and hashes call for, are not too many. */
const areFew = (inputs, words) => inputs <= 65536 && words <= 2 ** 20;

/** A hash of the text's beginning, whose length its cohort says; of all of it, if no longer. */
const prefix = {
  isHashed: true,
  fields: { functions: 0, lengths: 1, inputs: 0 },
  cohorts: ({ functions, lengths }) => functions * lengths.length,
  isSound: (e) => areFew(e.inputs, prefix.cohorts(e)) &&
    e.lengths.every((length, place) => place === 0 || length > e.lengths[place - 1]),
  fits: ({ lengths }, { longest, candidates }) => !candidates && Math.max(...lengths) >= longest,
  async encode(value, e, cohort) {
    const place = Math.floor(whole('cohort', cohort, prefix.cohorts(e)) / e.functions);
    const [word] = await wordsOf(value, cohort, 1, e.lengths[place]);
    return word % e.inputs;
  },
};

/** The text's word of that number, the cohort, modulo `inputs`. */
const digest = {
  isHashed: true,
  fields: { functions: 0, inputs: 0 },
  cohorts: ({ functions }) => functions,
  isSound: (e) => areFew(e.inputs, e.functions),
  fits: (_, { candidates }) => Boolean(candidates),
  encode: (value, e, cohort) => prefix.encode(value, { ...e, lengths: [Infinity] }, cohort),
};

/** A bit for each of `hashes` words of the text, those of its cohort, modulo `inputs`. */
const bloom = {
  isHashed: true,
  fields: { functions: 0, hashes: 0, inputs: 0 },
  cohorts: ({ functions }) => functions,
  keepsCohort: true,
  fits: digest.fits,
  apart: ({ hashes }) => [[hashes, hashes]],
  isSound: ({ functions, hashes, inputs }) =>
    areFew(inputs, functions * hashes) && hashes <= Math.min(16, inputs / 2),
  async encode(value, e, cohort) {
    const words = await wordsOf(value, whole('cohort', cohort, e.functions) * e.hashes, e.hashes);
    return [...new Set(words.map((word) => word % e.inputs))].sort((a, b) => a - b);
  },
};

/** What counts as the same text: NFKC, one case, one lower sigma, single spaces. */
export function normalized(text) {
  const folded = text.normalize('NFKC').toLowerCase().toUpperCase().toLowerCase();
  const single = folded.replaceAll('ς', 'σ').normalize('NFKC');
  return single.replace(/[\t-\r ]+/g, ' ').replace(/^ | $/g, '');
}

/** A text in the respondent's own words: its value is normalized; null for no answer. */
const text = {
  values: ({ candidates, longest }) => ({ candidates, longest }),
  value(answer, question) {
    const { longest } = question;
    // Normalizing a huge text takes long, and it turns a letter into 18 at most.
    const plain = [...answer].length <= 18 * longest + 99 ? normalized(answer) : answer;
    if (isSkipped(plain, question)) return null;
    // Half of a surrogate pair is no letter, and has no bytes to be hashed.
    const isText = plain && plain !== 'no-answer' && !/\p{Cs}/u.test(plain);
    mustAnswer(isText && [...plain].length <= longest, question);
    return plain;
  },
  madeUp: ({ candidates, longest }, example) =>
    candidates?.slice(0, 20) ?? [example.slice(0, longest)],
  control: 'entry',
  written: (answer) => answer,
  complaint: () => 'question.too-long',
};

Object.assign(ENCODERS, { digest, bloom, prefix });
Object.assign(KINDS, { text });
