/** Kinds of questions: what the value of an answer is. Counterpart of analysis/kinds/. */
import * as choice from './kinds/choice.js';
import * as number from './kinds/number.js';

/** Every kind by its name in the survey. */
export const KINDS = { 'yes-no': choice, choice, number };
