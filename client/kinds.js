/** Kinds of questions: what the value of an answer is. Counterpart of analysis/kinds/. */
import * as choice from './kinds/choice.js';
import * as choices from './kinds/choices.js';
import * as number from './kinds/number.js';
import * as rank from './kinds/rank.js';
import * as text from './kinds/text.js';

/**
 * Every kind by its name. Of each: `value` of an answer as form controls hold it, which refuses
 * what is none; `fits`, whether an encoder maps each answer, and nothing else, to an input.
 */
export const KINDS = { 'yes-no': choice, choice, choices, scale: choice, number, rank, text };
