/** The page of a survey starts here: page by page to the review, one press, and what follows. */
import { must } from '../exact.js';
import { proofs, pseudonym, versionOf } from '../hashes.js';
import { madeUp } from '../kinds.js';
import { shown } from '../logic.js';
import * as memo from '../memo.js';
import { hex, words } from '../random.js';
import { check, draw, prepare, priceOf, unaskedOf } from '../report.js';
import { requestOf } from '../submit.js';
import { answers, applyAnswers, goTo as goToQuestion, hear, isRight, putBack } from './controls.js';
import { all, isLacking, offerLanguages, one, showState } from './dom.js';
import { extras, fieldOf, open, questions, showImages, survey } from './questions.js';
import { remember, showReceipt, showReview, showSent } from './review.js';
import { isInvited, send, sendEarlier } from './sending.js';
import * as trials from './trials.js';

const form = one('#answers');
const review = one('#review');
const button = one('#send');
const agreement = one('#agreement');
const pages = [...all('[data-page]', form), review];
/** States in which there is something to fill in. */
const OPEN = ['ready', 'resumed', 'asking', 'unkept', 'changed'];
/** Ends at which somebody may want to ask the researchers. */
const WITH_CONTACT = [
  'stored', 'waiting', 'answered', 'refused', 'removed', 'unusable', 'uninvited', 'mistyped',
  'insecure', 'broken', 'unstored', 'damaged',
];
/** The invitation of this page's link, if there are such links; '' for none. */
const invitation = () => extras.links?.invitation() ?? '';
/** The link that can be used, as far as the server says. */
let usable = '';
/** What a wave costs, once the randomizers are checked. */
let price;
/** The survey as this device keeps it, with the key to draw with: for its link, if it has links. */
let record;
/** Counts who answers here: nothing goes on once the next person is here. */
let person = 0;

/** Whether this is a preview, whose policy lets nothing be sent. */
const isPreview = location.pathname.startsWith('/surveys/');
const needsLink = isInvited && !isPreview;

const recall = () => memo.recall(record, open.wave, price);
const openRecord = async () =>
  extras.links?.open(survey, open.wave) ?? memo.recordOf(survey, await memo.deviceKey());
const hide = (selector, isHidden) => one(selector)?.toggleAttribute('hidden', isHidden);

/** Shows one of the page's states; in most there is nothing to fill in. */
function say(state, { reason = '', error } = {}) {
  if (!OPEN.includes(state)) {
    form.hidden = review.hidden = true;
    hide('#no-memory', true);
  }
  showState(state, { reason }, error);
  hide('#thanks', !['stored', 'answered', 'tried'].includes(state));
  hide('#ask', !WITH_CONTACT.includes(state));
  extras.told?.(state, OPEN.includes(state));
}

const fail = (error) => say(error.state ?? 'broken', { error: `${error}` });

/** The entry of the browser's history that is shown. */
let step = history.state?.step ?? 0;

/**
 * Gives each page up to this one an entry of the browser's history, so that its "back" turns pages.
 * Those that conditions skip have one, too: otherwise the history would reveal answers.
 */
function keepSteps(page) {
  const last = pages.indexOf(page);
  if (last < step) history.go(last - step);
  for (let next = step + 1; next <= last; next += 1) history.pushState({ step: next }, '');
  step = last;
}

/** Turns to where the browser's "back" or "forward" leads, no further than answers can be taken. */
function follow({ state }) {
  step = state?.step ?? 0;
  if (one('#controls').disabled || (form.hidden && review.hidden)) return;
  const from = pages.indexOf(current());
  const wrong = pages.slice(from, step).find((page) => !isSkipped(page) && !canLeave(page));
  let place = wrong ? pages.indexOf(wrong) : step;
  while (isSkipped(pages[place])) place -= 1;
  if (place !== from) goTo(pages[place]);
  else keepSteps(pages[place]);
}

/** Whether an answer is being changed from the review: the next step leads back there, and says so. */
const changing = (is) => form.classList.toggle('changing', is);

/** Shows all answers, each with a way to change it. */
function showAnswers() {
  changing(false);
  showReview(shown(survey, answers()), (q) => {
    changing(true);
    show(pages.find((page) => page.contains(fieldOf(q))));
    goToQuestion(q);
  });
}

/** Shows a page or the review, and moves the focus to its heading. */
function show(page) {
  keepSteps(page);
  if (page === review) showAnswers();
  for (const other of pages) other.hidden = other !== page;
  form.hidden = page === review;
  hide('#kiosk', page === pages[0]);
  one('header').classList.toggle('small', page !== pages[0]);
  (one('h2[tabindex]', page) ?? one('h1')).focus({ preventScroll: true });
  scrollTo(0, 0);
}

