/**
 * A randomizer: encoder, then channel. It believes nothing that it can check: the structure is
 * verified and the worst probability ratio recomputed from the weights before anything is drawn.
 * Counterpart of analysis/randomizer.py; what both refuse, they refuse with the same words.
 */
import * as bits from './channels/bits.js';
import * as shift from './channels/shift.js';
import * as subset from './channels/subset.js';
import * as table from './channels/table.js';
import * as window from './channels/window.js';
import { below, reduced, sum } from './draw.js';
import { ENCODERS } from './encoders.js';
import { asNumber, ln, micro } from './epsilon.js';
import { shown } from './shown.js';
import { constantRatio, worstRatio } from './waves.js';

/** Every channel by its name on the wire. */
export const CHANNELS = { window, subset, bits, shift, table };

/** The most digits of a ratio or delta. */
const DIGITS = 4000;
const OF_DEPTH = ['a whole number', 'a list of whole numbers', 'rows of whole numbers'];

const isObject = (data) => typeof data === 'object' && data !== null && !Array.isArray(data);

/** Whether it is a whole number of at least 1, or a list of such, or a list of such lists. */
function isWhole(value, depth) {
  if (depth === 0) return Number.isSafeInteger(value) && value >= 1;
  return Array.isArray(value) && value.length > 0 && value.every((one) => isWhole(one, depth - 1));
}

/** The code of an encoder or channel, once its numbers are known to be sound. */
function part(what, known, data) {
  const name = isObject(data) ? data.name : data;
  if (!isObject(data) || typeof name !== 'string' || !Object.hasOwn(known, name)) {
    const names = Object.keys(known).join(', ');
    throw new RangeError(`${what} must be one of ${names}, got ${shown(name)}`);
  }
  const { fields, check } = known[name];
  const expected = Object.keys(fields).sort().join(', ');
  const got = Object.keys(data).filter((key) => key !== 'name').sort().join(', ');
  if (got !== expected) throw new RangeError(`${name} must have ${expected}, got ${got}`);
  for (const [field, depth] of Object.entries(fields)) {
    if (!isWhole(data[field], depth)) {
      throw new RangeError(`${name}: ${field} must be ${OF_DEPTH[depth]} of at least 1`);
    }
  }
  check(data);
  return known[name];
}

/** @returns {bigint[]} [top, bottom] of two strings of digits @throws {RangeError} */
function wholeRatio(name, pair) {
  const isDigits = (one) => typeof one === 'string' && /^[0-9]+$/.test(one) && one.length <= DIGITS;
  const known = Array.isArray(pair) && pair.length === 2 && pair.every(isDigits);
  if (known && BigInt(pair[1]) > 0n) return pair.map(BigInt);
  const expected = `two whole numbers as strings of at most ${DIGITS} digits`;
  throw new RangeError(`${name} must be ${expected}, got ${shown(pair)}`);
}

/** @throws {RangeError} unless one channel can stand before the other */
function checkStages(permanent, instant) {
  const known = ['window', 'bits'].includes(instant.name) && permanent.name === instant.name;
  if (!known || (permanent.width ?? 1) > 1 || (instant.width ?? 1) > 1) {
    throw new RangeError(
      'permanent must be bits before bits, or a window of width 1 before another, ' +
        `got ${permanent.name} before ${instant.name}`,
    );
  }
  if ([permanent, instant].some(({ near, far }) => near < far)) {
    throw new RangeError('permanent and channel must have near of at least far');
  }
  if (permanent.inputs !== instant.inputs) {
    throw new RangeError(
      `permanent must have as many inputs as channel, ${instant.inputs}, got ${permanent.inputs}`,
    );
  }
}

/** @throws {RangeError} unless the channel takes what the encoder gives, and delta has a meaning */
function checkFit({ encoder, channel, permanent }, limit) {
  const code = ENCODERS[encoder.name];
  const { takesBits = false, weights } = CHANNELS[channel.name];
  const givesBits = 'apart' in code;
  if (givesBits !== takesBits || encoder.inputs !== channel.inputs) {
    throw new RangeError(
      `channel must take what ${encoder.name} gives, ${encoder.inputs} ` +
        `${givesBits ? 'bits' : 'inputs'}, got ${channel.name} of ${channel.inputs}`,
    );
  }
  if (limit && ('cohorts' in code || !weights)) {
    throw new RangeError('delta must be left out where reports have cohorts or several symbols');
  }
  if (limit && limit[0] < limit[1]) {
    throw new RangeError(`ratio must be at least 1, got ${reduced(limit).join('/')}`);
  }
  if (limit && permanent) {
    throw new RangeError('delta must be left out where the device has a memory');
  }
}

/**
 * By how much the probability of a set of reports can exceed top/bottom times that under another
 * input: the hockey-stick divergence, summed over the table of weights, of the worst two inputs.
 * @returns {bigint[]}
 */
function divergence(channel, [top, bottom]) {
  const { weights } = CHANNELS[channel.name];
  const rows = Array.from({ length: channel.inputs }, (_, symbol) => weights(symbol, channel));
  const scaled = (factor) => rows.map((row) => row.map((weight) => factor * BigInt(weight)));
  const others = scaled(top);
  let worst = 0n;
  for (const row of scaled(bottom)) {
    for (const other of others) {
      const excess = row.reduce((all, one, y) => (one > other[y] ? all + one - other[y] : all), 0n);
      if (excess > worst) worst = excess;
    }
  }
  return [worst, bottom * sum(rows[0])];
}

