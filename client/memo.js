/**
 * All that this device keeps, in the browser's IndexedDB: a secret, and for each survey what was
 * spent and promised, which waves were answered, how often each memory was used, and the reports
 * that still wait to be sent. No answer. A change is one transaction: no other tab comes between
 * reading and writing, and what was written is on the disk before anything is sent, so that no
 * crash makes a second draw.
 */
import { keyOf } from './memory.js';
import { hex } from './random.js';
import { FrozenReport } from './report.js';

const TABLE = 'memo';
const place = (surveyId) => `survey/${surveyId}`;
const EMPTY = { spent: 0, constant: 0, cap: Infinity, waves: {}, times: {}, pending: [] };

/** @returns {Promise<IDBDatabase>} the database, made if it is missing */
function database() {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open('deniable', 1);
    request.onupgradeneeded = () => request.result.createObjectStore(TABLE);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/**
 * Changes what is kept under a key, all at once.
 * @param {string} key
 * @param {function(*): *} update from what was kept, or undefined, to what is kept from now on
 * @returns {Promise<*>} what is kept, once it is on the disk
 */
async function change(key, update) {
  const opened = await database();
  return new Promise((resolve, reject) => {
    const transaction = opened.transaction(TABLE, 'readwrite', { durability: 'strict' });
    const table = transaction.objectStore(TABLE);
    const request = table.get(key);
    let kept;
    request.onsuccess = () => {
      try {
        kept = update(request.result);
        table.put(kept, key);
      } catch (error) {
        reject(error);
        transaction.abort();
      }
    };
    transaction.oncomplete = () => resolve(kept);
    transaction.onabort = () => reject(transaction.error);
  }).finally(() => opened.close());
}

/** The device's secret, as a key; drawn once. @returns {Promise<CryptoKey>} */
export const deviceKey = async () => keyOf(await change('secret', (old) => old ?? hex(32)));

/**
 * What is kept of a survey; its cap is the least that this or an earlier page promised. An earlier
 * release kept no `times` and no `constant`: nothing was remembered, and all costs were constant.
 */
const current = (memo, survey) => ({
  ...EMPTY,
  constant: memo.spent,
  ...memo,
  cap: Math.min(memo.cap, survey.privacy.cap),
});

/** Whether a wave would spend more than was promised; the ε of the cap in millionths, rounded down. */
const overspends = (memo, cost) => !(memo.spent + cost <= Math.floor(memo.cap * 1e6 + 1e-3));

/** The reports that wait to be sent, the oldest first. */
const waiting = (memo) => memo.pending.map((text) => new FrozenReport(text));

/**
 * What this device knows of a survey.
 * @param {object} survey
 * @param {number} wave
 * @param {function} price of one more wave, from `priceOf`
 * @returns {Promise<{spent: number, constant: number, cap: number, rid: (string|undefined),
 *   pending: FrozenReport[], spends: boolean, isNew: boolean}>} `constant` is what was spent if no
 *   answer ever changed; `rid` is that of this wave's report, if it was drawn; `spends` is whether
 *   another would go over the cap; `isNew` whether none was ever drawn
 */
export async function recall(survey, wave, price) {
  const memo = current(await change(place(survey.id), (old = EMPTY) => old), survey);
  const { spent, constant, cap, waves } = memo;
  const spends = overspends(memo, price(memo.times).cost);
  const isNew = Object.keys(waves).length === 0;
  return { spent, constant, cap, rid: waves[wave], pending: waiting(memo), spends, isNew };
}

/**
 * Has a wave's report drawn and keeps it, unless it was drawn before or may not be: another tab may
 * have answered this wave or the next in the meantime.
 * @param {object} survey
 * @param {number} wave
 * @param {function} price of one more wave, from `priceOf`
 * @param {function(): FrozenReport} make draws
 * @returns {Promise<{state: string, report: (FrozenReport|undefined)}>} state is 'drawn',
 *   'answered' (with the report, if it still waits) or 'spent'
 */
export async function keepOnce(survey, wave, price, make) {
  let outcome;
  await change(place(survey.id), (old = EMPTY) => {
    const memo = current(old, survey);
    if (memo.waves[wave]) {
      outcome = { state: 'answered', report: waiting(memo).find((one) => one.content.wave === wave) };
      return memo;
    }
    const { cost, constant, times } = price(memo.times);
    if (overspends(memo, cost)) {
      outcome = { state: 'spent' };
      return memo;
    }
    const report = make();
    outcome = { state: 'drawn', report };
    return {
      ...memo,
      spent: memo.spent + cost,
      constant: memo.constant + constant,
      times,
      waves: { ...memo.waves, [wave]: report.content.rid },
      pending: [...memo.pending, report.text],
    };
  });
  return outcome;
}

/** Lets go of a report that waited: the server has answered. What was spent stays spent. */
export async function settle(survey, report) {
  await change(place(survey.id), (memo) => ({
    ...memo,
    pending: memo.pending.filter((text) => new FrozenReport(text).content.rid !== report.content.rid),
  }));
}