/** Shows a page; on a shared device the first screen is for the next person, who finds no answer. */
function goTo(page) {
  if (extras.startAgain && page === pages[0]) extras.startAgain();
  else show(page);
}

const current = () => pages.find(({ hidden }) => !hidden);

/** Whether a page can be left for the next one; if not, it says why. */
const canLeave = (page) => isRight(page) && (page !== agreement || trials.isAgreed());

/** Whether conditions hide all of a page. */
const isSkipped = (page) =>
  one('.part', page) && !one('.question:not([hidden]), .note:not([hidden])', page);

function turn(step) {
  let place = pages.indexOf(current()) + step;
  while (isSkipped(pages[place])) place += step;
  goTo(pages[place]);
}

/** Shows the review or, before, what still has to be mended. */
const toReview = () => show(pages.find((page) => !isRight(page)) ?? review);

/** Draws a report of made-up answers for nobody: what fails has to fail before the first question. */
async function rehearse(key) {
  const given = Object.fromEntries(questions.map((q) => [q.id, madeUp(q, 'x')[0]]));
  const { text } = draw(open, await prepare(open, given, key, words()), {}, words());
  requestOf(survey.id, 'reports', text, 0);
}

/** Draws and keeps the report, unless this device has drawn already or may not. */
async function drawOnce(mine, token) {
  const given = answers();
  say('randomizing');
  await memo.dropDraft(survey);
  const kept = await openRecord();
  if (mine !== person) throw new memo.Forgotten();
  record = kept;
  const { key } = kept;
  // A new secret asks other questions.
  if (`${[...await unaskedOf(open, key)]}` !== `${[...survey.unasked]}`) throw new memo.Forgotten();
  const prepared = await prepare(open, given, key, words());
  const who = { rid: hex(16), respondent: await pseudonym(key, survey.id) };
  if (isInvited) who.token = token;
  if (survey.proof_of_work) {
    say('working');
    who.work = await proofs.work(`${open.version}:${open.wave}:${who.rid}`, survey.proof_of_work);
    say('randomizing');
  }
  const make = () => {
    // Somebody else is here by now: nothing more is drawn for the one who pressed.
    if (mine !== person) throw new memo.Forgotten();
    return draw(open, prepared, who, words());
  };
  const isDrawn = await memo.keepOnce(kept, open.wave, key, price, make);
  // A browser may ask its user about it, so ask only if this device has to remember.
  if (!extras.watch && survey.questions.some((q) => 'epsilon_forever' in q)) memo.persist();
  if (mine === person) remember(isDrawn ? { answers: shown(survey, given) } : null);
  return isDrawn;
}

async function randomizeAndSend() {
  if (button.disabled) return;
  if (!trials.isAgreed()) {
    show(agreement);
    return;
  }
  button.disabled = true;
  one('#status').focus();
  // Read now: another person's link can be pasted into the tab while the device works.
  const [mine, token] = [person, invitation()];
  try {
    const isDrawn = await drawOnce(mine, token);
    if (mine !== person) return;
    putBack({});
    await recall().then((known) => mine === person && finish({ ...known, isDrawn })).catch(fail);
  } catch (error) {
    if (mine !== person) return;
    if (error instanceof memo.Damaged) return fail(error);
    // Nothing was kept, shown or sent: the next press is the first again.
    button.disabled = false;
    if (survey.unasked.size) {
      survey.unasked = await openRecord().then(({ key }) => unaskedOf(open, key), () => survey.unasked);
      applyAnswers();
    }
    toReview();
    if (error instanceof memo.Forgotten) say('changed');
    else say('unkept', { error: `${error}` });
  }
}

/**
 * What is left to do for a wave in which nothing more can be answered. Nobody is thanked for a
 * report that another tab has drawn: what was filled in here is not in it.
 */
async function finish({ isDrawn = true, report: kept, ...known }) {
  keepSteps(pages[0]);
  const mine = person;
  if (kept && isPreview) {
    say('tried');
    showReceipt(known, kept);
  } else if (kept) {
    await send(record, kept, () => mine === person, ({ state, reason, report }) => {
      if (state === 'waiting' && !extras.watch) memo.persist();
      const isThanks = state === 'stored' && !isDrawn;
      say(isThanks ? 'answered' : state === 'uninvited' ? 'refused' : state, { reason });
      if (['stored', 'refused', 'answered'].includes(state)) showReceipt(known, report);
    });
  } else {
    const why = known.spends ? 'spent' : 'forgotten';
    say(known.rid ? 'answered' : why);
    if (known.rid) showReceipt(known);
  }
}

/** Removes what tells which survey was answered here, unless something waits to be sent. */
async function removeTraces() {
  if (await memo.removeTraces(record)) {
    remember(null);
    say('removed');
    one('#status').focus();
  } else {
    one('#traces-wait').hidden = false;
  }
}

