/** The only file that sends: frozen reports, and the question whether a link can be used. */
import { FrozenReport } from './report.js';

/** Refusals that another try cannot change. */
const FINAL = ['malformed', 'rid-reused', 'cap-exceeded', 'over', 'too-large'];
/** Refusals that can pass: a wave is opened again, a survey restored, the work done. */
const PASSING = ['closed', 'not-found', 'work-required'];

/** A request that ends after so many seconds; making it sends nothing. */
export function requestOf(surveyId, what, body, seconds) {
  const limit = new AbortController();
  setTimeout(() => limit.abort(), 1000 * seconds);
  return new Request(`/api/surveys/${surveyId}/${what}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body,
    credentials: 'omit',
    referrerPolicy: 'no-referrer',
    cache: 'no-store',
    signal: limit.signal,
  });
}

/** What the server answers; undefined if it cannot be reached, and for no other reason. */
const answerTo = (request) => fetch(request).catch(() => undefined);

/**
 * Sends a report once. Gives its `state`: 'stored', 'refused' (for good), 'uninvited' or 'waiting'
 * (worth another try `after` so many seconds, and each `most` seconds), with a word for `why`, a
 * `detail`, and the `bits` of work that are asked for.
 */
export async function submit(surveyId, report) {
  if (!(report instanceof FrozenReport)) throw new TypeError('"report" expected a FrozenReport');
  const response = await answerTo(requestOf(surveyId, 'reports', report.text, 30));
  if (!response) return { state: 'waiting', why: 'no-connection', detail: '', after: 0, most: 60 };
  const { status, type, detail = '', bits, field } = (await response.json().catch(() => null)) ?? {};
  const isStored = response.ok && ['stored', 'known'].includes(status);
  // What is not the collector's own word comes from between: a proxy, a login page.
  const told = isStored ? '' : String(type).match(/^urn:deniable:problem:([a-z-]+)$/)?.[1];
  // A version that the server does not have can come back: it was restored from an older copy.
  const why = told === 'malformed' && field === 'version' ? 'not-found' : told;
  const after = Math.min(3600, Number(response.headers.get('Retry-After')) || 0);
  if (isStored) return { state: 'stored', why, detail: '', after };
  if (why === 'invitation') return { state: 'uninvited', why, detail, after };
  if (FINAL.includes(why)) return { state: 'refused', why, detail, after };
  if (PASSING.includes(why)) return { state: 'waiting', why, detail, after, most: 3600, bits };
  return { state: 'waiting', why: 'server-said', detail: response.status, after, most: 60 };
}

/** Whether a link can be used; true also if nobody says so, since the server checks again. */
export async function isUsable(surveyId, wave, token) {
  const body = JSON.stringify({ wave, token });
  const response = await answerTo(requestOf(surveyId, 'invitations', body, 10));
  return (await response?.json().catch(() => null))?.status !== 'unusable';
}
