/**
 * From answers to the frozen report: here true answers end. What `draw` returns holds none, is
 * drawn once, and is text from then on: stored, sent and sent again as the same bytes.
 */
import { toHex } from './hex.js';
import { KINDS } from './kinds.js';
import { isCondition, shown } from './logic.js';
import { memoryOf } from './memory.js';
import { delta, forever, randomize, remember, spent, verify } from './randomizer.js';
import { digestOf } from './version.js';

/** A report that can no longer change. */
export class FrozenReport {
  /** @param {string} text the request's body */
  constructor(text) {
    this.text = text;
    Object.freeze(this);
  }

  /** @returns {object} what it says */
  get content() {
    return JSON.parse(this.text);
  }

  /**
   * The same report with another invitation, of which it tells nothing.
   * @param {string} token
   * @returns {FrozenReport}
   */
  withToken(token) {
    return new FrozenReport(JSON.stringify({ ...this.content, token }));
  }
}

/** Larger ones are refused: a report would too often tell its answer outright. */
const LARGEST_DELTA = 0.01;

/** What is kept and derived under an id must be another's under no other. */
function checkId(id) {
  if (typeof id === 'string' && /^[a-z0-9][a-z0-9-]{0,63}$/.test(id)) return;
  throw new RangeError('"id" expected at most 64 of a-z, 0-9 and -, not starting with -');
}

/**
 * Checks that every answer to a question has a value. If one had none, its report would be
 * missing, and that would tell the answer.
 * @param {object} question
 * @param {string[]} earlier ids of the questions before it
 * @throws {RangeError} if an answer, or being hidden, has no value
 */
function checkQuestion(question, earlier) {
  const { id, options = [], shows_if: condition, no_answer: skips } = question;
  checkId(id);
  const ids = options.map((option) => option.id);
  const distinct = new Set(ids).size === ids.length && !earlier.includes(id);
  const clean = ids.every((one) => typeof one === 'string' && !['', 'no-answer'].includes(one));
  if (!distinct || !clean || typeof skips !== 'boolean') {
    throw new RangeError(`"${id}" expected ids that differ, and to know of no answer`);
  }
  if (condition !== undefined && (skips !== true || !isCondition(condition, earlier))) {
    throw new RangeError(`"${id}" expected a condition on earlier questions, and no answer if hidden`);
  }
  if (!skips && question.required !== true) {
    throw new RangeError(`"${id}" expected to be required, since it has no place for no answer`);
  }
}

/** Checks that what a question states of its ε over all waves is so. */
function checkForever(question, randomizer) {
  const { id, stable = false, epsilon_forever: stated, shows_if: condition } = question;
  const all = forever(randomizer);
  if ((all === undefined) !== (stated === undefined) || all > stated + 1e-9) {
    throw new RangeError(`"${id}" expected ε of ${stated} over all waves, got ${all}`);
  }
  if (typeof stable !== 'boolean' || (stable && (all === undefined || condition))) {
    throw new RangeError(`"${id}" expected to be stable only with a memory, and always asked`);
  }
}

/**
 * Checks the randomizers of a survey.
 * @param {object} survey
 * @param {Object<string, object>} randomizers
 * @throws {RangeError} if a randomizer is unsound, does not fit the answers of its question, or
 *   spends more than it states
 */
export function check(survey, randomizers) {
  checkId(survey.id);
  const earlier = [];
  for (const question of survey.questions) {
    const { id } = question;
    checkQuestion(question, earlier);
    earlier.push(id);
    const epsilon = verify(randomizers[id]);
    // Logarithms differ by an ulp between languages, hence the tolerances.
    if (!(epsilon <= question.epsilon + 1e-9)) {
      throw new RangeError(`"${id}" expected ε of ${question.epsilon}, got ${epsilon}`);
    }
    const stated = Math.min(question.delta ?? 0, LARGEST_DELTA);
    const tells = delta(randomizers[id]);
    // Without a stated δ, not even the rounding of one is let through.
    if (!(tells <= stated * (1 + 1e-9)) || (tells > 0 && !stated)) {
      throw new RangeError(`"${id}" expected δ of at most ${stated}, got ${tells}`);
    }
    checkForever(question, randomizers[id]);
    if (!KINDS[question.kind].fits(question, randomizers[id].encoder)) {
      throw new RangeError(`"${id}" expected an encoder that fits its answers`);
    }
  }
}

