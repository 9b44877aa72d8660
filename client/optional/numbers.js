/** Questions that are answered with a number: how it is read and written, and how it is encoded. */
import { ENCODERS } from '../encoders.js';
import { bernoulli, must } from '../exact.js';
import { KINDS, mustAnswer } from '../kinds.js';

/** Unbiased stochastic rounding; the value is a fraction [top, bottom] of 0..1, or null. */
const grid = {
  fields: { steps: 0, inputs: 0 },
  isNumber: true,
  isSound: ({ steps, inputs }) => steps < inputs,
  fits: ({ steps, inputs }, { isFraction }, skips) => isFraction && inputs > steps + 1 === skips,
  encode(value, { steps, inputs }, cohort, words) {
    if (value === null && inputs > steps + 1) return inputs - 1;
    const [top, bottom] = Array.isArray(value) ? value : [];
    const isFraction = typeof top === 'bigint' && typeof bottom === 'bigint' && bottom > 0n;
    must(isFraction && top >= 0n && top <= bottom, 'value must be a fraction of 0..1', value);
    const place = top * BigInt(steps);
    return Number(place / bottom) + bernoulli(place % bottom, bottom, words);
  },
};

const DECIMAL = /^(?=.{1,400}$)([+-]?(?=\.?[0-9])[0-9]*)\.?([0-9]*)(?:[eE]([+-]?[0-9]{1,2}))?$/;

/** Other signs of units. */
const SIGNS = { EUR: ['€'], USD: ['$'], GBP: ['£'], '€': ['EUR'], $: ['USD'], '£': ['GBP'], hours: ['hrs'] };

/** A decimal as [top, bottom]. */
function exact(text) {
  const [, whole, part, exponent = '0'] = DECIMAL.exec(text);
  const scale = Number(exponent) - part.length;
  const digits = BigInt(`${whole}${part}`);
  return scale >= 0 ? [digits * 10n ** BigInt(scale), 1n] : [digits, 10n ** BigInt(-scale)];
}

/** One of these marks stands between all thousands, and another one before the decimals. */
const GROUPED = /^[+-]?[1-9]\d{0,2}([.,٬])\d{3}(\1\d{3})*((?!\1)[.,٫]\d+)?$/;
/** Sums of decimals are not exact. */
const isNear = (one, other) => Math.abs(one - other) < 1e-6;

/**
 * A number without marks between its thousands. Where "1,234" may be two of the numbers that
 * fit, it ends with "?", and is none.
 */
function unmarked(plain, { min, max, step }) {
  const decimal = plain.replace(/[,٫٬]/, '.');
  const [, mark, more, rest] = GROUPED.exec(plain) ?? [];
  if (!mark) return decimal;
  const whole = plain.replaceAll(mark, '').replace(/[,٫]/, '.');
  if (more || rest) return whole;
  const isAsked = (text) => text >= min && text <= max;
  const steps = (decimal - min) / step;
  const isDecimal = isAsked(decimal) && (!step || isNear(steps, Math.round(steps)));
  if (isDecimal && isAsked(whole)) return `${plain}?`;
  return isDecimal ? decimal : whole;
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
    return [min, Number((min + above).toPrecision(12)), max].map(String);
  },
  control: 'entry',
  /**
   * As people write it: with its unit or the beginning of that, marks between thousands, other digits.
   * It is rounded to the next step.
   */
  plain(typed, question) {
    const { min, max, step, unit = {} } = question;
    const texts = typeof unit === 'string' ? [unit, ...SIGNS[unit] ?? []] : Object.values(unit);
    const units = texts.map((one) => one.toLowerCase());
    const isUnit = (text) => text && units.some((one) => one.startsWith(text.toLowerCase().replace(/\.$/, '')));
    const plain = typed.trim().replace(/[٠-٩۰-۹０-９]/g, (one) => one.charCodeAt() & 15)
      .replace(/^(\p{Sc})?\s*([^\p{L}\p{Sc}%]*\d)\s*([\p{L}\p{Sc}%].*)?$/u, (all, before, digits, after) =>
        ([before, after].every((text) => !text || isUnit(text)) ? digits : all))
      .replace(/(\d)[\s'’](?=\d{3}(\D|$))/g, '$1');
    const digits = unmarked(plain, question);
    const rounded = min + Math.round((digits - min) / step) * step;
    const isOne = digits && digits >= min && digits <= max && Number.isFinite(rounded);
    return isOne ? String(Number(rounded.toPrecision(15))) : digits;
  },
  written(answer, nameOf, unit, numeral) {
    const text = DECIMAL.test(answer) ? numeral(Number(answer)) : answer;
    return unit ? `${text} ${unit}` : text;
  },
  complaint(answer) {
    if (answer.endsWith('?')) return 'question.unclear';
    return answer ? 'question.not-between' : 'page.required';
  },
};

Object.assign(ENCODERS, { grid });
Object.assign(KINDS, { number });
