/** "My privacy": what this device has given to all surveys of this address, added up here. */
import { sum } from '../exact.js';
import * as memo from '../memo.js';
import { all, fill, inEpsilon, offerLanguages, one, saveFile, showState } from './dom.js';

const part = (name, within) => one(`[data-filled="me.${name}"]`, within);
let [memos, damaged] = [[], []];

function say(state, error) {
  one('#spent').hidden = state !== 'found' || memos.length === 0;
  one('#forgetting').hidden = state === 'forgotten';
  one('#damaged').hidden = damaged.length === 0 || state === 'forgotten';
  showState(state, {}, error);
}

const fail = (error) => say('broken', `${error}`);

/** One survey; its title is in the language that is shown, if the author gave one. */
function entryOf({ id, title = id, spent, constant, cap, waves, pending }) {
  // Its traces were removed; a later wave gives it a title again, but no id to lead to.
  const [isHashed, isRemoved] = [id.startsWith('~'), title.startsWith?.('~')];
  const entry = document.importNode(one('#one-survey').content, true);
  const [total, least, most] = [spent, constant, Math.round(cap * 1e6)].map(inEpsilon);
  const values = { spent: total, constant: least, cap: most, n: pending.length };
  for (const text of all('[data-filled]', entry)) fill(text, values);
  part('constant', entry).hidden = constant === spent;
  one('[data-part="waiting"]', entry).hidden = pending.length === 0;
  one('a', entry).pathname += encodeURIComponent(id);
  one('a', entry).hidden = isHashed;
  const titles = typeof title === 'string' ? [title] : Object.values(title);
  const shown = title[document.documentElement.lang] ?? titles[0];
  if (!isRemoved) one('h2', entry).replaceChildren(shown);
  one('[data-part="waves"]', entry).append(Object.keys(waves).join(', '));
  one('details', entry).hidden = isRemoved;
  one('[data-part="reports"]', entry).append(Object.values(waves).join(', '));
  return entry;
}

function redraw() {
  const waiting = sum(memos.map(({ pending }) => pending.length));
  one('#surveys').replaceChildren(...memos.map(entryOf));
  fill(part('total'), { spent: inEpsilon(sum(memos.map(({ spent }) => spent))) });
  fill(part('forget-waiting'), { n: waiting });
  part('forget-waiting').hidden = waiting === 0;
  fill(one('#damaged'), { names: damaged.join(', ') });
}

/** Saves what is shown as a file: no secret, no report, and no report's number. */
function save() {
  const surveys = memos.map(({ pending, waves, secret, ...kept }) =>
    ({ ...kept, waves: Object.keys(waves).map(Number), waiting: pending.length }));
  saveFile('my-privacy.json', 'application/json', JSON.stringify({ surveys }, null, 2));
}

function ask(isAsked) {
  one('#sure').hidden = !isAsked;
  one(isAsked ? '#sure h2' : '#forget').focus();
}

async function forget() {
  await memo.forget();
  say('forgotten');
  one('#status').focus();
}

async function start() {
  one('#export').addEventListener('click', save);
  one('#forget').addEventListener('click', () => ask(true));
  one('#forget-not').addEventListener('click', () => ask(false));
  one('#forget-sure').addEventListener('click', () => forget().catch(fail));
  try {
    ({ memos, damaged } = await memo.list());
  } finally {
    // Last, since it shows what is drawn in the reader's language.
    offerLanguages(redraw);
  }
  say(memos.length || damaged.length ? 'found' : 'nothing');
}

start().catch(fail);
