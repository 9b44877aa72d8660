/** The controls: only this file reads, checks and writes what is filled in. */
import { complaintOf, KINDS } from '../kinds.js';
import { shown, visible } from '../logic.js';
import { all, made, madeLink, one, word } from './dom.js';
import { extras, fieldOf, named, questions, survey, wording } from './questions.js';

const entryOf = (q) => one('.entry input', fieldOf(q));

/** Buttons and boxes of which one or several are ticked. */
const options = {
  /** In the order of the survey, whatever order was drawn. */
  read(q) {
    const ticked = all('.option input:checked', fieldOf(q)).map(({ value }) => value);
    return KINDS[q.kind].names(q).filter((id) => ticked.includes(id)).join('|');
  },
  write(q, answer) {
    const ticked = answer.split('|');
    for (const box of all('.option input', fieldOf(q))) box.checked = ticked.includes(box.value);
  },
  heard: { input: '.option input' },
  /** "None of these" and "prefer not to say" exclude all other ticks. */
  take(q, ticked) {
    for (const box of all('.option [type="checkbox"]', fieldOf(q))) {
      const excludes = ticked.checked && ('alone' in ticked.dataset || 'alone' in box.dataset);
      if (box !== ticked && excludes) box.checked = false;
    }
    // One tick too many is said at once.
    if (options.read(q).split('|').length > (q.at_most ?? Infinity)) check(q);
  },
};

/** A field to type in; a slider, and candidates that contain what was typed, follow it. */
const entry = {
  read: (q) => (KINDS[q.kind].plain ?? String)(entryOf(q).value, q),
  write(q, answer) {
    entryOf(q).value = answer;
    entry.take(q);
  },
  // Whoever presses a slider where it stands means that number.
  heard: { input: '.entry input, [data-slider]', click: '[data-slider]' },
  take(q, part) {
    const [typed, slider] = [entryOf(q), one('[data-slider]', fieldOf(q))];
    // Three decimals would look like thousands.
    if (slider && part === slider) typed.value = slider.value.replace(/\.\d{3}$/, '$&0');
    if (slider) {
      slider.value = entry.read(q);
      slider.classList.toggle('untouched', typed.value === '');
      slider.ariaValueText = typed.value === '' ? '–' : null;
    }
    const understood = one('.understood', fieldOf(q));
    if (understood) {
      const answer = entry.read(q);
      understood.hidden = !answer || answer === typed.value.trim() || Boolean(complaintOf(answer, q));
      understood.textContent = understood.hidden ? '' : word('question.understood', { answer: named(q, answer) });
    }
    const has = (text) => text.toLowerCase().includes(typed.value.trim().toLowerCase());
    const fitting = (q.candidates ?? []).filter(has).slice(0, 10);
    one('datalist', fieldOf(q))?.replaceChildren(...fitting.map((text) => new Option(text)));
  },
};

/** Items, each a button; those that have a place are the answer, the first first. */
const ranking = {
  read: (q) => all('[data-place]', fieldOf(q)).map(({ dataset }) => dataset)
    .sort((a, b) => a.place - b.place).map(({ item }) => item).join('|'),
  write(q, answer) {
    const order = answer.split('|');
    for (const item of all('[data-item]', fieldOf(q))) {
      const place = order.indexOf(item.dataset.item) + 1;
      delete item.dataset.place;
      if (place) item.dataset.place = place;
      one('.place', item).textContent = place || '–';
      one('.item', item).ariaPressed = place > 0;
      one('.earlier', item).hidden = place < 2;
    }
    one('[data-order]', fieldOf(q)).textContent = answer && named(q, answer);
    // Rows move to their places; what has none yet stays in the order that it was shown in.
    const placeOf = ({ dataset }) => Number(dataset.place ?? 100 + Number(dataset.at));
    const rows = all('[data-item]', fieldOf(q)).sort((a, b) => placeOf(a) - placeOf(b));
    const focused = document.activeElement;
    one('.ranking', fieldOf(q)).append(...rows);
    if (fieldOf(q).contains(focused)) focused.focus({ preventScroll: true });
  },
  heard: { click: '.item, .earlier' },
  /** A press on an item gives it the next place, or takes its own; "move up" swaps two items. */
  take(q, button) {
    const { item } = button.closest('[data-item]').dataset;
    const order = ranking.read(q).split('|').filter(Boolean);
    const place = order.indexOf(item);
    if (button.matches('.earlier')) order.splice(place - 1, 2, item, order[place - 1]);
    else if (place < 0) order.push(item);
    else order.splice(place, 1);
    ranking.write(q, order.join('|'));
    if (button.hidden) one('.item', button.parentElement).focus();
  },
};

