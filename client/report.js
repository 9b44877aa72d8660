/**
 * From answers to the frozen report: here true answers end. What `draw` returns holds none, is
 * drawn once, and is text from then on: stored, sent and sent again as the same bytes.
 */
import { KINDS } from './kinds.js';
import { isCondition, shown } from './logic.js';
import { delta, randomize, verify } from './randomizer.js';

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

/**
 * Checks that every answer to a question has a value. If one had none, its report would be
 * missing, and that would tell the answer.
 * @param {object} question
 * @param {string[]} earlier ids of the questions before it
 * @throws {RangeError} if an answer, or being hidden, has no value
 */
function checkQuestion(question, earlier) {
  const { id, options = [], shows_if: condition, no_answer: skips } = question;
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

/**
 * What one wave of a survey costs, computed from the weights.
 * @param {object} survey
 * @param {Object<string, object>} randomizers
 * @returns {number} millionths of ε, each question's rounded up
 * @throws {RangeError} if a randomizer is unsound, does not fit the answers of its question, or
 *   spends more than it states
 */
export function charge(survey, randomizers) {
  let total = 0;
  const earlier = [];
  for (const question of survey.questions) {
    checkQuestion(question, earlier);
    earlier.push(question.id);
    const epsilon = verify(randomizers[question.id]);
    // Logarithms differ by an ulp between languages, hence the tolerances.
    if (!(epsilon <= question.epsilon + 1e-9)) {
      throw new RangeError(`"${question.id}" expected ε of ${question.epsilon}, got ${epsilon}`);
    }
    const stated = Math.min(question.delta ?? 0, LARGEST_DELTA);
    const tells = delta(randomizers[question.id]);
    // Without a stated δ, not even the rounding of one is let through.
    if (!(tells <= stated * (1 + 1e-9)) || (tells > 0 && !stated)) {
      throw new RangeError(`"${question.id}" expected δ of at most ${stated}, got ${tells}`);
    }
    if (!KINDS[question.kind].fits(question, randomizers[question.id].encoder)) {
      throw new RangeError(`"${question.id}" expected an encoder that fits its answers`);
    }
    total += Math.ceil(epsilon * 1e6 - 1e-3);
  }
  return total;
}

/**
 * Draws the report of every question, once.
 * @param {{version: string, wave: number, survey: object, randomizers: object}} open
 * @param {Object<string, string>} answers one for each question, as its form control holds it
 * @param {{rid: string, respondent: string}} who random, and a pseudonym for this survey alone
 * @param {import('./draw.js').Words} words
 * @returns {FrozenReport}
 */
export function draw(open, answers, who, words) {
  const counted = shown(open.survey, answers);
  const reports = {};
  for (const question of open.survey.questions) {
    const value = KINDS[question.kind].value(counted[question.id], question);
    reports[question.id] = randomize(value, open.randomizers[question.id], words);
  }
  return new FrozenReport(JSON.stringify({ version: open.version, wave: open.wave, ...who, reports }));
}
