/** Questions that are drawn together: what is asked, both limits, and the draw of their reports. */
import { chooser, drawSet, spread } from '../channels.js';
import { ENCODERS } from '../encoders.js';
import { below, byWeight, choose, chosenAt, larger, ln, must, range, sum } from '../exact.js';
import { canonical, memoryOf } from '../hashes.js';
import { KINDS } from '../kinds.js';
import { asked } from '../logic.js';
import { fraction, part, states } from '../randomizer.js';
import { together, TOLERANCE } from '../report.js';

/**
 * Several answers in one draw: weights decide which parts, or how many, do not agree; then each
 * part's set is drawn. It is no channel of a single question, so it is not one of `CHANNELS`.
 */
export const pattern = {
  fields: { inputs: 1, sizes: 1, weights: 1 },
  mostParts: 12,
  mostInputs: 1024,
  /** The largest sum that is exact, and that two words draw from. */
  most: Number.MAX_SAFE_INTEGER,
  isSound: ({ inputs, sizes, weights }) => inputs.length === sizes.length &&
    inputs.length <= pattern.mostParts && Math.max(...inputs) <= pattern.mostInputs && sizes.every((size, part) => size < inputs[part]) &&
    [inputs.length + 1, 2 ** inputs.length].includes(weights.length),
  total: (c) => sum(c.weights),
  isByNumber: ({ inputs, weights }) => weights.length === inputs.length + 1,
  /** The chance of a report by the pattern's number: its bit i says that part i does not agree. */
  likelihoods(c) {
    const d = c.inputs.length;
    return range(2 ** d).map((place) => {
      const others = range(d).filter((part) => (place >> part) % 2);
      const sets = (part) => choose(c.inputs[part] - 1, c.sizes[part] - (others.includes(part) ? 0 : 1));
      const cells = range(d).reduce((product, part) => product * sets(part), 1n);
      return pattern.isByNumber(c)
        ? [BigInt(c.weights[others.length]), cells * choose(d, others.length)]
        : [BigInt(c.weights[place]), cells];
    });
  },
  /** The worst ratio of two rows of answers that differ in the parts `changed` at most. */
  ratio(c, changed = range(c.inputs.length)) {
    const mask = changed.reduce((bits, part) => bits | (1 << part), 0);
    const known = {};
    pattern.likelihoods(c).forEach((chance, place) => {
      known[place & ~mask] = [...known[place & ~mask] ?? [], chance];
    });
    return Object.values(known).map(spread).reduce(larger);
  },
  randomize(symbols, c, words) {
    const d = c.inputs.length;
    must(symbols.length === d, `expected ${d} inputs`, symbols.length);
    const place = byWeight(c.weights, words);
    const isOther = pattern.isByNumber(c)
      ? range(d).map(chooser(place, d, words)) : range(d).map((part) => (place >> part) % 2 === 1);
    return symbols.map((symbol, part) =>
      drawSet(c.inputs[part], c.sizes[part], symbol, !isOther[part], words));
  },
};

/** The ids of the questions that a condition refers to. */
const askedOf = ([operator, ...rest]) =>
  (['and', 'or', 'not'].includes(operator) ? rest.flatMap(askedOf) : [rest[0]]);

/**
 * All sets of a table's questions that can be asked together, by their places: all questions, or
 * `ask` of them. A question comes with those on whose answers it depends.
 */
export function samplesOf(survey, { questions, ask = questions.length }) {
  const conditions = questions.map((name) => survey.questions.find(({ id }) => id === name).shows_if);
  const needed = conditions.map((tree) => (tree ? askedOf(tree) : []).map((id) => questions.indexOf(id)));
  return range(Number(choose(questions.length, ask)))
    .map((place) => chosenAt(place, questions.length, ask))
    .filter((chosen) => chosen.every((one) => needed[one].every((id) => id < 0 || chosen.includes(id))));
}

/** Which questions are asked, if not all are: for each, the place of the first like it. */
const keyOf = (encoders, asked) =>
  String(asked.map((place) => encoders.map(canonical).indexOf(canonical(encoders[place]))));

/** The channel by which the asked questions are drawn. */
const lawOf = ({ encoders, channel, channels }, asked) => channel ?? channels[keyOf(encoders, asked)];

/**
 * Checks what came from the server for several questions that are drawn together, of which one of
 * `samples` is asked. Gives ε of one report on all, and of one answer if all others are known.
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

/** Checks that questions are drawn together within both limits that are stated, and fit. */
function check(survey, table, randomizers) {
  const { id, questions, ask, epsilon: total, epsilon_each: each } = table;
  const places = questions.map((name) => asked(survey).findIndex((other) => other.id === name));
  const areAll = places.every((place) => place >= 0) && new Set(places).size === places.length;
  must(areAll && Object.keys(randomizers).includes(id), `"${id}" expected questions, each once`, questions);
  const joint = randomizers[id];
  must([total, each].every(Number.isFinite), `"${id}" expected two limits`, total, each);
  const isSome = Number.isInteger(ask) && ask >= 2 && ask < questions.length && questions.length <= pattern.mostParts;
  must(ask === undefined || isSome, `"${id}" expected to ask some of its questions`, ask);
  const samples = samplesOf(survey, table);
  const isAsked = (_, place) => samples.some((chosen) => chosen.includes(place));
  must(questions.every(isAsked), `"${id}" expected to ask each question of somebody`);
  must(joint?.encoders?.length === questions.length, `"${id}" expected an encoder for each question`);
  const [epsilon, most] = verifyTogether(joint, samples);
  must(epsilon <= total + TOLERANCE, `"${id}" expected ε of ${total}`, epsilon);
  must(most <= each + TOLERANCE, `"${id}" expected ε of ${each} for each answer`, most);
  places.map((place) => asked(survey)[place]).forEach((question, part) => {
    const values = KINDS[question.kind]?.values(question);
    const isOne = question.epsilon === each && !('epsilon_forever' in question) &&
      !('memory' in question) && !question.stable;
    const encoder = joint.encoders[part];
    const fits = values && ENCODERS[encoder.name].fits(encoder, values, question.no_answer);
    must(isOne && fits, `"${question.id}" expected a part of "${id}" that fits its answers`);
  });
}

/**
 * The ids of the questions that a device is not asked in a wave. They follow from its key, so that
 * they are the same after a reload; nothing of an answer goes into them, and the report shows them.
 */
async function unasked({ survey, wave }, key) {
  const all = await Promise.all(survey.together.filter(({ ask }) => ask).map(async (table) => {
    const samples = samplesOf(survey, table);
    const memory = memoryOf(key, survey.id, table.id, new Uint8Array(32));
    const place = await memory('asked', wave, 0, (words) => below(samples.length, words));
    return table.questions.filter((_, one) => !samples[place].includes(one));
  }));
  return new Set(all.flat());
}

/** The reports on a table's questions, of what is known of each answer. */
function reportsOf(joint, parts, words) {
  const places = range(parts.length).filter((place) => parts[place].isAsked);
  return randomizeTogether(parts.map(({ value }) => value), joint, words, places);
}

Object.assign(together, { check, samplesOf, unasked, reportsOf });
