/**
 * The page: the only file that touches the document. It reads answers from the form, shows them
 * for review, has them drawn once, and says what became of the report.
 */
import { KINDS } from './kinds.js';
import { shown, visible } from './logic.js';
import * as memo from './memo.js';
import { pseudonym } from './memory.js';
import { hex, words } from './random.js';
import { check, draw, prepare, priceOf } from './report.js';
import { submit } from './submit.js';
import { versionOf } from './version.js';
import { work } from './work.js';

const one = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];

const open = JSON.parse(one('#survey-data').textContent);
const { survey } = open;
const form = one('#answers');
const controls = one('#controls');
const review = one('#review');
/** What a wave costs, once the randomizers are checked. */
let price;

/** Shows one of the page's states; in all but 'ready' there is nothing to fill in. */
function say(state, message = '') {
  if (state !== 'ready') {
    form.hidden = review.hidden = true;
    one('#no-memory')?.toggleAttribute('hidden', true);
  }
  for (const part of all('[data-state]')) part.hidden = part.dataset.state !== state;
  for (const slot of all('[data-slot="message"]')) slot.textContent = message;
}

/** Shows either the form or its review, and moves the focus to its heading. */
function turnTo(part) {
  form.hidden = part !== form;
  review.hidden = part !== review;
  one('h2', part).focus();
}

const question = (id) => one(`[data-question="${id}"]`, form);

/** The places that were given, the first first, as the controls that hold them. */
const ranked = (field) =>
  all('select', field).filter(({ value }) => value).sort((a, b) => a.value - b.value);

/** The answer of a question as its controls hold it, joined by '|' if several; '' for none. */
function answerOf({ id }) {
  const field = question(id);
  const typed = one('input[type="number"], input[type="text"]', field);
  if (typed) return typed.value;
  const order = ranked(field).map(({ dataset }) => dataset.item);
  return [...order, ...all('input:checked', field).map(({ value }) => value)].join('|');
}

const answers = () => Object.fromEntries(survey.questions.map((q) => [q.id, answerOf(q)]));

/** What a question's answer looks like to people, in the language they read. */
function asText({ id }, answer) {
  if (answer === '' || answer === 'no-answer') return one('#no-answer-text').textContent;
  const field = question(id);
  const chosen = [...ranked(field), ...all('input:checked', field)];
  const words = chosen.map((control) => visibleText(one(`label[for="${control.id}"]`)));
  if (words.length) return words.join(ranked(field).length ? ' → ' : ', ');
  const unit = one('.unit', field);
  return [answer, unit ? visibleText(unit) : ''].join(' ').trim();
}

const visibleText = (element) =>
  all('[lang]', element).find((part) => !part.hidden)?.textContent ?? element.textContent.trim();

/** Hides the questions that are not asked, and takes them out of validation. */
function applyLogic() {
  const asked = visible(survey, answers());
  for (const { id } of survey.questions) {
    question(id).hidden = question(id).disabled = !asked.has(id);
  }
}

/** "None of these" and "prefer not to say" exclude all other ticks. */
function exclude({ target }) {
  if (target.type !== 'checkbox' || !target.checked) return;
  for (const box of all('input', target.closest('.question'))) {
    if (box !== target && ('alone' in target.dataset || 'alone' in box.dataset)) box.checked = false;
  }
}

/** Whether a typed text is none that can be answered. */
function isOdd(q, text) {
  try {
    KINDS.text.value(text, q);
    return false;
  } catch {
    return true;
  }
}

/** What is wrong with a text, several ticks or places; '' if nothing is. */
function complaint(q) {
  const text = one('input[type="text"]', question(q.id));
  if (text) return isOdd(q, text.value) ? `Please give 1 to ${q.longest} letters.` : '';
  const boxes = all('input[type="checkbox"]', question(q.id));
  const ticked = boxes.filter(({ checked }) => checked).length;
  if (q.kind === 'choices' && ticked > q.at_most) return `Please tick at most ${q.at_most}.`;
  if (q.kind === 'choices' && q.required && !ticked) return 'Please tick at least one.';
  const places = ranked(question(q.id)).map(({ value }) => value);
  const whole = places.length === q.options?.length && new Set(places).size === places.length;
  return q.kind === 'rank' && places.length && !whole ? 'Please give each a different place.' : '';
}

/** Lets the browser tell what is wrong, at the question's first control. */
function applyComplaints() {
  for (const q of survey.questions) {
    const control = one('input[type="checkbox"], input[type="text"], select', question(q.id));
    control?.setCustomValidity(question(q.id).disabled ? '' : complaint(q));
  }
}

function showReview(event) {
  event.preventDefault();
  if (!form.reportValidity()) return;
  const counted = shown(survey, answers());
  const list = one('dl', review);
  list.replaceChildren();
  for (const q of survey.questions) {
    if (question(q.id).hidden) continue;
    const term = document.createElement('dt');
    const detail = document.createElement('dd');
    term.textContent = visibleText(one('legend', question(q.id)));
    detail.textContent = asText(q, counted[q.id]);
    list.append(term, detail);
  }
  turnTo(review);
}

/** Whether this survey is for people with invitations. */
const isInvited = () => (survey.access ?? 'open') !== 'open';