/** Keys of a question that its answers' inputs depend on. */
const MAPPING = ['kind', 'no_answer', 'options', 'at_most', 'min', 'max', 'longest'];

/** SHA-256 of a question's compiled randomizer, and of what makes an answer one of its inputs. */
function digestOfQuestion(question, randomizers) {
  const { id, text, options, stable = false } = question;
  const entries = MAPPING.filter((key) => key in question).map((key) => [key, question[key]]);
  const asked = Object.fromEntries(entries);
  if (options) asked.options = options.map((option) => option.id);
  if (stable) asked.text = text;
  return digestOf({ randomizer: randomizers[id], stable, asked });
}

/**
 * What one more wave costs, computed from the weights, whatever is answered.
 * @param {object} survey
 * @param {Object<string, object>} randomizers that `check` has passed
 * @returns {Promise<function(Object<string, number>): {cost: number, constant: number,
 *   times: Object<string, number>}>} from how often each memory was used before to what a wave
 *   costs, and what it would if no answer ever changed, in millionths of ε; and to how often then
 */
export async function priceOf(survey, randomizers) {
  const memos = await Promise.all(
    survey.questions.map(async (question) => {
      if (!randomizers[question.id].permanent) return null;
      return `${question.id}:${toHex(await digestOfQuestion(question, randomizers))}`;
    }),
  );
  return (before) => {
    const found = { cost: 0, constant: 0, times: { ...before } };
    for (const [place, { id, stable = false }] of survey.questions.entries()) {
      const times = (memos[place] && before[memos[place]]) || 0;
      const total = (n, assumed) => spent(randomizers[id], n, assumed);
      const more = (assumed) => total(times + 1, assumed) - total(times, assumed);
      found.cost += more(stable);
      found.constant += more(true);
      if (memos[place]) found.times[memos[place]] = times + 1;
    }
    return found;
  };
}

/**
 * What must be known of each answer before it is drawn.
 * @param {{survey: object, randomizers: object}} open
 * @param {Object<string, string>} answers one for each question, as its form control holds it
 * @param {CryptoKey} key the device's
 * @param {import('./draw.js').Words} words
 * @returns {Promise<Object<string, object>>} for `draw`, never stored: it holds answers
 */
export async function prepare({ survey, randomizers }, answers, key, words) {
  const counted = shown(survey, answers);
  const prepared = {};
  for (const question of survey.questions) {
    const { id, kind } = question;
    const value = KINDS[kind].value(counted[id], question);
    const digest = await digestOfQuestion(question, randomizers);
    const memory = memoryOf(key, survey.id, id, digest);
    const kept = await remember(value, randomizers[id], memory, words);
    prepared[id] = { value, kept };
  }
  return prepared;
}

/**
 * Draws the report of every question, once.
 * @param {{version: string, wave: number, survey: object, randomizers: object}} open
 * @param {Object<string, object>} prepared of `prepare`
 * @param {{rid: string, respondent: string}} who random, and a pseudonym for this survey alone
 * @param {import('./draw.js').Words} words
 * @returns {FrozenReport}
 */
export function draw({ version, wave, survey, randomizers }, prepared, who, words) {
  const reports = {};
  for (const { id } of survey.questions) {
    const { value, kept } = prepared[id];
    reports[id] = randomize(value, randomizers[id], words, kept);
  }
  return new FrozenReport(JSON.stringify({ version, wave, ...who, reports }));
}
