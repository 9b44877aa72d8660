/**
 * All that this device keeps, in the browser's IndexedDB: a secret, and for each survey its title,
 * what was spent and promised, which waves were answered, how often each memory was used, and the
 * reports that still wait; of a survey with links, so much for each link. A change is one
 * transaction: no other tab comes between, and it is on the disk before anything is sent, so that no
 * crash draws again. It keeps no answer: of a draft it has only the key, and the encrypted text is in
 * the tab's name.
 */
import { millionths, sum } from './exact.js';
import { keyOf, pseudonym } from './hashes.js';
import { hex } from './random.js';
import { FrozenReport } from './report.js';

const TABLE = 'memo';
export const EMPTY = { spent: 0, constant: 0, cap: Infinity, waves: {}, times: {}, pending: [] };
const START = 'survey/';
const place = (survey) => survey.place ?? START + survey.id;
/** In place of the number of a report whose traces were removed. */
const NO_NUMBER = '0'.repeat(32);

/** A record is not as this program writes it, so nobody can tell from it what was spent. */
export class Damaged extends Error {
  get state() { return 'damaged'; }
}
/** The browser keeps nothing for this page: it is a private window, full, or told not to. */
class Unstored extends Error {
  get state() { return 'unstored'; }
}
/** The device was forgotten, or began anew for somebody else, while a report was drawn. */
export class Forgotten extends Error {}

/** What optional/trial.js adds where nothing may be kept on the disk: `transact` in place of this. */
export const trial = {};

/** Gives what `act` makes of the table, once that is on the disk: all of it, or nothing. */
export const transact = (act, mode) => (trial.transact ?? onDisk)(act, mode);
const onDisk = (act, mode = 'readwrite') => new Promise((resolve, reject) => {
  const refuse = (error) => {
    const isOther = ['NotFoundError', 'VersionError'].includes(error?.name);
    reject(isOther ? new Damaged(error.message) : new Unstored(error ?? 'aborted'));
  };
  let request;
  try {
    request = indexedDB.open('deniable', 1);
  } catch (error) {
    return refuse(error);
  }
  request.onupgradeneeded = () => request.result.createObjectStore(TABLE);
  request.onerror = () => refuse(request.error);
  request.onsuccess = () => {
    const opened = request.result;
    try {
      const transaction = opened.transaction(TABLE, mode, { durability: 'strict' });
      const found = act(transaction.objectStore(TABLE), reject);
      transaction.oncomplete = () => resolve(found);
      transaction.onabort = () => refuse(transaction.error);
    } catch (error) {
      refuse(error);
    }
    // It closes once the transaction has ended.
    opened.close();
  };
});

/**
 * Changes what is kept under a key; `update` makes it of what was kept, undefined for nothing, of
 * the secret at that moment, and of all keys and values.
 */
export async function change(key, update) {
  let kept;
  await transact((table, reject) => {
    const [secret, keys, values] = [table.get('secret'), table.getAllKeys(), table.getAll()];
    const request = table.get(key);
    request.onsuccess = () => {
      try {
        kept = update(request.result, secret.result, [keys.result, values.result]);
        if (kept === undefined) table.delete(key);
        else table.put(kept, key);
      } catch (error) {
        reject(error);
        table.transaction.abort();
      }
    };
  });
  return kept;
}

const isHex = (text, length) =>
  typeof text === 'string' && text.length === length && /^[0-9a-f]+$/.test(text);
const isCount = (number) => Number.isSafeInteger(number) && number >= 0;
const isTable = (value, isRight) => value !== null && typeof value === 'object'
  && !Array.isArray(value) && Object.values(value).every(isRight);
const isText = (text) => typeof text === 'string';
const ridOf = (text) => JSON.parse(text).rid;

function isReport(text) {
  try {
    return isHex(ridOf(text), 32);
  } catch {
    return false;
  }
}

/** Whether a survey's record is as this program, or an earlier release, writes it. */
export function isSound(memo) {
  if (!isTable(memo, () => true)) return false;
  // Most are drawn for with the device's secret, and have none of their own.
  const { title = '', secret, settled = {} } = memo;
  const { spent, constant = spent, cap, waves, times, pending } = memo;
  return (isText(title) || (isTable(title, isText) && Object.keys(title).length > 0))
    && (secret === undefined || isHex(secret, 64))
    && isCount(spent) && isCount(constant) && typeof cap === 'number' && cap > 0
    && isTable(waves, (rid) => isHex(rid, 32)) && isTable(times, isCount) && isTable(settled, isCount)
    && Array.isArray(pending) && pending.every(isReport);
}

/** Which secret a key was made of. */
const secrets = new WeakMap();

