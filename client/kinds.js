/**
 * Kinds of questions, counterpart of analysis/survey/kinds/. Of each: `value` of an answer as form
 * controls hold it, which refuses what is none; `values`, which there are, as encoders ask for
 * them; `madeUp`, answers to try; `control`, its name in page/controls.js; `plain`, an answer from
 * how it was typed; `written`, for people, with the names of its options or its unit; `complaint`,
 * the word for why it is refused.
 */
import { must } from './exact.js';

/** @throws {RangeError} that does not tell what was got, which may be true, unless it is one */
export const mustAnswer = (isOne, { id, kind }) => must(isOne, `"${id}" expected a ${kind}`);
/** Whether a question may be skipped, and this is how. */
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
  madeUp: idsOf,
  control: 'options',
  written: (answer, nameOf) => answer.split('|').map(nameOf).join(', '),
  complaint: () => 'page.required',
};

/** Any number of several options, or "none" of them: a flag for each; null for no answer. */
const choices = {
  ...choice,
  values: ({ options, at_most: most }) => ({ flags: options.length + 1, most }),
  /** Of ids joined by '|', or of 'none'. */
  value(answer, question) {
    if (isSkipped(answer, question)) return null;
    const [ids, ticked] = [idsOf(question), answer.split('|')];
    const known = ticked.every((id) => ids.includes(id)) && new Set(ticked).size === ticked.length;
    mustAnswer(answer === 'none' || (known && ticked.length <= question.at_most), question);
    return [...ids, 'none'].map((id) => (ticked.includes(id) ? 1 : 0));
  },
  madeUp: (question) => [...idsOf(question), 'none'],
  complaint: (answer) => (answer ? 'question.tick-at-most' : 'question.tick-one'),
};

const DECIMAL = /^(?=.{1,400}$)([+-]?(?=\.?[0-9])[0-9]*)\.?([0-9]*)(?:[eE]([+-]?[0-9]{1,2}))?$/;

/** What else is written for some units. */
const SIGNS = { EUR: ['€'], USD: ['$'], GBP: ['£'], '€': ['EUR'], $: ['USD'], '£': ['GBP'], hours: ['hrs'] };

/** A decimal as [top, bottom]. */
function exact(text) {
  const [, whole, part, exponent = '0'] = DECIMAL.exec(text);
  const scale = Number(exponent) - part.length;
  const digits = BigInt(`${whole}${part}`);
  return scale >= 0 ? [digits * 10n ** BigInt(scale), 1n] : [digits, 10n ** BigInt(-scale)];
}

/** A number between bounds: its place in their range, as an exact fraction; null for no answer. */
const number = {
  values: () => ({ isFraction: true }),
  value(answer, question) {
    if (answer === '' && question.no_answer) return null;
    mustAnswer(DECIMAL.test(answer), question);
    const minus = ([a, b], [c, d]) => [a * d - c * b, b * d];
    const [given, min, max] = [answer, String(question.min), String(question.max)].map(exact);
    const [above, range] = [minus(given, min), minus(max, min)];
    const [top, bottom] = [above[0] * range[1], above[1] * range[0]];
    mustAnswer(top >= 0n && top <= bottom, question);
    return [top, bottom];
  },
  /** The ends, and about the middle: on a step, or with one or two digits. */
  madeUp({ min, max, step = 10 ** (Math.floor(Math.log10(max - min)) - 1) }) {
    const above = Math.floor((max - min) / step / 2) * step;
    // Sums of decimals are not exact.
    return [min, Number((min + above).toPrecision(12)), max].map(String);
  },
  control: 'entry',
  /**
   * As people write it: with its unit or the beginning of that, spaces between thousands, digits of
   * Arabic. It is rounded to the next step. "1,234" may mean two numbers, and is none.
   */
  plain(typed, { min, max, step, unit = {} }) {
    const texts = typeof unit === 'string' ? [unit, ...SIGNS[unit] ?? []] : Object.values(unit);
    const units = texts.map((one) => one.toLowerCase());
    const isUnit = (text) => text && units.some((one) => one.startsWith(text.toLowerCase().replace(/\.$/, '')));
    const plain = typed.trim().replace(/[٠-٩]/g, (digit) => digit.charCodeAt(0) - 0x660)
      .replace(/^(\p{Sc})?\s*([^\p{L}\p{Sc}%]*\d)\s*([\p{L}\p{Sc}%].*)?$/u, (all, before, digits, after) =>
        ([before, after].every((text) => !text || isUnit(text)) ? digits : all))
      .replace(/(?<=\d)[\s'’](?=\d{3}(\D|$))/g, '');
    const isUnclear = !(step < 0.01) && /^[+-]?[1-9]\d{0,2}[.,٫]\d{3}$/.test(plain);
    const digits = isUnclear ? `${plain}?` : plain.replace(/[,٫]/, '.');
    const rounded = min + Math.round((digits - min) / step) * step;
    // Sums of decimals are not exact.
    const isOne = digits && digits >= min && digits <= max && Number.isFinite(rounded);
    return isOne ? String(Number(rounded.toPrecision(15))) : digits;
  },
  written: (answer, nameOf, unit) => (unit ? `${answer} ${unit}` : answer),
  complaint(answer) {
    if (answer.endsWith('?')) return 'question.unclear';
    return answer ? 'question.not-between' : 'page.required';
  },
};

export const KINDS = { 'yes-no': choice, choice, choices, scale: choice, number };

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
