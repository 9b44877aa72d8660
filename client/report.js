/**
 * From answers to the frozen report: here true answers end. What `draw` returns holds none, is
 * drawn once, and is text from then on: stored and sent as the same bytes.
 */
import { CHANNELS } from './channels.js';
import { ENCODERS } from './encoders.js';
import { must } from './exact.js';
import { canonical, digestOf, memoryOf, toHex } from './hashes.js';
import { domain, isNote, KINDS } from './kinds.js';
import { asked, holds, shown } from './logic.js';
import { forever, randomize, remember, spent, stated, verify } from './randomizer.js';

/**
 * What optional/together.js adds, for questions that are drawn together: `check` of a table,
 * `samplesOf` its questions, which are `unasked`, and `reportsOf` them.
 */
export const together = {};

/** A report that can no longer change: the request's body, as text. */
export class FrozenReport {
  constructor(text) {
    this.text = text;
    Object.freeze(this);
  }

  get content() {
    return JSON.parse(this.text);
  }
}

/** With a larger δ, reports of the first format would not be private. */
const LARGEST_DELTA = 0.01;
/** Logarithms differ by an ulp between languages. */
export const TOLERANCE = 1e-9;
/** Keys of a question that are in the first protocol's digest. */
const MAPPING = ['kind', 'no_answer', 'options', 'at_most', 'min', 'max', 'longest'];
/** Keys of a question, and of a note, that give answers no meaning; the reference says why. */
const WITHOUT_MEANING = [
  'new_page', 'section', 'slider', 'epsilon', 'epsilon_forever', 'mechanism', 'memory',
  'aim', 'prior', 'letters', 'reason', 'random_order',
];
const OF_NOTES = ['id', 'kind', 'new_page', 'section'];

/** What is kept under an id must not be another's. */
function checkId(id, others) {
  const isId = typeof id === 'string' && /^[a-z0-9][a-z0-9-]{0,63}$/.test(id);
  must(isId && !others.includes(id), 'expected a new id, of at most 64 of a-z, 0-9 and -', id);
}

/** Checks that each answer, and being hidden, has a value. */
function checkAnswers({ id, kind, options = [], no_answer, required, shows_if: condition }) {
  const ids = ['', 'no-answer', ...KINDS[kind]?.reserved ?? [], ...options.map(({ id }) => id)];
  const differ = ids.every((one) => typeof one === 'string') && new Set(ids).size === ids.length;
  const hasPlace = no_answer === true || (no_answer === false && required === true && !condition);
  must(differ && hasPlace, `"${id}" expected other options, and no answer among them`);
}

/** Checks that a question spends what it states, in one wave and, with a memory, in all. */
function checkSpends({ id, stable = false, memory, shows_if: condition, ...limits }, randomizer) {
  const [epsilon, all] = [verify(randomizer, Math.min(limits.delta ?? 0, LARGEST_DELTA)), forever(randomizer)];
  const isMost = epsilon <= limits.epsilon + TOLERANCE;
  must(isMost, `"${id}" expected ε of ${limits.epsilon}`, epsilon);
  const lasting = limits.epsilon_forever;
  const isLasting = all === undefined ? lasting === undefined : all <= lasting + TOLERANCE;
  must(isLasting, `"${id}" expected ε of ${lasting} over all waves`, all);
  const isKnown = memory === undefined || (memory === 2 && all !== undefined);
  must(isKnown, `"${id}" expected memory 2, or none`, memory);
  const isStable = stable === true && all !== undefined && !condition;
  must(stable === false || isStable, `"${id}" expected a memory, and no condition, if stable`);
}

/** The tables of questions that are drawn together, if a survey has any. */
const tablesOf = ({ together = [] }) => together;

/** What is drawn as one, by its id, in order: a question, or those of a table. */
function drawsOf(survey) {
  const tableOf = (id) => tablesOf(survey).find(({ questions }) => questions.includes(id));
  return new Map(asked(survey).map((question) => {
    const table = tableOf(question.id);
    const inTable = (id) => asked(survey).find((other) => other.id === id);
    return table ? [table.id, table.questions.map(inTable)] : [question.id, [question]];
  }));
}

/** Whether a draw is that of a table. */
const isJoint = ({ encoders }) => encoders !== undefined;

/** Checks that a survey's randomizers are sound, and fit their questions. */
export function check(survey, randomizers) {
  checkId(survey.id, []);
  const [ids, earlier] = [[], {}];
  const inTables = tablesOf(survey).flatMap(({ questions }) => questions);
  must(new Set(inTables).size === inTables.length, 'expected each question in one table', inTables);
  for (const question of survey.questions) {
    const { id, kind, shows_if: condition } = question;
    checkId(id, ids);
    ids.push(id);
    if (condition !== undefined) holds(condition, earlier);
    const isDrawn = Object.keys(randomizers).includes(id);
    const isAlone = !isNote(question) && !inTables.includes(id);
    must(isDrawn === isAlone, `"${id}" expected a randomizer, or to be a note or of a table`);
    if (isNote(question)) continue;
    earlier[id] = '';
    checkAnswers(question);
    if (!isAlone) continue;
    checkSpends(question, randomizers[id]);
    const { encoder } = randomizers[id];
    const values = KINDS[kind]?.values(question);
    const fits = values && ENCODERS[encoder.name].fits(encoder, values, question.no_answer);
    must(fits, `"${id}" expected an encoder that fits its answers`);
  }
  for (const table of tablesOf(survey)) {
    checkId(table.id, ids);
    ids.push(table.id);
    together.check(survey, table, randomizers);
  }
}