function checkStated(name, [top, bottom], [trueTop, trueBottom]) {
  if (top * trueBottom !== bottom * trueTop) {
    const [expected, got] = [reduced([trueTop, trueBottom]), [top, bottom]];
    throw new RangeError(`${name} must be ${expected.join('/')}, got ${got.join('/')}`);
  }
}

/**
 * Checks a randomizer.
 * @param {object} randomizer as it came from the server
 * @returns {number} ε of one report: the logarithm of the worst probability ratio, which with
 *   `delta` holds but for so small a probability
 * @throws {RangeError} if it is unsound, or a stated number is not that of its weights
 */
export function verify(randomizer) {
  const keys = isObject(randomizer) ? Object.keys(randomizer) : [];
  const more = ['delta', 'permanent', 'forever'];
  if (keys.filter((key) => !more.includes(key)).sort().join() !== 'channel,encoder,ratio') {
    throw new RangeError(
      'randomizer must have channel, encoder, ratio, and may have delta, or permanent ' +
        `and forever, got ${shown(randomizer)}`,
    );
  }
  if (keys.includes('permanent') !== keys.includes('forever')) {
    throw new RangeError('permanent and forever must be there together');
  }
  const { encoder, channel, permanent } = randomizer;
  const apart = part('encoder', ENCODERS, encoder).apart?.(encoder);
  const { ratio, followedBy } = part('channel', CHANNELS, channel);
  const stated = wholeRatio('ratio', randomizer.ratio);
  const limit = keys.includes('delta') ? stated : null;
  if (permanent) {
    part('permanent', CHANNELS, permanent);
    checkStages(permanent, channel);
  }
  checkFit(randomizer, limit);
  if (limit) {
    checkStated('delta', wholeRatio('delta', randomizer.delta), divergence(channel, limit));
  } else {
    const whole = permanent ? followedBy(permanent, channel) : channel;
    checkStated('ratio', stated, ratio(whole, apart));
  }
  if (permanent) {
    checkStated('forever', wholeRatio('forever', randomizer.forever), ratio(permanent, apart));
  }
  return ln(stated);
}

/**
 * ε over any number of waves, if the answer never changes.
 * @param {object} randomizer one that `verify` has passed
 * @returns {number|undefined} undefined if it has no memory
 */
export const forever = (randomizer) =>
  randomizer.permanent && ln(wholeRatio('forever', randomizer.forever));

/**
 * What so many reports of a respondent cost together.
 * @param {object} randomizer one that `verify` has passed
 * @param {number} reports
 * @param {boolean} stable whether the answer is taken for one that never changes
 * @returns {number} millionths of ε, rounded up
 */
export function spent(randomizer, reports, stable) {
  const { encoder, permanent, channel } = randomizer;
  if (!permanent) return reports * micro(wholeRatio('ratio', randomizer.ratio));
  const ratio = stable ? constantRatio : worstRatio;
  return micro(ratio(permanent, channel, ENCODERS[encoder.name].apart?.(encoder), reports));
}

/**
 * The probability but for which ε holds.
 * @param {object} randomizer one that `verify` has passed
 * @returns {number} 0 if ε always holds
 */
export const delta = (randomizer) =>
  'delta' in randomizer ? asNumber(wholeRatio('delta', randomizer.delta)) : 0;

/**
 * What must be known of an answer before it is drawn: what the device keeps of it for all waves, and
 * a text's hash. Nothing, if the randomizer has no memory and takes no texts.
 * @param {*} value of the question's domain, from kinds.js
 * @param {object} randomizer one that `verify` has passed
 * @param {import('./memory.js').Memory} memory
 * @param {import('./draw.js').Words} words for a cohort that is not kept
 * @returns {Promise<{cohort: number, symbol: *}|undefined>}
 * @throws {RangeError} if the encoder knows no such value
 */
export async function remember(value, { encoder, permanent }, memory, words) {
  const { cohorts, keepsCohort, ofTexts, encode } = ENCODERS[encoder.name];
  if (!permanent && !ofTexts) return undefined;
  const own = (source) => (cohorts ? below(cohorts(encoder), source) : 0);
  const keeps = permanent || keepsCohort;
  const cohort = keeps ? await memory.draw('cohort', 0, 0, own) : own(words);
  const round = (source) => encode(value, encoder, cohort, source);
  const symbol = await memory.draw('rounding', 0, 0, round);
  if (!permanent) return { cohort, symbol };
  const drawn = (one, make) => memory.draw('permanent', cohort, one, make);
  return { cohort, symbol: await CHANNELS[permanent.name].remember(symbol, permanent, drawn) };
}

/**
 * Draws the report of a value; the only step that protects it.
 * @param {*} value of the question's domain, from kinds.js
 * @param {object} randomizer one that `verify` has passed
 * @param {import('./draw.js').Words} words
 * @param {{cohort: number, symbol: *}} [kept] what `remember` gave for this value
 * @returns {*} what is sent: what the channel gives, and with it the cohort if there are any
 * @throws {RangeError} if the encoder knows no such value
 */
export function randomize(value, { encoder, channel }, words, kept) {
  const { cohorts, encode } = ENCODERS[encoder.name];
  // Public, and drawn before the value is looked at.
  const cohort = kept?.cohort ?? (cohorts ? below(cohorts(encoder), words) : 0);
  const symbol = kept ? kept.symbol : encode(value, encoder, cohort, words);
  const report = CHANNELS[channel.name].randomize(symbol, channel, words);
  return cohorts ? { cohort, report } : report;
}
