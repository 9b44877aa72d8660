/** The page of a survey starts here: page by page to the review, one press, and what follows. */
import { pseudonym, versionOf, work } from '../hashes.js';
import { shown } from '../logic.js';
import * as memo from '../memo.js';
import { hex, words } from '../random.js';
import { check, draw, prepare, priceOf } from '../report.js';
import { answers, applyAnswers, follow, isRight, putBack } from './controls.js';
import { all, offerLanguages, one, showState } from './dom.js';
import { open, survey } from './questions.js';
import { remember, showReceipt, showReview, showSent } from './review.js';
import { invitation, isInvited, send, sendEarlier } from './sending.js';
import * as trials from './trials.js';

const form = one('#answers');
const review = one('#review');
const button = one('#send');
const pages = [...all('[data-page]', form), review];
const { resume = false } = survey.page ?? {};
/** States in which there is something to fill in; and in which nobody else can begin. */
const OPEN = ['ready', 'unkept'];
const BUSY = ['loading', 'ready', 'uninvited', 'working', 'randomizing', 'insecure', 'broken'];
/** What a wave costs, once the randomizers are checked. */
let price;
/** Counts who answers here: nothing of one person goes on in front of the next. */
let person = 0;

const recall = () => memo.recall(survey, open.wave, price);
const hide = (selector, isHidden) => one(selector)?.toggleAttribute('hidden', isHidden);

/** Shows one of the page's states; in most of them there is nothing to fill in. */
function say(state, reason = '') {
  if (!OPEN.includes(state)) {
    form.hidden = review.hidden = true;
    hide('#no-memory', true);
  }
  showState(state, { reason });
  hide('#kiosk', BUSY.includes(state));
  hide('#kiosk-waits', state !== 'waiting');
  for (const part of all('[data-kiosk]')) {
    part.hidden = (part.dataset.kiosk === 'before') !== OPEN.includes(state);
  }
}

const fail = (error) => say('broken', error.message);

/** Shows a page or the review, and moves the focus to its heading. */
function show(page) {
  if (page === review) showReview(shown(survey, answers()));
  for (const other of pages) other.hidden = other !== page;
  form.hidden = page === review;
  hide('#kiosk', page === pages[0]);
  one('h2', page).focus({ preventScroll: true });
  scrollTo(0, 0);
}

const current = () => pages.find(({ hidden }) => !hidden);

/** Whether conditions hide all of a page. */
const isSkipped = (page) =>
  one('.part', page) && !one(':is(.question, .note):not([hidden])', page);

function turn(step, from = current()) {
  let place = pages.indexOf(from) + step;
  while (isSkipped(pages[place])) place += step;
  show(pages[place]);
}

/** Draws and keeps the report, unless this device has drawn already or may not. */
async function drawOnce() {
  const mine = person;
  const given = answers();
  say('randomizing');
  memo.dropDraft();
  const key = await memo.deviceKey();
  const prepared = await prepare(open, given, key, words());
  const who = { rid: hex(16), respondent: await pseudonym(key, survey.id) };
  if (isInvited) who.token = invitation();
  if (survey.proof_of_work) {
    say('working');
    who.work = await work(`${open.version}:${open.wave}:${who.rid}`, survey.proof_of_work);
    say('randomizing');
  }
  const make = () => draw(open, prepared, who, words());
  const known = await memo.keepOnce(survey, open.wave, price, make);
  if (mine === person) remember(known.isDrawn ? { answers: shown(survey, given) } : null);
  return known;
}

async function randomizeAndSend() {
  if (button.disabled) return;
  button.disabled = true;
  one('#status').focus();
  const mine = person;
  try {
    const known = await drawOnce();
    if (mine !== person) return;
    putBack({});
    await finish(known).catch(fail);
  } catch (error) {
    if (mine !== person) return;
    // Nothing was kept, shown or sent: the next press is the first again.
    button.disabled = false;
    show(review);
    say('unkept', error.message);
  }
}

/** What is left to do for a wave in which nothing more can be answered. */
async function finish(known) {
  const kept = known.pending.find(({ content }) => content.rid === known.rid);
  const mine = person;
  if (kept) {
    await send(kept, () => mine === person, ({ state, reason, report }) => {
      say(state === 'uninvited' ? 'refused' : state, reason);
      if (state === 'uninvited') beginWithNextLink();
      else if (report && state !== 'waiting') showReceipt(known, report);
    });
  } else {
    say(known.rid ? 'answered' : 'spent');
    if (known.rid) showReceipt(known);
  }
}

/** Begins anew once another link is pasted into this tab, which changes only its fragment. */
function beginWithNextLink() {
  addEventListener('hashchange', () => begin().catch(fail), { once: true });
}

/** Opens the form, unless this device has answered or may not. */
async function begin() {
  // Fails here, before anybody has answered, where nothing can be kept.
  await memo.deviceKey();
  const known = await recall();
  sendEarlier(recall);
  if (known.rid || known.spends) {
    memo.dropDraft();
    return finish(known);
  }
  hide('#no-memory', Object.keys(known.waves).length > 0 || open.wave === 1);
  if (isInvited && !invitation()) {
    beginWithNextLink();
    return say('uninvited');
  }
  const kept = resume && memo.draft(open);
  if (!kept) memo.dropDraft();
  putBack(kept || {});
  one('#controls').disabled = button.disabled = form.hidden = false;
  if (person) show(pages[0]);
  return say('ready');
}

/** Empties all that shows or holds answers, and ends what goes on. */
function leave() {
  person += 1;
  say('loading');
  button.disabled = true;
  remember(null);
  putBack({});
  trials.offer();
  for (const part of all('details[open]')) part.open = false;
}

/** For the next person: nothing is left of the last but reports that still wait. */
async function startAgain() {
  leave();
  memo.dropDraft();
  await memo.restart(survey);
  await begin();
}

/** Writes anew what the program writes, in the language that is shown now. */
function redraw() {
  trials.offer();
  applyAnswers();
  if (!review.hidden) showReview(shown(survey, answers()));
  showSent();
}

function listen() {
  const press = (selector, action) =>
    all(selector).forEach((pressed) => pressed.addEventListener('click', () => action()));
  follow(() => resume && memo.keepDraft(open, answers()));
  trials.follow();
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (isRight(current())) turn(1);
  });
  addEventListener('beforeunload', (event) => {
    // Else "back" in the browser empties the form without a word.
    if (!resume && Object.values(answers()).some(Boolean)) event.preventDefault();
  });
  // A page that the browser keeps for "back" holds no answers, and begins anew.
  addEventListener('pagehide', leave);
  addEventListener('pageshow', ({ persisted }) => persisted && begin().catch(fail));
  press('[data-turn="next"]', () => turn(1));
  press('[data-turn="back"]', () => turn(-1));
  press('#change', () => turn(1, pages[0]));
  press('#send', randomizeAndSend);
  press('#next-person', () => startAgain().catch(fail));
}

async function start() {
  offerLanguages(redraw);
  if (!isSecureContext) return say('insecure');
  const version = await versionOf(survey, open.randomizers);
  if (version !== open.version) {
    throw new RangeError(`"version" expected ${version}, got ${open.version}`);
  }
  check(survey, open.randomizers);
  price = await priceOf(survey, open.randomizers);
  listen();
  return begin();
}

start().catch(fail);