/** How a question's memory is kept and priced; 1 of surveys that were frozen without a name. */
const protocolOf = ({ memory = 1 }) => memory;

/** The digest by the first protocol: it knows options by their ids alone. */
function firstDigestOf(question, randomizer) {
  const { options, stable = false } = question;
  const keys = [...MAPPING, ...(stable ? ['text', 'matrix'] : [])].filter((key) => key in question);
  const parts = Object.fromEntries(keys.map((key) => [key, question[key]]));
  if (options) parts.options = options.map((option) => option.id);
  return digestOf({ randomizer, stable, asked: parts });
}

const without = (entry, keys) =>
  Object.fromEntries(Object.entries(entry).filter(([key]) => !keys.includes(key)));

const isSame = (one, other) => canonical(one) === canonical(other);

/** What stands above a question: the heading in force, notes under it, and its matrix' help. */
function above({ questions }, { id, matrix }) {
  const place = questions.findIndex((entry) => entry.id === id);
  let found = { notes: [] };
  for (const entry of questions.slice(0, place + 1)) {
    const { section = found.section } = entry;
    if (section !== undefined && !isSame(section, found.section)) found = { section, notes: [] };
    if (isNote(entry)) found.notes.push(without(entry, OF_NOTES));
  }
  let first = place;
  while (matrix && first > 0 && isSame(questions[first - 1].matrix, matrix)) first -= 1;
  const { help } = questions[first];
  return first < place && help !== undefined ? { ...found, help } : found;
}

/** SHA-256 of all that gives an answer its meaning, and of the randomizer. */
const meaningOf = (survey, question, randomizer) => digestOf({
  memory: 2, randomizer, asked: without(question, WITHOUT_MEANING), above: above(survey, question),
});

/** What a question's permanent draws belong to. */
const digestOfQuestion = (survey, question, randomizer) => (protocolOf(question) === 1
  ? firstDigestOf(question, randomizer) : meaningOf(survey, question, randomizer));

/** What so many reports of a memory cost, and if no answer ever changed; `times` are as below. */
function totals({ question, randomizer, memory }, used, times) {
  // Whoever can skip a question can change to no answer and back.
  const stable = question.stable && !question.no_answer;
  const meanings = Object.keys(times).filter((key) => key.startsWith(`${memory}/`));
  // With a second meaning, the same fact can have been another input.
  const cost = (isConstant) =>
    spent(randomizer, used, isConstant && meanings.length < 2, protocolOf(question));
  return { cost: cost(stable), constant: cost(true) };
}

/** All that a survey draws as one, each with the key of its memory, and all keys that count it. */
const pricedOf = ({ survey, randomizers }) =>
  Promise.all([...drawsOf(survey)].map(async ([id, questions]) => {
    const randomizer = randomizers[id];
    const [question] = questions;
    // Nothing is remembered, and no memory has such a key: memories have a colon.
    if (isJoint(randomizer)) return { question: {}, randomizer, memory: `:${id}`, keys: [] };
    const memory = `${question.id}:${toHex(await digestOfQuestion(survey, question, randomizer))}`;
    const meaning = toHex(await meaningOf(survey, question, randomizer));
    const both = protocolOf(question) === 1 ? [memory, `${memory}/${meaning}`] : [memory];
    return { question, randomizer, memory, keys: randomizer.permanent ? both : [] };
  }));

/**
 * What one more wave costs, whatever is answered: a function of the times that each memory was used
 * before. It gives the cost in millionths of ε, and if answers are constant; and the times then.
 *
 * By the first protocol questions with other labels can share a memory. So the times of each
 * meaning are kept, too, under the memory, a slash and the meaning. Waves that were answered before
 * these were kept are taken to have meant the same.
 *
 * `settled` is a record that was charged too little by `earlier` versions, once that is charged, or
 * if it `isPaid`, since this program charges what a wave costs.
 */
export async function priceOf(survey, randomizers, earlier = []) {
  const versions = await Promise.all([{ survey, randomizers }, ...earlier].map(pricedOf));
  const [priced] = versions;
  const price = (before) => {
    const found = { cost: 0, constant: 0, times: { ...before } };
    for (const one of priced) {
      const used = before[one.memory] ?? 0;
      for (const key of one.keys) found.times[key] = (before[key] ?? 0) + 1;
      const [then, now] = [totals(one, used, before), totals(one, used + 1, found.times)];
      found.cost += now.cost - then.cost;
      found.constant += now.constant - then.constant;
    }
    return found;
  };
  price.settled = (memo, isPaid) =>
    (stated.settled ? stated.settled(memo, versions, totals, isPaid) : memo);
  return price;
}