/**
 * The device's secret, as a key; drawn once. A memory belongs to its secret: with a new one, each
 * is priced as used for the first time. @returns {Promise<CryptoKey>}
 */
export async function deviceKey() {
  let secret;
  await transact((table) => {
    const [kept, keys, memos] = [table.get('secret'), table.getAllKeys(), table.getAll()];
    memos.onsuccess = () => {
      secret = kept.result ?? hex(32);
      if (kept.result !== undefined) return;
      table.put(secret, 'secret');
      memos.result.forEach((memo, at) => {
        if (isSound(memo)) table.put({ ...memo, times: {} }, keys.result[at]);
      });
    };
  });
  if (!isHex(secret, 64)) throw new Damaged('secret');
  const key = await keyOf(secret);
  secrets.set(key, secret);
  return key;
}

/**
 * A survey with the `place` of its record on this device, and the `key` to draw with: that of the
 * device or, as its `part`, of one link, unless the record has a secret of its own. Once its traces are
 * removed, it is at its `hashedPlace`, from which nobody can tell the survey without the secret.
 */
export async function recordOf(survey, deviceKey, part = deviceKey, name = '') {
  const hashedPlace = `${START}~${await pseudonym(part, `traces/${survey.id}`)}`;
  const [keys, values] = await everything();
  const found = keys.includes(hashedPlace) ? hashedPlace : START + survey.id + name;
  const { secret } = values[keys.indexOf(found)] ?? {};
  const key = secret === undefined ? part : await keyOf(secret);
  secrets.set(key, secrets.get(deviceKey));
  return { ...survey, place: found, key, hashedPlace };
}

/** Asks the browser to keep all this even if nobody comes back for long; it may refuse. */
export const persist = () => trial.transact || navigator.storage?.persist?.().catch(() => false);

/** What is kept of a survey; without `constant`, all costs were constant. */
function whole(memo = EMPTY) {
  if (!isSound(memo)) throw new Damaged('survey');
  return { ...EMPTY, constant: memo.spent, ...memo };
}
const read = async (survey) =>
  whole((await transact((table) => table.get(place(survey)), 'readonly')).result);

/** A record from now on: its cap is the least that any page promised; it lacks no charge. */
const renewed = (memo, { title, privacy }, price) =>
  price.settled({ ...memo, title, cap: Math.min(memo.cap, privacy.cap) });

/** What was spent on all else at this address. @throws {Damaged} if nobody can tell. */
const elsewhere = ([keys, values], survey) => sum(keys.map((key, at) =>
  (String(key).startsWith(START) && key !== place(survey) ? whole(values[at]).spent : 0)));

/** How many millionths of ε may still be spent, as was promised for the survey, and for the device. */
function leftOf({ cap, spent }, survey, all) {
  const { device_cap: most } = survey.privacy;
  const ofAll = most === undefined ? Infinity : millionths(most) - elsewhere(all, survey);
  return Math.min(millionths(cap), ofAll) - spent;
}

/** All keys and values. */
async function everything() {
  const found = await transact((table) => [table.getAllKeys(), table.getAll()], 'readonly');
  return found.map(({ result }) => result);
}

/** The report of this number, if it waits. */
const reportOf = ({ pending }, rid) => pending.filter((text) => ridOf(text) === rid)
  .map((text) => new FrozenReport(text))[0];

/**
 * What is known of a survey: the `rid` of this wave's report, if it was drawn, the `report` itself, if
 * it waits, how much is `left`, and whether one more wave, of this price, `spends` too much. If nobody
 * can tell, since another survey's record is damaged, `damage` is the error: what waits still goes.
 */
export async function recall(survey, wave, price) {
  const entries = await everything();
  const old = whole(entries[1][entries[0].indexOf(place(survey))]);
  const memo = renewed(old, survey, price);
  if (memo.spent > old.spent) await reduce(survey, (kept) => renewed(kept, survey, price));
  let [left, damage] = [0];
  try {
    left = leftOf(memo, survey, entries);
  } catch (error) {
    damage = error;
  }
  const rid = memo.waves[wave];
  return {
    ...memo, rid, report: reportOf(memo, rid), place: place(survey), left,
    spends: !(price(memo.times).cost <= left), damage: damage,
  };
}

/**
 * Has `make` draw a wave's report and keeps it, unless it was drawn before or may not be: another
 * tab may have answered this wave or the next in the meantime. Gives whether it was drawn. It throws
 * `Forgotten` if the secret is no longer that of `key`: what was drawn from that would be charged to
 * another memory.
 */