/**
 * Every control by its name in kinds.js. Each has `read`, the answer as it stands there, joined by
 * '|' if several, '' for none; `write`, in place of what was there; `heard`, the parts whose events
 * count, by the event; `take`, what such an event changes beside the part itself.
 */
const CONTROLS = { options, entry, ranking };
const controlOf = (q) => CONTROLS[KINDS[q.kind].control];
const answerOf = (q) => controlOf(q).read(q);
export const answers = () => Object.fromEntries(questions.map((q) => [q.id, answerOf(q)]));

const complaint = (q) => one('.complaint', fieldOf(q));
const firstPartOf = (q) => one('input, button', fieldOf(q));

/** Says what is wrong with an answer that is asked for; gives whether it is right. */
function check(q, isQuiet = false) {
  const part = firstPartOf(q);
  const isAsked = !isQuiet && !fieldOf(q).disabled;
  const key = isAsked ? complaintOf(answerOf(q), q) : undefined;
  const message = key ? word(key, { ...q, n: q.at_most ?? q.longest }) : '';
  part.setCustomValidity(message);
  part.ariaInvalid = key ? 'true' : null;
  complaint(q).textContent = message;
  complaint(q).hidden = !key;
  return !key;
}

/** Questions as they stand on the page, which may be an order that was drawn. */
const byPlace = (a, b) =>
  (fieldOf(a).compareDocumentPosition(fieldOf(b)) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1);

/** Moves the focus to a question; its text, and what is wrong with it, come into view. */
export function goTo(q) {
  fieldOf(q).scrollIntoView();
  firstPartOf(q).focus({ preventScroll: true });
}

/** Gives the questions of a page that need another look; if they are several, lists them, to go to each. */
function list(page) {
  const wrong = questions.filter((q) => page.contains(fieldOf(q)) && !complaint(q).hidden).sort(byPlace);
  const links = wrong.map((q) => made('li', madeLink(() => goTo(q), wording(q))));
  one('.complaints', page)?.toggleAttribute('hidden', wrong.length < 2);
  one('.complaints ul', page)?.replaceChildren(...links);
  return wrong;
}

/** Whether all answers of a page can be taken; if not, the focus moves to what is to be mended. */
export function isRight(page) {
  for (const q of questions) if (page.contains(fieldOf(q))) check(q);
  const wrong = list(page);
  if (wrong.length > 1) {
    one('.complaints', page).scrollIntoView();
    one('.complaints button', page).focus({ preventScroll: true });
  } else if (wrong.length) goTo(wrong[0]);
  return !wrong.length;
}

/** Shows what is asked after the answers so far, and whether they are still wrong. */
export function applyAnswers() {
  const asked = visible(survey, answers());
  for (const entry of survey.questions) {
    fieldOf(entry).hidden = fieldOf(entry).disabled = !asked.has(entry.id);
  }
  for (const about of all('[data-about]')) about.hidden = !asked.has(about.dataset.about);
  extras.pipe?.(shown(survey, answers()));
  for (const q of questions) if (!complaint(q).hidden) check(q);
  for (const page of all('[data-page]')) if (one('.complaints:not([hidden])', page)) list(page);
}

/** Empties the form, and puts answers into it. */
export function putBack(given) {
  one('#answers').reset();
  for (const q of questions) {
    // Every object has a "constructor", which may be the id of a question.
    controlOf(q).write(q, Object.keys(given).includes(q.id) ? given[q.id] : '');
    check(q, true);
  }
  applyAnswers();
}

/** Follows what is filled in, and tells of each change. */
export function hear(changed) {
  for (const q of questions) {
    const { heard, take } = controlOf(q);
    const answer = ({ currentTarget }) => {
      take(q, currentTarget);
      applyAnswers();
      changed();
    };
    for (const [event, parts] of Object.entries(heard)) {
      for (const part of all(parts, fieldOf(q))) part.addEventListener(event, answer);
    }
  }
}