/** The invitation of this link, in its fragment, which browsers send to nobody; '' if it is none. */
const invitation = () => location.hash.slice(1).match(/^[\w-]{22}$/)?.[0] ?? '';

/** Starts anew once another link is pasted into this tab, which changes only its fragment. */
const startWithNextLink = () =>
  addEventListener('hashchange', () => start().catch(fail), { once: true });

/** Draws and keeps the report, unless this device has drawn already or may not. */
async function drawOnce(given) {
  const key = await memo.deviceKey();
  const prepared = await prepare(open, given, key, words());
  const who = { rid: hex(16), respondent: await pseudonym(key, survey.id) };
  if (isInvited()) who.token = invitation();
  if (survey.proof_of_work) {
    say('working');
    who.work = await work(`${open.version}:${open.wave}:${who.rid}`, survey.proof_of_work);
  }
  say('randomizing');
  return memo.keepOnce(survey, open.wave, price, () => draw(open, prepared, who, words()));
}

/** Until some seconds have passed or the network is back. */
const pause = (seconds) =>
  new Promise((resolve) => {
    setTimeout(resolve, seconds * 1000);
    addEventListener('online', resolve, { once: true });
  });

/** Sends the same bytes until the server has answered, however long it takes. */
async function send(drawn) {
  // One that was refused may have had a broken link: this one is tried with the same report.
  const report = isInvited() && invitation() ? drawn.withToken(invitation()) : drawn;
  for (let seconds = 1; ; seconds = Math.min(60, seconds * 2)) {
    say('sending');
    const { state, message, after } = await submit(survey.id, report);
    if (state === 'uninvited') {
      say('refused', message);
      return startWithNextLink();
    }
    if (state !== 'waiting') {
      // If this fails, the report is sent again some day, which the server takes for a retry.
      await memo.settle(survey, report).catch(() => {});
      say(state, message);
      return showReceipt(report);
    }
    say('waiting', message);
    await pause(Math.max(seconds, after));
  }
}

/** What to quote, and what was spent; of a report just drawn, its bytes too. */
async function showReceipt(report = null) {
  const { rid, spent, constant, cap } = await memo.recall(survey, open.wave, price);
  one('#receipt').hidden = false;
  one('#receipt-rid').textContent = report?.content.rid ?? rid;
  one('#receipt-bytes').textContent = report?.text ?? '';
  one('#receipt details').hidden = !report;
  one('#receipt-spent').textContent = String(spent / 1e6);
  one('#receipt-cap').textContent = cap;
  one('#receipt-constant')?.replaceChildren(String(constant / 1e6));
  one('#receipt h2').focus();
}

/** This wave needs nothing more from this device. */
async function sayAnswered() {
  say('answered');
  await showReceipt();
}

async function randomizeAndSend() {
  one('#send').disabled = true;
  try {
    const { state, report } = await drawOnce(answers());
    form.reset();
    one('dl', review).replaceChildren();
    if (report) await send(report);
    else if (state === 'answered') await sayAnswered();
    else say(state);
  } catch (error) {
    fail(error);
  }
}

/** Shows one language of the author's texts; which one is known to this page alone. */
function speak(language) {
  for (const part of all('[lang]', document.body)) part.hidden = part.lang !== language;
  document.title = visibleText(one('h1'));
}

function offerLanguages() {
  const languages = survey.languages ?? [];
  const picker = one('#language');
  if (!picker) return;
  const wish = navigator.languages.map((tag) => tag.split('-')[0]);
  for (const option of picker.options) {
    option.textContent = new Intl.DisplayNames([option.value], { type: 'language' }).of(option.value);
  }
  picker.value = wish.find((tag) => languages.includes(tag)) ?? languages[0];
  picker.addEventListener('change', () => speak(picker.value));
  picker.parentElement.hidden = false;
  speak(picker.value);
}

async function start() {
  if (!isSecureContext) return say('insecure');
  const version = await versionOf(survey, open.randomizers);
  if (version !== open.version) throw new RangeError(`"version" expected ${version}, got ${open.version}`);
  check(survey, open.randomizers);
  price = await priceOf(survey, open.randomizers);
  // Fails here, before anybody has answered, where nothing can be kept.
  await memo.deviceKey();
  const { pending } = await memo.recall(survey, open.wave, price);
  for (const report of pending) await send(report);
  if (pending.some(({ content }) => content.wave === open.wave)) return undefined;
  const { rid, spends, isNew } = await memo.recall(survey, open.wave, price);
  if (rid) return sayAnswered();
  one('#no-memory')?.toggleAttribute('hidden', !isNew || open.wave === 1);
  if (spends) return say('spent');
  if (isInvited() && !invitation()) {
    startWithNextLink();
    return say('uninvited');
  }
  form.addEventListener('submit', showReview);
  form.addEventListener('input', (event) => {
    exclude(event);
    applyLogic();
    applyComplaints();
  });
  one('#change').addEventListener('click', () => turnTo(form));
  one('#send').addEventListener('click', randomizeAndSend);
  applyLogic();
  applyComplaints();
  controls.disabled = false;
  one('#receipt').hidden = true;
  form.hidden = false;
  return say('ready');
}

const fail = (error) => say('broken', error.message);
offerLanguages();
start().catch(fail);
