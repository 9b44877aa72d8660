/**
 * All that this device keeps, in the browser's IndexedDB: a secret, and for each survey what was
 * spent and promised, which waves were answered, and the reports that still wait to be sent. No
 * answer. A change is one transaction: no other tab comes between reading and writing, and what was
 * written is on the disk before anything is sent, so that no crash makes a second draw.
 */
import { toHex } from './hex.js';
import { hex } from './random.js';
import { FrozenReport } from './report.js';

const TABLE = 'memo';
const place = (surveyId) => `survey/${surveyId}`;
const EMPTY = { spent: 0, cap: Infinity, waves: {}, pending: [] };

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

/** The respondent's pseudonym in one survey: HMAC-SHA-256 of its id, keyed with the secret. */
export async function pseudonym(surveyId) {
  const secret = await change('secret', (old) => old ?? hex(32));
  const raw = Uint8Array.from(secret.match(/../g), (byte) => parseInt(byte, 16));
  const hmac = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', raw, hmac, false, ['sign']);
  const text = new TextEncoder().encode(surveyId);
  return toHex(new Uint8Array(await crypto.subtle.sign(hmac.name, key, text)).slice(0, 16));
}

/** What is kept of a survey; its cap is the least that this or an earlier page promised. */
const current = (memo, survey) => ({ ...memo, cap: Math.min(memo.cap, survey.privacy.cap) });

/** Whether a wave would spend more than was promised; the ε of the cap in millionths, rounded down. */
const overspends = (memo, cost) => !(memo.spent + cost <= Math.floor(memo.cap * 1e6 + 1e-3));

/** The reports that wait to be sent, the oldest first. */
const waiting = (memo) => memo.pending.map((text) => new FrozenReport(text));

/**
 * What this device knows of a survey.
 * @param {object} survey
 * @param {number} wave
 * @param {number} cost of this wave, in millionths of ε
 * @returns {Promise<{spent: number, cap: number, rid: (string|undefined), pending: FrozenReport[],
 *   spends: boolean}>} `rid` is that of this wave's report, if it was drawn; `spends` is whether
 *   another would go over the cap
 */
export async function recall(survey, wave, cost) {
  const memo = current(await change(place(survey.id), (old = EMPTY) => old), survey);
  const { spent, cap, waves } = memo;
  return { spent, cap, rid: waves[wave], pending: waiting(memo), spends: overspends(memo, cost) };
}

/**
 * Has a wave's report drawn and keeps it, unless it was drawn before or may not be: another tab may
 * have answered this wave or the next in the meantime.
 * @param {object} survey
 * @param {number} wave
 * @param {number} cost in millionths of ε
 * @param {function(): FrozenReport} make draws
 * @returns {Promise<{state: string, report: (FrozenReport|undefined)}>} state is 'drawn',
 *   'answered' (with the report, if it still waits) or 'spent'
 */
export async function keepOnce(survey, wave, cost, make) {
  let outcome;
  await change(place(survey.id), (old = EMPTY) => {
    const memo = current(old, survey);
    if (memo.waves[wave]) {
      outcome = { state: 'answered', report: waiting(memo).find((one) => one.content.wave === wave) };
      return memo;
    }
    if (overspends(memo, cost)) {
      outcome = { state: 'spent' };
      return memo;
    }
    const report = make();
    outcome = { state: 'drawn', report };
    return {
      ...memo,
      spent: memo.spent + cost,
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