/** Opens the form, unless this device has answered or may not. */
async function begin() {
  const me = person;
  // If nothing can be kept, this fails before anybody has answered.
  const found = await openRecord();
  // Meanwhile another person's link can have been pasted into the tab.
  if (me !== person) return undefined;
  record = found;
  const known = await recall();
  const other = await extras.links?.findOther(record, open.wave, known);
  if (me !== person) return undefined;
  keepSteps(pages[0]);
  if (other) {
    one('#controls').disabled = true;
    return say('other-link');
  }
  sendEarlier(recall);
  if (known.damage && !known.rid) throw known.damage;
  if (known.rid || known.spends) {
    await memo.dropDraft(survey);
    return finish(known);
  }
  hide('#no-memory', Object.keys(known.waves).length > 0 || open.wave === 1);
  if (needsLink && !invitation()) return say(extras.links.isMistyped() ? 'mistyped' : 'uninvited');
  survey.unasked = await unaskedOf(open, record.key);
  await rehearse(record.key);
  extras.shuffle?.();
  const draft = await extras.draft?.read(open, invitation(), () => say('drafted'));
  if (me !== person) return undefined;
  putBack(draft ?? {});
  one('#controls').disabled = button.disabled = form.hidden = false;
  if (person) show(pages[0]);
  say(draft ? 'resumed' : 'ready');
  const written = isPreview && pages.find((page) => one(`[${location.hash.slice(1) || 'x'}]`, page));
  if (written) for (const page of pages) page.hidden = page !== written;
}

/** Turns to the questions, unless the link of an invited person cannot be used any more. */
async function toQuestions() {
  const [mine, link] = [person, invitation()];
  if (needsLink && link !== usable) {
    one('#controls').disabled = true;
    say('asking');
    const isUsable = await extras.links.canBeUsed(open);
    if (mine !== person) return;
    if (!isUsable) {
      say('unusable');
      one('#status').focus();
      return;
    }
    usable = link;
    one('#controls').disabled = false;
    say('ready');
  }
  turn(1);
}

/** Empties all that shows or holds answers, and ends what goes on. */
function leave() {
  person += 1;
  changing(false);
  say('loading');
  button.disabled = true;
  remember(null);
  putBack({});
  trials.offer();
  for (const part of all('details[open]')) part.open = false;
}

function beginAnew() {
  leave();
  begin().catch(fail);
}

/** Writes anew what the program writes, in another language. */
function redraw() {
  trials.offer();
  applyAnswers();
  if (!review.hidden) showAnswers();
  showSent();
}

function listen() {
  const press = (selector, action) =>
    all(selector).forEach((pressed) => pressed.addEventListener('click', () => action()));
  // What cannot be kept is gone after a reload, and changes nothing else.
  hear(() => extras.draft?.keep(open, invitation(), answers()).catch(() => {}));
  trials.follow();
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (!canLeave(current())) return;
    if (form.matches('.changing')) toReview();
    else turn(1);
  });
  addEventListener('beforeunload', (event) => {
    // Otherwise "back" in the browser empties the form without a word.
    if (!extras.draft && Object.values(answers()).some(Boolean)) event.preventDefault();
  });
  // A page that the browser keeps for "back" holds no answers, and begins anew.
  addEventListener('pagehide', leave);
  addEventListener('pageshow', ({ persisted }) => persisted && beginAnew());
  // Pasted into this tab, another person's link changes only the fragment.
  addEventListener('hashchange', () => isInvited && beginAnew());
  press('[data-turn="next"]', () => toQuestions().catch(fail));
  press('#send-with-link', () => extras.links.take(record, open.wave).then(beginAnew, fail));
  press('#keep-waiting', () => extras.links.stayApart().then(beginAnew));
  // The page scrolls itself to what it shows.
  history.scrollRestoration = 'manual';
  addEventListener('popstate', follow);
  press('[data-turn="back"]', () => turn(-1));
  press('#send', randomizeAndSend);
  press('#remove-traces', () => removeTraces().catch(fail));
  extras.watch?.(leave, begin, fail);
  extras.exit?.(leave);
}

async function start() {
  if (isLacking) return undefined;
  offerLanguages(redraw);
  if (!isSecureContext) return say('insecure');
  must([undefined, 'deniable-1'].includes(open.protocol), 'expected deniable-1', open.protocol);
  const version = await versionOf(survey, open.randomizers);
  must(version === open.version, `"version" expected ${version}`, open.version);
  check(survey, open.randomizers);
  price = await priceOf(survey, open.randomizers, open.earlier);
  showImages();
  listen();
  return begin();
}

start().catch(fail);
