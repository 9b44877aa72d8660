/** The controls: only here is read, checked and written what is filled in. */
import { KINDS } from '../kinds.js';
import { visible } from '../logic.js';
import { all, one, word } from './dom.js';
import { fieldOf, named, questions, survey } from './questions.js';

const form = one('#answers');
const entryOf = (q) => one('.entry input', fieldOf(q));

/** The items that have a place in a ranking, the first first. */
const orderOf = (q) => all('[data-place]', fieldOf(q)).map(({ dataset }) => dataset)
  .sort((a, b) => a.place - b.place).map(({ item }) => item);

/** A number as typed in any language, as a plain decimal; "1,234" may mean two, and is none. */
function decimal(typed, { step = 1 }) {
  const text = typed.trim().replace(/[٠-٩]/g, (digit) => digit.charCodeAt(0) - 0x660);
  const isUnclear = step >= 0.01 && /^[+-]?[1-9]\d{0,2}[.,٫]\d{3}$/.test(text);
  return isUnclear ? `${text}?` : text.replace(/[,٫]/, '.');
}

/** The answer of a question as its controls hold it, joined by '|' if several; '' for none. */
function answerOf(q) {
  const typed = entryOf(q)?.value;
  if (typed !== undefined) return q.kind === 'number' ? decimal(typed, q) : typed;
  const ticked = all('.option input:checked', fieldOf(q)).map(({ value }) => value);
  return [...orderOf(q), ...ticked].join('|');
}

export const answers = () => Object.fromEntries(questions.map((q) => [q.id, answerOf(q)]));

/** Gives items their places in a ranking, and takes those of all others. */
function arrange(q, order) {
  for (const item of all('[data-item]', fieldOf(q))) {
    const place = order.indexOf(item.dataset.item) + 1;
    item.toggleAttribute('data-place', place > 0);
    if (place) item.dataset.place = place;
    one('.place', item).textContent = place || '–';
    one('.item', item).ariaPressed = place > 0;
    one('.earlier', item).hidden = place < 2;
  }
  one('[data-order]', fieldOf(q)).textContent = order.length ? named(q, order.join('|')) : '';
}

/** A press on an item gives it the next place, or takes its own; "move up" swaps two items. */
function rank(q, button) {
  const { item } = button.closest('[data-item]').dataset;
  const order = orderOf(q);
  const place = order.indexOf(item);
  if (button.matches('.earlier')) order.splice(place - 1, 2, item, order[place - 1]);
  else if (place < 0) order.push(item);
  else order.splice(place, 1);
  arrange(q, order);
  if (button.hidden) one('.item', button.parentElement).focus();
}

/** "None of these" and "prefer not to say" exclude all other ticks. */
function exclude(q, ticked) {
  for (const box of all('.option input', fieldOf(q))) {
    const excludes = 'alone' in ticked.dataset || 'alone' in box.dataset;
    if (box !== ticked && excludes) box.checked = false;
  }
}

/** Brings what stands beside an entry in line: its slider, and candidates that contain it. */
function assist(q) {
  const typed = entryOf(q)?.value ?? '';
  const slider = one('[data-slider]', fieldOf(q));
  if (slider) {
    slider.value = answerOf(q);
    slider.classList.toggle('untouched', typed === '');
    slider.ariaValueText = typed === '' ? '–' : null;
  }
  const has = (text) => text.toLowerCase().includes(typed.trim().toLowerCase());
  const fitting = (q.candidates ?? []).filter(has).slice(0, 10);
  one('datalist', fieldOf(q))?.replaceChildren(...fitting.map((text) => new Option(text)));
}

/** Whether nothing could be drawn of an answer. */
function isOdd(q, answer) {
  try {
    KINDS[q.kind].value(answer, q);
    return false;
  } catch {
    return true;
  }
}

/** Whether a number is none of its steps, but for the rounding of decimals. */
const isOffStep = ({ min, step }, answer) =>
  step && answer && Math.abs((answer - min) / step - Math.round((answer - min) / step)) > 1e-6;

/** The word for what is wrong with an answer; undefined if nothing is. */
function complaintOf(q) {
  const answer = answerOf(q);
  const isMissing = q.required && !answer;
  const isOff = isOffStep(q, answer);
  if (!isMissing && !isOdd(q, answer)) return isOff ? 'question.not-a-step' : undefined;
  if (q.kind === 'text') return 'question.too-long';
  if (q.kind === 'choices') return isMissing ? 'question.tick-one' : 'question.tick-at-most';
  if (q.kind === 'rank') return q.required ? 'question.rank-all' : 'question.rank-whole';
  if (q.kind === 'number' && answer.endsWith('?')) return 'question.unclear';
  return isMissing ? 'page.required' : 'question.not-between';
}

const complaint = (q) => one('.complaint', fieldOf(q));
const controlOf = (q) => one('input, button', fieldOf(q));

/** Says what is wrong with an answer that is asked for; gives whether it is right. */
function check(q, isQuiet = false) {
  const control = controlOf(q);
  const isAsked = !isQuiet && !fieldOf(q).disabled;
  const key = isAsked ? complaintOf(q) : undefined;
  const message = key ? word(key, { ...q, n: q.at_most ?? q.longest }) : '';
  control.setCustomValidity(message);
  control.ariaInvalid = key ? 'true' : null;
  complaint(q).textContent = message;
  complaint(q).hidden = !key;
  return !key;
}

/** Whether all answers of a page can be taken; the focus moves to the first that cannot. */
export function isRight(page) {
  const [first] = questions.filter((q) => page.contains(fieldOf(q)) && !check(q));
  if (first) controlOf(first).focus();
  return !first;
}

/** Shows what is asked after the answers so far, and whether they are still wrong. */
export function applyAnswers() {
  const asked = visible(survey, answers());
  for (const entry of survey.questions) {
    fieldOf(entry).hidden = fieldOf(entry).disabled = !asked.has(entry.id);
  }
  for (const q of questions) if (!complaint(q).hidden) check(q);
}

/** Empties the form, and puts answers into it. */
export function putBack(given) {
  form.reset();
  for (const q of questions) {
    // Every object has a "constructor", which may be the id of a question.
    const answer = Object.hasOwn(given, q.id) ? given[q.id] : '';
    const parts = answer.split('|').filter(Boolean);
    if (entryOf(q)) entryOf(q).value = answer;
    if (q.kind === 'rank') arrange(q, parts);
    for (const box of all('.option input', fieldOf(q))) box.checked = parts.includes(box.value);
    assist(q);
    check(q, true);
  }
  applyAnswers();
}

/** Follows what is filled in, and tells of each change. */
export function follow(changed) {
  for (const q of questions) {
    const take = ({ target }) => {
      // Three decimals would look like thousands.
      const isSlider = target.matches('[data-slider]');
      if (isSlider) entryOf(q).value = target.value.replace(/\.\d{3}$/, '$&0');
      if (target.type === 'checkbox' && target.checked) exclude(q, target);
      assist(q);
      applyAnswers();
      changed();
    };
    const press = (event) => {
      rank(q, event.currentTarget);
      take(event);
    };
    fieldOf(q).addEventListener('input', take);
    // One who presses a slider where it stands means that number.
    one('[data-slider]', fieldOf(q))?.addEventListener('click', take);
    for (const part of all('.item, .earlier', fieldOf(q))) part.addEventListener('click', press);
  }
}
