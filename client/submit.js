/** The only file that sends; it takes only frozen reports. */
import { FrozenReport } from './report.js';

/** Refusals that another try cannot change. */
const FINAL = ['malformed', 'not-found', 'rid-reused', 'cap-exceeded', 'closed', 'too-large'];

/**
 * Sends a report once. Gives its `state`: 'stored', 'refused' (for good), 'uninvited' or 'waiting'
 * (worth another try `after` so many seconds), with a word for `why`, and `detail`.
 */
export async function submit(surveyId, report) {
  if (!(report instanceof FrozenReport)) throw new TypeError('"report" expected a FrozenReport');
  let response;
  try {
    response = await fetch(`/api/surveys/${surveyId}/reports`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: report.text,
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
      cache: 'no-store',
      signal: AbortSignal.timeout(30_000),
    });
  } catch {
    return { state: 'waiting', why: 'no-connection', detail: '', after: 0 };
  }
  const { status, type, detail = '' } = (await response.json().catch(() => null)) ?? {};
  const isStored = response.ok && ['stored', 'known'].includes(status);
  // What is not the collector's own word comes from between: a proxy, a login page.
  const why = isStored ? '' : String(type).match(/^urn:deniable:problem:([a-z-]+)$/)?.[1];
  const after = Math.min(3600, Number(response.headers.get('Retry-After')) || 0);
  if (isStored) return { state: 'stored', why, detail: '', after };
  if (why === 'invitation') return { state: 'uninvited', why, detail, after };
  if (FINAL.includes(why)) return { state: 'refused', why, detail, after };
  return { state: 'waiting', why: 'server-said', detail: response.status, after };
}
