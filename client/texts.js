/**
 * Texts as answers: when two are the same, and the encoders that hash them. Counterpart of
 * analysis/texts.py and analysis/encoders/text.py, which name the sources.
 */
import { shown, whole } from './shown.js';

const TAG = 'deniable-text-1';
const [NOTHING, WHOLE, BEGINNING] = [0, 1, 2];
/** The most words of a text that cohorts and hashes may call for. */
const MOST = 2 ** 20;

/** What counts as the same text: NFKC, one case, one lower sigma, single spaces. */
export function normalized(text) {
  const folded = text.normalize('NFKC').toLowerCase().toUpperCase().toLowerCase();
  const single = folded.replaceAll('ς', 'σ').normalize('NFKC');
  return single.replace(/[\t-\r ]+/g, ' ').replace(/^ | $/g, '');
}

/**
 * Public words of a text, 32 bits each; eight come from one SHA-256.
 * @param {number} what nothing, a whole text, or the beginning of one
 * @param {string} text normalized
 * @param {number} start which word is the first
 * @param {number} count
 * @returns {Promise<number[]>}
 */
export async function textWords(what, text, start, count) {
  const encoder = new TextEncoder();
  const words = [];
  for (let place = start; place < start + count; place += 1) {
    const header = new Uint8Array(5);
    new DataView(header.buffer).setUint8(0, what);
    new DataView(header.buffer).setUint32(1, Math.floor(place / 8));
    const message = [...encoder.encode(TAG), ...header, ...encoder.encode(text)];
    const hash = await crypto.subtle.digest('SHA-256', Uint8Array.from(message));
    words.push(new DataView(hash).getUint32(4 * (place % 8)));
  }
  return words;
}

/** The words of an answer, or of so many letters of it. */
function wordsOf(value, start, count, length = Infinity) {
  if (value === null) return textWords(NOTHING, '', start, count);
  if (typeof value !== 'string') throw new RangeError(`value must be a text, got ${shown(value)}`);
  const letters = [...value];
  if (letters.length <= length) return textWords(WHOLE, value, start, count);
  return textWords(BEGINNING, letters.slice(0, length).join(''), start, count);
}

function checkSizes(name, inputs, words) {
  if (inputs < 2 || inputs > 65536) {
    throw new RangeError(`${name}: inputs must be from 2 to 65536, got ${inputs}`);
  }
  if (words > MOST) {
    throw new RangeError(`${name}: cohorts and hashes must call for at most ${MOST} words`);
  }
}

/** The text's word of that number, the cohort, modulo `inputs`. */
export const digest = {
  fields: { functions: 0, inputs: 0 },
  cohorts: ({ functions }) => functions,
  ofTexts: true,
  check: ({ functions, inputs }) => checkSizes('digest', inputs, functions),
  async encode(value, { functions, inputs }, cohort) {
    const [word] = await wordsOf(value, whole('cohort', cohort, functions), 1);
    return word % inputs;
  },
};

/** A bit for each of `hashes` words of the text, those of its cohort, modulo `inputs`. */
export const bloom = {
  fields: { functions: 0, hashes: 0, inputs: 0 },
  cohorts: ({ functions }) => functions,
  keepsCohort: true,
  ofTexts: true,
  apart: ({ hashes }) => [[hashes, hashes]],
  check({ functions, hashes, inputs }) {
    checkSizes('bloom', inputs, functions * hashes);
    if (2 * hashes > inputs || hashes > 16) {
      throw new RangeError(`bloom: hashes must be at most 16, and half of inputs, got ${hashes}`);
    }
  },
  async encode(value, { functions, hashes, inputs }, cohort) {
    const words = await wordsOf(value, whole('cohort', cohort, functions) * hashes, hashes);
    return [...new Set(words.map((word) => word % inputs))].sort((a, b) => a - b);
  },
};

/** A hash of the text's beginning, whose length its cohort says; of all of it, if no longer. */
export const prefix = {
  fields: { functions: 0, lengths: 1, inputs: 0 },
  cohorts: ({ functions, lengths }) => functions * lengths.length,
  ofTexts: true,
  check(e) {
    checkSizes('prefix', e.inputs, prefix.cohorts(e));
    if (e.lengths.some((length, place) => place > 0 && length <= e.lengths[place - 1])) {
      throw new RangeError(`prefix: lengths must rise, got ${shown(e.lengths)}`);
    }
  },
  async encode(value, e, cohort) {
    const place = Math.floor(whole('cohort', cohort, prefix.cohorts(e)) / e.functions);
    const [word] = await wordsOf(value, cohort, 1, e.lengths[place]);
    return word % e.inputs;
  },
};
