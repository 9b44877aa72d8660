/**
 * A randomizer: encoder, then channel. It believes nothing that it can check: the structure is
 * verified and the worst probability ratio recomputed from the weights before anything is drawn.
 */
import { CHANNELS } from './channels.js';
import { ENCODERS } from './encoders.js';
import { below, ln, micro, must, WORD } from './exact.js';

/** What optional/memory.js adds: `verify` a randomizer with a memory, and its `cost`. */
export const memories = {};
/**
 * What optional/stated.js adds, for surveys of the first format that state less ε than they cost:
 * `verify` a δ, the true `ratio` of a report, and a record once what it lacks is charged, `settled`.
 */
export const stated = {};

/** Whether it is a whole number of at least 1, or a list of such, or a list of such lists. */
function isWhole(value, depth) {
  if (depth === 0) return Number.isSafeInteger(value) && value >= 1;
  return Array.isArray(value) && value.length > 0 && value.every((one) => isWhole(one, depth - 1));
}

/** The code of an encoder or channel, once its numbers are known to be sound. */
export function part(what, known, data) {
  const { name, ...numbers } = data ?? {};
  const isKnown = typeof name === 'string' && Object.keys(known).includes(name);
  must(isKnown, `${what} must be one of ${Object.keys(known).join(', ')}`, data);
  const { fields, isSound = () => true, total = () => 1, most = WORD } = known[name];
  const names = Object.keys(fields);
  const areWhole = names.every((field) => isWhole(data[field], fields[field]));
  const areAll = Object.keys(numbers).length === names.length;
  must(areAll && areWhole, `${name} must have whole numbers ${names}`, data);
  const fits = [data.inputs].flat().every((k) => k >= 2) && isSound(data) && total(data) <= most;
  must(fits, `${name} must have numbers that make sense`, data);
  return known[name];
}

/** A fraction from two strings of digits. */
export function fraction(name, pair) {
  const isDigits = (one) => typeof one === 'string' && /^[0-9]{1,4000}$/.test(one);
  const known = Array.isArray(pair) && pair.length === 2 && pair.every(isDigits);
  must(known && BigInt(pair[1]) > 0n, `${name} must be two whole numbers as strings`, pair);
  return pair.map(BigInt);
}

/** @throws {RangeError} unless the stated fraction of a name is the true one */
export function states(randomizer, name, [trueTop, trueBottom]) {
  const [top, bottom] = fraction(name, randomizer[name]);
  must(top * trueBottom === bottom * trueTop, `${name} must be ${trueTop}/${trueBottom}`);
}

/** Checks what came from the server. Gives the stated ε of a report, with a δ of at most `most`. */
export function verify(randomizer, most = 1) {
  const members = Object.keys(randomizer ?? {}).sort().join();
  const known = /^channel,(encoder|delta,encoder|encoder,forever,permanent),ratio$/.test(members) &&
    members.split(',').length === Object.keys(randomizer).length;
  const expected = 'channel, encoder, ratio, and may have delta, or permanent and forever';
  must(known, `randomizer must have ${expected}`, randomizer);
  const { encoder, channel, permanent } = randomizer;
  const { apart, ones } = part('encoder', ENCODERS, encoder);
  const { takesBits = false, ratio } = part('channel', CHANNELS, channel);
  const fits = takesBits === Boolean(apart) && encoder.inputs === channel.inputs &&
    ones?.(encoder) === channel.ones;
  must(fits, `channel must take what ${encoder.name} gives`, channel);
  if ('delta' in randomizer) stated.verify(randomizer, most);
  else if (permanent) memories.verify(randomizer);
  else states(randomizer, 'ratio', ratio(channel, apart?.(encoder)));
  return ln(fraction('ratio', randomizer.ratio));
}

/** ε over any number of waves, if the answer never changes; undefined if there is no memory. */
export const forever = (randomizer) =>
  randomizer.permanent && ln(fraction('forever', randomizer.forever));

/** The largest ratio of a report's probabilities. */
const ratioOf = (randomizer) =>
  ('delta' in randomizer ? stated.ratio(randomizer) : fraction('ratio', randomizer.ratio));

/**
 * What so many reports cost together, in millionths of ε: `stable` if answers never change, and by
 * which protocol of memories.
 */
export function spent(randomizer, reports, stable, protocol) {
  if (randomizer.permanent) return memories.cost(randomizer, reports, stable, protocol);
  return reports * micro(ratioOf(randomizer));
}

/** What must be known of a value before it is drawn: what the device keeps, and a text's hash. */
export async function remember(value, { encoder, permanent }, memory, words) {
  const { cohorts, keepsCohort, isHashed, encode } = ENCODERS[encoder.name];
  if (!permanent && !isHashed) return undefined;
  const own = (source) => (cohorts ? below(cohorts(encoder), source) : 0);
  const cohort = permanent || keepsCohort ? await memory('cohort', 0, 0, own) : own(words);
  const symbol = await memory('rounding', 0, 0, (source) => encode(value, encoder, cohort, source));
  if (!permanent) return { cohort, symbol };
  const drawn = (one, make) => memory('permanent', cohort, one, make);
  return { cohort, symbol: await CHANNELS[permanent.name].remember(symbol, permanent, drawn) };
}

/** Draws the report of a value; the only step that protects it. `kept` is that of `remember`. */
export function randomize(value, { encoder, channel }, words, kept) {
  const { cohorts, encode } = ENCODERS[encoder.name];
  // The cohort is public, and drawn before the value is looked at.
  const cohort = kept?.cohort ?? (cohorts ? below(cohorts(encoder), words) : 0);
  const symbol = kept ? kept.symbol : encode(value, encoder, cohort, words);
  const report = CHANNELS[channel.name].randomize(symbol, channel, words);
  return cohorts ? { cohort, report } : report;
}
