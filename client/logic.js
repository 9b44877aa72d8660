/** Conditions of shows_if, decided here on the device: the lists that analysis/survey/logic.py makes. */
import { must } from './exact.js';
import { isNote } from './kinds.js';

const compare = {
  '=': (a, b) => a === b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
};

/** Whether a condition holds; '' is no answer. @throws {RangeError} if it is none on answers */
export function holds(tree, answers) {
  const [operator, ...rest] = Array.isArray(tree) ? tree : [];
  if (['and', 'or', 'not'].includes(operator)) {
    const parts = rest.map((part) => holds(part, answers));
    must(operator === 'not' ? parts.length === 1 : parts.length, 'expected parts', tree);
    if (operator === 'not') return !parts[0];
    return operator === 'and' ? parts.every(Boolean) : parts.some(Boolean);
  }
  const [question, value] = rest;
  const isText = typeof value === 'string';
  const known = isText ? ['=', '!=', 'selected'] : ['!=', ...Object.keys(compare)];
  const isKnown = known.includes(operator) && (isText || Number.isFinite(value));
  const isEarlier = rest.length === 2 && Object.keys(answers).includes(question);
  must(isKnown && isEarlier, 'expected a condition on earlier questions', tree);
  if (operator === '!=') return !holds(['=', question, value], answers);
  const answer = answers[question];
  if (operator === 'selected') return (answer || 'no-answer').split('|').includes(value);
  if (isText) return (answer || 'no-answer') === value;
  return answer !== '' && compare[operator](Number(answer), value);
}

/** The entries of a survey that are asked, rather than only read. */
export const asked = ({ questions }) => questions.filter((entry) => !isNote(entry));

/** The ids of the questions and notes that are seen, given the answers so far; none of `unasked`. */
export function visible(survey, answers) {
  const counted = {};
  const seen = survey.questions.filter(({ id, shows_if: condition }) => {
    const isSeen = !survey.unasked?.has(id) && (!condition || holds(condition, counted));
    counted[id] = isSeen ? answers[id] : '';
    return isSeen;
  });
  return new Set(seen.map(({ id }) => id));
}

/** The answers that count: those of questions that are not seen become no answer. */
export function shown(survey, answers) {
  const seen = visible(survey, answers);
  return Object.fromEntries(asked(survey).map(({ id }) => [id, seen.has(id) ? answers[id] : '']));
}
