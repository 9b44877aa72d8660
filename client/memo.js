/**
 * All that this device keeps, in the browser's local storage: a secret, and for each survey what
 * was spent and promised, which waves were answered, and the reports that still wait to be sent. No answer.
 */
import { hex } from './random.js';
import { FrozenReport } from './report.js';

const SECRET = 'deniable/secret';
const place = (surveyId) => `deniable/survey/${surveyId}`;
const read = (surveyId) =>
  JSON.parse(localStorage.getItem(place(surveyId)) ?? '{"spent":0,"cap":null,"waves":{},"pending":[]}');

/**
 * Looks whether this browser can keep anything and lock it, before anybody relies on it.
 * @throws {Error} if it cannot
 */
export function check() {
  const probe = 'deniable/probe';
  localStorage.setItem(probe, probe);
  localStorage.removeItem(probe);
  if (!navigator.locks) throw new Error('this browser is too old: it has no Web Locks');
}

/** Nothing else runs between reading and writing, not even in another tab. */
export function alone(surveyId, action) {
  return navigator.locks.request(place(surveyId), action);
}

/** The device's secret, 256 bits in hexadecimal; drawn once, even if two tabs ask at a time. */
function secret() {
  return navigator.locks.request(SECRET, () => {
    if (!localStorage.getItem(SECRET)) localStorage.setItem(SECRET, hex(32));
    return localStorage.getItem(SECRET);
  });
}

/** The respondent's pseudonym in one survey: HMAC-SHA-256 of its id, keyed with the secret. */
export async function pseudonym(surveyId) {
  const raw = Uint8Array.from((await secret()).match(/../g), (byte) => parseInt(byte, 16));
  const hmac = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', raw, hmac, false, ['sign']);
  const text = new TextEncoder().encode(surveyId);
  const bytes = new Uint8Array(await crypto.subtle.sign(hmac.name, key, text)).slice(0, 16);
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** @returns {number} millionths of ε that this device has spent on the survey */
export const spent = (surveyId) => read(surveyId).spent;

/** @returns {number} ε that may be spent: the least that this or an earlier page promised */
export const cap = (survey) => Math.min(read(survey.id).cap ?? Infinity, survey.privacy.cap);

/** @returns {string|undefined} the id of the report drawn for a wave, if there is one */
export const drawn = (surveyId, wave) => read(surveyId).waves[wave];

/** @returns {FrozenReport[]} the reports that wait to be sent, the oldest first */
export const pending = (surveyId) => read(surveyId).pending.map((text) => new FrozenReport(text));

/** Keeps a report that was just drawn, and what it costs, before anything is sent. */
export function keep(survey, report, cost) {
  const memo = read(survey.id);
  memo.cap = cap(survey);
  const { wave, rid } = report.content;
  memo.spent += cost;
  memo.waves[wave] = rid;
  memo.pending.push(report.text);
  localStorage.setItem(place(survey.id), JSON.stringify(memo));
}

/** Lets go of a report that waited: the server has answered. What was spent stays spent. */
export function settle(surveyId, report) {
  const memo = read(surveyId);
  memo.pending = memo.pending.filter((text) => text !== report.text);
  localStorage.setItem(place(surveyId), JSON.stringify(memo));
}
