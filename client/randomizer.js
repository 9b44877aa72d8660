/**
 * A randomizer: encoder, then channel. It believes nothing that it can check: the structure is
 * verified and the worst probability ratio recomputed from the weights before anything is drawn.
 */
import { CHANNELS, pattern } from './channels.js';
import { ENCODERS, TEXTS } from './encoders.js';
import { asNumber, below, larger, ln, micro, must, range, WORD } from './exact.js';
import { canonical } from './hashes.js';
import { KEPT, worstCost } from './waves.js';

/** Whether it is a whole number of at least 1, or a list of such, or a list of such lists. */
function isWhole(value, depth) {
  if (depth === 0) return Number.isSafeInteger(value) && value >= 1;
  return Array.isArray(value) && value.length > 0 && value.every((one) => isWhole(one, depth - 1));
}

/** The code of an encoder or channel, once its numbers are known to be sound. */
function part(what, known, data) {
  const { name, ...numbers } = data ?? {};
  const isKnown = typeof name === 'string' && Object.hasOwn(known, name);
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
function fraction(name, pair) {
  const isDigits = (one) => typeof one === 'string' && /^[0-9]{1,4000}$/.test(one);
  const known = Array.isArray(pair) && pair.length === 2 && pair.every(isDigits);
  must(known && BigInt(pair[1]) > 0n, `${name} must be two whole numbers as strings`, pair);
  return pair.map(BigInt);
}

/** @throws {RangeError} unless the stated fraction of a name is the true one */
function states(randomizer, name, [trueTop, trueBottom]) {
  const [top, bottom] = fraction(name, randomizer[name]);
  must(top * trueBottom === bottom * trueTop, `${name} must be ${trueTop}/${trueBottom}`);
}

/** The hockey-stick divergence at top/bottom of the worst two inputs, from all their weights. */
function divergence(channel, [top, bottom]) {
  const { weights, total } = CHANNELS[channel.name];
  const rows = range(channel.inputs).map((symbol) => weights(symbol, channel).map(BigInt));
  const scaled = (factor) => rows.map((row) => row.map((weight) => factor * weight));
  const [ones, others] = [scaled(bottom), scaled(top)];
  const excess = (one, other) =>
    one.reduce((all, weight, y) => (weight > other[y] ? all + weight - other[y] : all), 0n);
  const found = ones.flatMap((one) => others.map((other) => excess(one, other)));
  return [found.reduce((a, b) => (a > b ? a : b)), bottom * BigInt(total(channel))];
}

/** Checks what came from the server. Gives ε of one report, which `delta` may limit. */
export function verify(randomizer) {
  const members = Object.keys(randomizer ?? {}).sort().join();
  const known = /^channel,(encoder|delta,encoder|encoder,forever,permanent),ratio$/.test(members) &&
    members.split(',').length === Object.keys(randomizer).length;
  const expected = 'channel, encoder, ratio, and may have delta, or permanent and forever';
  must(known, `randomizer must have ${expected}`, randomizer);
  const { encoder, channel, permanent, ...stated } = randomizer;
  const { apart, cohorts, ones } = part('encoder', ENCODERS, encoder);
  const { takesBits = false, weights, ratio } = part('channel', CHANNELS, channel);
  const fits = takesBits === Boolean(apart) && encoder.inputs === channel.inputs &&
    ones?.(encoder) === channel.ones;
  must(fits, `channel must take what ${encoder.name} gives`, channel);
  const differences = apart?.(encoder);
  const limit = fraction('ratio', stated.ratio);
  if ('delta' in stated) {
    must(weights && !cohorts, 'delta must be left out where reports are not one symbol', channel);
    must(limit[0] >= limit[1], 'ratio must be at least 1', stated.ratio);
    states(randomizer, 'delta', divergence(channel, limit));
  } else if ('forever' in stated) {
    part('permanent', CHANNELS, permanent);
    const areAlike = permanent.name === channel.name && permanent.inputs === channel.inputs;
    const follows = areAlike &&
      [permanent, channel].every((data) => CHANNELS[data.name].canBeKept?.(data));
    must(follows, 'permanent must be as channel: bits, or a window of width 1', permanent);
    states(randomizer, 'ratio', KEPT[permanent.name].constant(permanent, channel, 1, differences));
    states(randomizer, 'forever', ratio(permanent, differences));
  } else states(randomizer, 'ratio', ratio(channel, differences));
  return ln(limit);
}

/** Which questions are asked, if not all are: the place of the first of its like, for each. */
const keyOf = (encoders, asked) =>
  String(asked.map((place) => encoders.map(canonical).indexOf(canonical(encoders[place]))));

/** By which channel those questions are drawn that are asked. */
const lawOf = ({ encoders, channel, channels }, asked) => channel ?? channels[keyOf(encoders, asked)];

/**
 * Checks what came from the server for several questions that are drawn together, of which one of
 * `samples` is asked. Gives ε of one report on all, and of one answer for who knows all others.
 */
export function verifyTogether(joint, samples) {
  const isSome = samples[0].length < joint?.encoders?.length;
  const members = Object.keys(joint ?? {}).sort().join();
  const expected = `${isSome ? 'channels' : 'channel'},each,encoders,ratio`;
  must(members === expected, `randomizer must have ${expected}`, joint);
  const { encoders, channels } = joint;
  const parts = encoders?.map?.((encoder) => part('encoder', ENCODERS, encoder).parts?.(encoder));
  must(parts?.every((own) => own && !(isSome && own.length > 1)), 'expected encoders of one draw', encoders);
  const all = new Map(samples.map((asked) => [keyOf(encoders, asked), asked]));
  const areAll = !isSome || canonical(Object.keys(channels).sort()) === canonical([...all.keys()].sort());
  must(areAll, 'expected a channel for each sort of questions that are asked', channels);
  const [ratios, each] = [[], []];
  for (const asked of all.values()) {
    const law = lawOf(joint, asked);
    part('channel', { pattern }, law);
    const own = asked.map((place) => parts[place]);
    must(String(own.flat()) === String(law.inputs), 'channel must take what encoders give', encoders);
    const places = range(law.inputs.length);
    ratios.push(pattern.ratio(law));
    each.push(...own.map((inputs) => pattern.ratio(law, places.splice(0, inputs.length))));
  }
  states(joint, 'ratio', ratios.reduce(larger));
  states(joint, 'each', each.reduce(larger));
  return [ln(fraction('ratio', joint.ratio)), ln(fraction('each', joint.each))];
}

/** Draws the reports of several values together: empty ones of questions not at `asked` places. */
export function randomizeTogether(values, joint, words, asked = range(values.length)) {
  const coders = joint.encoders.map((e) => [ENCODERS[e.name], e]);
  const inputs = asked.map((place) => coders[place][0].states(values[place], coders[place][1]));
  const sets = pattern.randomize(inputs.flat(), lawOf(joint, asked), words);
  const reports = values.map(() => []);
  asked.forEach((place, at) => { reports[place] = coders[place][0].joined(sets.splice(0, inputs[at].length)); });
  return reports;
}

/** ε over any number of waves, if the answer never changes; undefined if there is no memory. */
export const forever = (randomizer) =>
  randomizer.permanent && ln(fraction('forever', randomizer.forever));
/** The probability but for which ε holds; 0 if it always does. */
export const delta = (randomizer) =>
  ('delta' in randomizer ? asNumber(fraction('delta', randomizer.delta)) : 0);

/**
 * What so many reports cost together, in millionths of ε: `stable` if answers never change, and by
 * which protocol of memories.
 */
export function spent({ encoder, permanent, channel, ratio }, reports, stable, protocol) {
  if (!permanent) return reports * micro(fraction('ratio', ratio));
  const apart = ENCODERS[encoder.name].apart?.(encoder);
  if (stable) return micro(KEPT[permanent.name].constant(permanent, channel, reports, apart));
  return worstCost(permanent, channel, reports, apart, protocol);
}

/** What must be known of a value before it is drawn: what the device keeps, and a text's hash. */
export async function remember(value, { encoder, permanent }, memory, words) {
  const { cohorts, keepsCohort, encode } = ENCODERS[encoder.name];
  if (!permanent && !Object.hasOwn(TEXTS, encoder.name)) return undefined;
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
  // Public, and drawn before the value is looked at.
  const cohort = kept?.cohort ?? (cohorts ? below(cohorts(encoder), words) : 0);
  const symbol = kept ? kept.symbol : encode(value, encoder, cohort, words);
  const report = CHANNELS[channel.name].randomize(symbol, channel, words);
  return cohorts ? { cohort, report } : report;
}