/** The ids of the questions that a device is not asked in a wave; they follow from its key. */
export const unaskedOf = async (open, key) =>
  (open.survey.together ? together.unasked(open, key) : new Set());

/** What must be known of each answer before it is drawn; never stored. */
export async function prepare({ survey, randomizers }, answers, key, words) {
  const counted = shown(survey, answers);
  const prepared = {};
  for (const question of asked(survey)) {
    const { id, kind } = question;
    const isAsked = !survey.unasked?.has(id);
    const value = isAsked ? KINDS[kind].value(counted[id], question) : undefined;
    prepared[id] = { value, isAsked };
    if (!Object.keys(randomizers).includes(id)) continue;
    const digest = await digestOfQuestion(survey, question, randomizers[id]);
    const memory = memoryOf(key, survey.id, id, digest);
    prepared[id].kept = await remember(value, randomizers[id], memory, words);
  }
  return prepared;
}

/** The reports of what is drawn as one. */
function reportsOf(questions, randomizer, prepared, words) {
  const parts = questions.map(({ id }) => prepared[id]);
  if (isJoint(randomizer)) return together.reportsOf(randomizer, parts, words);
  return parts.map(({ value, kept }) => randomize(value, randomizer, words, kept));
}

/** Draws the report of every question. `who` has random ids, and a pseudonym. */
export function draw({ version, wave, survey, randomizers }, prepared, who, words) {
  const reports = {};
  for (const [id, questions] of drawsOf(survey)) {
    const made = reportsOf(questions, randomizers[id], prepared, words);
    questions.forEach((question, part) => { reports[question.id] = made[part]; });
  }
  return new FrozenReport(JSON.stringify({ version, wave, ...who, reports }));
}

/**
 * So many reports of a made-up answer, each as a device would draw it whose key `newKey` makes. If
 * others are drawn with it, they have their first answers: its reports do not depend on them.
 */
export async function trial({ survey: whole, randomizers }, question, answer, newKey, words, count) {
  const isIt = (other) => other.id === question.id;
  const [id, drawn] = [...drawsOf(whole)].find(([, questions]) => questions.some(isIt));
  const questions = drawn.map((other) => ({ ...other, shows_if: undefined }));
  const table = tablesOf(whole).find((other) => other.id === id);
  const survey = { id: whole.id, questions, together: table && [table] };
  const place = drawn.findIndex(isIt);
  const chosen = table && together.samplesOf(survey, table).find((all) => all.includes(place));
  const unasked = drawn.filter((_, other) => chosen && !chosen.includes(other));
  survey.unasked = new Set(unasked.map((other) => other.id));
  const open = { survey, randomizers: { [id]: randomizers[id] } };
  const answers = Object.fromEntries(drawn.map((other) => [other.id, isIt(other) ? answer : domain(other)[0]]));
  const reports = [];
  while (reports.length < count) {
    const prepared = await prepare(open, answers, await newKey(), words);
    reports.push(draw(open, prepared, {}, words).content.reports[question.id]);
  }
  return reports;
}

/**
 * What a report says, for people, to one who gave this answer: `ids` of options that it names; or
 * the `number` that it speaks for most, and if that `isEnd` of the range; or whether it `supports`
 * the answer, and others, too.
 */
export async function meaning(report, question, randomizers, answer) {
  const { kind, id, min, max } = question;
  const { names, value } = KINDS[kind];
  const nameOf = (place) => names(question)[place];
  if (!Object.keys(randomizers).includes(id)) {
    // A joint report is a set of options, or bits that say which of several options are ticked.
    const places = Array.isArray(report) ? report : CHANNELS.bits.placesOf(report);
    return { ids: places.map(nameOf) };
  }
  const { encoder, channel } = randomizers[id];
  const { cohorts, namesValue, isNumber, encode } = ENCODERS[encoder.name];
  const { cohort = 0, report: drawn } = cohorts ? report : { report };
  const places = CHANNELS[channel.name].placesOf(drawn, channel);
  if (namesValue) return { ids: places.map(nameOf) };
  if (isNumber) {
    const { steps } = encoder;
    if (places[0] > steps) return { ids: ['no-answer'] };
    const [low, high] = [places[0], Math.min(Math.max(...places), steps)].map((place) => place / steps);
    return { number: min + ((low + high) / 2) * (max - min), isEnd: steps === 1 };
  }
  const given = [await encode(value(answer, question), encoder, cohort)].flat();
  const hits = given.filter((place) => places.includes(place)).length;
  // The report has a larger part of the answer's inputs than of all inputs.
  return { supports: hits * channel.inputs > given.length * places.length };
}
