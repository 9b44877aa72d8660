/** Kinds of questions: what the value of an answer is. Counterpart of analysis/kinds/. */
import * as choice from './kinds/choice.js';
import * as choices from './kinds/choices.js';
import * as number from './kinds/number.js';
import * as rank from './kinds/rank.js';
import * as text from './kinds/text.js';

/** Every kind by its name in the survey. A yes-no and a scale are choices of one. */
export const KINDS = { 'yes-no': choice, choice, choices, scale: choice, number, rank, text };