export async function keepOnce(survey, wave, key, price, make) {
  let isDrawn = false;
  await change(place(survey), (old, secret, all) => {
    const before = renewed(whole(old), survey, price);
    const { cost, constant, times } = price(before.times);
    if (before.waves[wave] || !(cost <= leftOf(before, survey, all))) return before;
    const isMoved = place(survey) !== survey.hashedPlace && all[0].includes(survey.hashedPlace);
    if (isMoved || secret !== secrets.get(key)) throw new Forgotten();
    isDrawn = true;
    const { text, content } = make();
    return price.settled({
      ...before, times, spent: before.spent + cost, constant: before.constant + constant,
      waves: { ...before.waves, [wave]: content.rid }, pending: [...before.pending, text],
    }, true);
  });
  return isDrawn;
}

/** All reports of a survey that wait here, whatever their link, each with the place of its record. */
export async function waitingOf({ id, place: found }) {
  const [keys, values] = await everything();
  return keys.flatMap((key, at) => ([found, START + id].includes(key) || `${key}`.startsWith(`${START}${id}/`)
    ? whole(values[at]).pending.map((text) => ({ id, place: key, report: new FrozenReport(text) }))
    : []));
}

/** A report as it waits now, if it still does; and whether this device knows that it was drawn. */
export async function waiting(survey, rid) {
  const memo = await read(survey);
  return { isKnown: Object.values(memo.waves).includes(rid), report: reportOf(memo, rid) };
}

const isUsed = ({ spent, waves, pending }) =>
  spent + Object.keys(waves).length + pending.length > 0;

/** Keeps less of a survey; nothing if nothing was spent, no wave is left and no report waits. */
export const reduce = (survey, update) => change(place(survey), (old) => {
  const memo = update(whole(old));
  return isUsed(memo) ? memo : undefined;
});

/** Lets go of a report that waited: the server has answered. What was spent stays spent. */
export const settle = (survey, { content }) => reduce(survey, (memo) => ({
  ...memo, pending: memo.pending.filter((text) => ridOf(text) !== content.rid),
}));

/** Gives a report another invitation, or proof of work, if it still waits: other parts stay. */
export const replace = (survey, { content }, part) => reduce(survey, (memo) => ({
  ...memo, pending: memo.pending.map((text) =>
    (ridOf(text) === content.rid ? JSON.stringify({ ...JSON.parse(text), ...part }) : text)),
}));

/**
 * Removes all that tells which survey this was, unless a report waits; gives whether it did. What was
 * spent stays. It is not for surveys with memories, whose questions the counts of their use name.
 */
export async function removeTraces({ place: found, hashedPlace }) {
  let isDone = false;
  await transact((table) => {
    const request = table.get(found);
    request.onsuccess = () => {
      const { title, ...memo } = whole(request.result);
      if (memo.pending.length) return;
      isDone = true;
      // Another press, or another tab, was there before.
      if (!request.result) return;
      const waves = Object.fromEntries(Object.keys(memo.waves).map((wave) => [wave, NO_NUMBER]));
      table.delete(found);
      table.put({ ...memo, waves }, hashedPlace);
    };
  });
  return isDone;
}

/** Does something while no other tab does so for this survey. */
export const alone = (survey, action) =>
  (navigator.locks && !trial.transact ? navigator.locks.request(place(survey), action) : action());

/** Whether what is kept under a key is what this program keeps there. */
function isRight(key, value) {
  if (key === 'secret') return isHex(value, 64);
  if (isText(key) && key.startsWith('draft/')) return value instanceof CryptoKey;
  return isText(key) && key.startsWith(START) && isSound(value);
}

/** What is kept of every survey that was answered here, and the keys of what is `damaged`. */
export async function list() {
  const [keys, values] = await everything();
  const entries = keys.map((key, at) => [key, values[at]]);
  const memos = entries.filter((entry) => isRight(...entry) && entry[0].startsWith(START));
  return {
    memos: memos.map(([key, memo]) => ({ ...whole(memo), id: key.slice(START.length).split('/')[0] }))
      .filter(isUsed),
    damaged: entries.filter((entry) => !isRight(...entry)).map(([key]) => String(key).replace(START, '')),
  };
}

/** For a database that this program cannot read. */
const deleteAll = () => new Promise((resolve, reject) => {
  const request = indexedDB.deleteDatabase('deniable');
  request.onsuccess = resolve;
  request.onerror = () => reject(request.error);
});

/** Empties the tab's name; optional/draft.js also stops each write of a draft that has begun. */
export const drafts = { end: async () => { globalThis.name = ''; } };

/** Where the key of a survey's drafts is kept. */
export const draftPlace = (survey) => `draft/${survey.id}`;

/** Ends the draft: with its key, whatever was written before can be read by nobody. */
export async function dropDraft(survey) {
  await drafts.end();
  await change(draftPlace(survey), () => undefined);
}

export async function forget() {
  drafts.end();
  await transact((table) => table.clear()).catch(deleteAll);
}
