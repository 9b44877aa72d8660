/**
 * All that this device keeps, in the browser's IndexedDB: a secret, and for each survey its title,
 * what was spent and promised, which waves were answered, how often each memory was used, and the
 * reports that still wait. A change is one transaction: no other tab comes between, and it is on
 * the disk before anything is sent, so that no crash draws again. No answer: `draft` is elsewhere.
 */
import { keyOf } from './hashes.js';
import { hex } from './random.js';
import { FrozenReport } from './report.js';

const TABLE = 'memo';
const EMPTY = { spent: 0, constant: 0, cap: Infinity, waves: {}, times: {}, pending: [] };
const place = (survey) => `survey/${survey.id}`;

/** Gives what `act` makes of the table, once that is on the disk: all of it, or nothing. */
const transact = (act, mode = 'readwrite') => new Promise((resolve, reject) => {
  const request = indexedDB.open('deniable', 1);
  request.onupgradeneeded = () => request.result.createObjectStore(TABLE);
  request.onerror = () => reject(request.error);
  request.onsuccess = () => {
    const opened = request.result;
    const transaction = opened.transaction(TABLE, mode, { durability: 'strict' });
    const found = act(transaction.objectStore(TABLE), reject);
    transaction.oncomplete = () => resolve(found);
    transaction.onabort = () => reject(transaction.error ?? new Error('aborted'));
    // It closes once the transaction has ended.
    opened.close();
  };
});

/** Changes what is kept under a key; `update` gives it from what was, undefined for nothing. */
async function change(key, update) {
  let kept;
  await transact((table, reject) => {
    const request = table.get(key);
    request.onsuccess = () => {
      try {
        kept = update(request.result);
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

/** The device's secret, as a key; drawn once. @returns {Promise<CryptoKey>} */
export const deviceKey = async () => keyOf(await change('secret', (old) => old ?? hex(32)));

/** What is kept of a survey; without `constant`, all costs were constant. */
const whole = (memo = EMPTY) => ({ ...EMPTY, constant: memo.spent, ...memo });
const read = async (survey) =>
  whole((await transact((table) => table.get(place(survey)), 'readonly')).result);

/** As it is from now on; the cap is the least that any page promised. */
const renewed = (memo, { title, privacy }) =>
  ({ ...memo, title, cap: Math.min(memo.cap, privacy.cap) });

/** Whether a wave would spend more than was promised; the cap in millionths, rounded down. */
const overspends = (memo, cost) => !(memo.spent + cost <= Math.floor(memo.cap * 1e6 + 1e-3));

/** With `rid`, that of this wave's report if it was drawn, and the reports that wait. */
const known = (memo, wave) =>
  ({ ...memo, rid: memo.waves[wave], pending: memo.pending.map((text) => new FrozenReport(text)) });

/** What is known of a survey, and whether one more wave, of this price, `spends` too much. */
export async function recall(survey, wave, price) {
  const memo = renewed(await read(survey), survey);
  return { ...known(memo, wave), spends: overspends(memo, price(memo.times).cost) };
}

/**
 * Has `make` draw a wave's report and keeps it, unless it was drawn before or may not be: another
 * tab may have answered this wave or the next in the meantime. Gives what is known, and `isDrawn`.
 */
export async function keepOnce(survey, wave, price, make) {
  let isDrawn = false;
  const memo = await change(place(survey), (old) => {
    const before = renewed(whole(old), survey);
    const { cost, constant, times } = price(before.times);
    if (before.waves[wave] || overspends(before, cost)) return before;
    isDrawn = true;
    const { text, content } = make();
    return {
      ...before, times, spent: before.spent + cost, constant: before.constant + constant,
      waves: { ...before.waves, [wave]: content.rid }, pending: [...before.pending, text],
    };
  });
  return { ...known(memo, wave), isDrawn };
}

/** Whether the server has answered; a device that forgot does not know, and sends it again. */
export async function isSettled(survey, { text, content }) {
  const { waves, pending } = await read(survey);
  return Object.values(waves).includes(content.rid) && !pending.includes(text);
}

const isUsed = ({ waves, pending }) => Object.keys(waves).length + pending.length > 0;

/** Keeps less of a survey; nothing if no wave is left and no report waits. */
const reduce = (survey, update) => change(place(survey), (old) => {
  const memo = update(whole(old));
  return isUsed(memo) ? memo : undefined;
});

/** Lets go of a report that waited: the server has answered. What was spent stays spent. */
export const settle = (survey, { text }) =>
  reduce(survey, (memo) => ({ ...memo, pending: memo.pending.filter((one) => one !== text) }));

/** For the next person at this device: keeps nothing of the last but reports that still wait. */
export async function restart(survey) {
  await change('secret', () => undefined);
  await reduce(survey, ({ pending }) => ({ ...EMPTY, pending }));
}

/** Does something while no other tab does so for this survey. */
export const alone = (survey, action) =>
  (navigator.locks ? navigator.locks.request(place(survey), action) : action());

/** What is kept of every survey that was answered here. @returns {Promise<object[]>} */
export async function list() {
  const found = await transact((table) => [table.getAllKeys(), table.getAll()], 'readonly');
  const [keys, memos] = found.map(({ result }) => result);
  return keys.map((key, at) => ({ ...whole(memos[at]), id: key.replace('survey/', '') }))
    .filter(isUsed);
}

/** Deletes all, the secret too. */
export const forget = () => transact((table) => table.clear());

const draftOf = ({ version, wave }) => `draft/${version}/${wave}/`;

/** The answers of an unfinished form in this tab; null if there are none. */
export function draft(open) {
  const start = draftOf(open);
  return globalThis.name.startsWith(start) ? JSON.parse(globalThis.name.slice(start.length)) : null;
}
/** In the tab's name: unlike its sessionStorage, browsers do not write that to their disk. */
export function keepDraft(open, answers) {
  globalThis.name = draftOf(open) + JSON.stringify(answers);
}
export function dropDraft() {
  if (globalThis.name.startsWith('draft/')) globalThis.name = '';
}
