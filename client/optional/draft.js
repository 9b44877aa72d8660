/**
 * Drafts: the answers of an unfinished form in a tab, if the survey wants them kept over a reload.
 * The device keeps their key, and the tab's name the encrypted text.
 */
import { bytesOf } from '../hashes.js';
import { change, draftPlace, drafts, dropDraft, transact } from '../memo.js';
import { one } from '../page/dom.js';
import { extras } from '../page/questions.js';
import { bytes } from '../random.js';

/** Seconds without a change until a draft ends: whoever comes later may be somebody else. */
const LASTS = 30 * 60;
/** The encrypted part of a draft: as many bytes for every survey, whatever was answered. */
const DRAFT_BYTES = 16_384;
const NONCE_BYTES = 12;
/** The key of this tab's draft, once something was typed; and which of its writes was the last. */
let [draftKey, begun, written] = [null, 0, 0];
/** The timer at whose end the draft ends. */
let end;

/** A nonce must not be used twice; a draft of another version, wave or link cannot be opened. */
const cipher = ({ version, wave }, link, iv) =>
  ({ name: 'AES-GCM', iv, additionalData: bytesOf(`${version}/${wave}/${link}`) });

/** The key of a survey's drafts, which no script can read; all tabs share it. */
async function makeDraftKey(survey) {
  const aes = { name: 'AES-GCM', length: 256 };
  const made = await crypto.subtle.generateKey(aes, false, ['encrypt', 'decrypt']);
  return change(draftPlace(survey), (old) => old ?? made);
}

/** Ends the draft, if nothing changes any more. */
function endLater({ survey }) {
  clearTimeout(end);
  end = setTimeout(() => dropDraft(survey).catch(() => {}), 1000 * LASTS);
}

/** The answers of an unfinished form in this tab; null if there are none that can be read. */
async function opened(open, link, key) {
  try {
    const kept = Uint8Array.from(atob(globalThis.name), (character) => character.charCodeAt(0));
    const algorithm = cipher(open, link, kept.slice(0, NONCE_BYTES));
    const padded = await crypto.subtle.decrypt(algorithm, key, kept.slice(NONCE_BYTES));
    const { time, answers } = JSON.parse(new TextDecoder().decode(padded));
    const isRecent = Math.abs(new Date() - time) <= 1000 * LASTS;
    return isRecent && Object.values(answers).some(Boolean) ? answers : null;
  } catch {
    return null;
  }
}

/**
 * The same once somebody has said that they are theirs: whoever is here now may be somebody else, who
 * is shown no answer. `ask` shows the question.
 */
async function read(open, link, ask) {
  const { result } = await transact((table) => table.get(draftPlace(open.survey)), 'readonly');
  draftKey = result ?? null;
  if (!await opened(open, link, result)) return null;
  endLater(open);
  ask();
  const isTheirs = await new Promise((resolve) => {
    one('#go-on').addEventListener('click', () => resolve(true));
    one('#start-empty').addEventListener('click', () => resolve(false));
  });
  if (!isTheirs) await dropDraft(open.survey);
  // Meanwhile it can have ended.
  return isTheirs ? opened(open, link, result) : null;
}

/**
 * Keeps answers in the tab's name: unlike its sessionStorage, browsers do not write that to their
 * disk. They may show it to the next website in the tab, so it is encrypted, and as long as any.
 */
async function keep(open, link, answers) {
  begun += 1;
  endLater(open);
  const [mine, text] = [begun, bytesOf(JSON.stringify({ time: Number(new Date()), answers }))];
  draftKey ??= makeDraftKey(open.survey);
  const [key, padded, iv] = [await draftKey, new Uint8Array(DRAFT_BYTES), bytes(NONCE_BYTES)];
  // Zeros are no JSON: an answer that is too long leaves a draft that gives nothing back.
  if (text.length <= DRAFT_BYTES) padded.fill(0x20).set(text);
  const sealed = new Uint8Array(await crypto.subtle.encrypt(cipher(open, link, iv), key, padded));
  // A later write, or the end of the draft, may have overtaken this one.
  if (mine <= written) return;
  written = mine;
  globalThis.name = btoa(String.fromCharCode(...iv, ...sealed));
}

/** Stops each write that has begun, and waits for a key that is being made, so that it is deleted. */
drafts.end = async () => {
  written = begun;
  globalThis.name = '';
  await Promise.resolve(draftKey).catch(() => {});
  draftKey = null;
};

extras.draft = { read, keep };
