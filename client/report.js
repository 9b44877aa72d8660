/**
 * From answers to the frozen report: here true answers end. What `draw` returns holds none, is
 * drawn once, and is text from then on: stored, sent and sent again as the same bytes.
 */
import { KINDS } from './kinds.js';
import { shown } from './logic.js';
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
  for (const question of survey.questions) {
    const epsilon = verify(randomizers[question.id]);
    // Logarithms differ by an ulp between languages, hence the tolerances.
    if (!(epsilon <= question.epsilon + 1e-9)) {
      throw new RangeError(`"${question.id}" expected ε of ${question.epsilon}, got ${epsilon}`);
    }
    if (!(delta(randomizers[question.id]) <= (question.delta ?? 0) + 1e-15)) {
      throw new RangeError(`"${question.id}" expected δ of at most ${question.delta ?? 0}`);
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
