/**
 * Conditions of shows_if, decided here on the device. The syntax tree is lists, operator first;
 * analysis/logic.py parses and describes it. The answer of a hidden or skipped question is ''.
 */
const compare = {
  '=': (a, b) => a === b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
};

/**
 * @param {Array} tree
 * @param {Object<string, string>} answers
 * @returns {boolean} whether the condition holds
 */
export function holds(tree, answers) {
  const [operator, ...rest] = tree;
  if (operator === 'not') return !holds(rest[0], answers);
  if (operator === 'and') return rest.every((part) => holds(part, answers));
  if (operator === 'or') return rest.some((part) => holds(part, answers));
  const [question, value] = rest;
  if (operator === '!=') return !holds(['=', question, value], answers);
  const answer = answers[question];
  if (operator === 'selected') return (answer || 'no-answer').split('|').includes(value);
  if (typeof value === 'string') return (answer || 'no-answer') === value;
  return answer !== '' && compare[operator](Number(answer), value);
}

/**
 * Whether a tree is a condition on earlier questions, so that `holds` cannot fail.
 * @param {*} tree
 * @param {string[]} earlier ids
 * @returns {boolean}
 */
export function isCondition(tree, earlier) {
  if (!Array.isArray(tree)) return false;
  const [operator, ...rest] = tree;
  if (operator === 'and' || operator === 'or') {
    return rest.length > 0 && rest.every((part) => isCondition(part, earlier));
  }
  if (operator === 'not') return rest.length === 1 && isCondition(rest[0], earlier);
  const [question, value] = rest;
  const compares = operator === '!=' || Object.hasOwn(compare, operator);
  const fits = typeof value === 'string'
    ? ['=', '!=', 'selected'].includes(operator) : compares && Number.isFinite(value);
  return rest.length === 2 && earlier.includes(question) && fits;
}

/**
 * The questions that are asked, given the answers so far.
 * @param {object} survey
 * @param {Object<string, string>} answers one for each question, as its form control holds it
 * @returns {Set<string>} their ids
 */
export function visible(survey, answers) {
  const kept = {};
  const ids = new Set();
  for (const { id, shows_if: condition } of survey.questions) {
    const asked = !condition || holds(condition, kept);
    if (asked) ids.add(id);
    kept[id] = asked ? answers[id] : '';
  }
  return ids;
}

/** The answers that count: those of questions that are not asked become no answer. */
export function shown(survey, answers) {
  const asked = visible(survey, answers);
  const entries = survey.questions.map(({ id }) => [id, asked.has(id) ? answers[id] : '']);
  return Object.fromEntries(entries);
}
