/** The only file that sends; it takes only frozen reports. */
import { FrozenReport } from './report.js';

/** Refusals that another try cannot change. */
const FINAL = [
  'malformed',
  'not-found',
  'rid-reused',
  'cap-exceeded',
  'closed',
  'too-large',
];

/** What people can do something about, in their words. */
const IN_WORDS = {
  invitation: 'this link was used already, or is not whole. Please open the whole link that you were sent.',
  closed: 'the survey was closed in the meantime.',
  'cap-exceeded': 'this device has given this survey as much as it promised to ask for.',
};

/**
 * Sends a report once.
 * @param {string} surveyId
 * @param {FrozenReport} report
 * @returns {Promise<{state: string, message: string, after: number}>} state is 'stored', 'refused'
 *   (for good, for the reason in message), 'uninvited' (for want of a good invitation) or 'waiting'
 *   (worth another try after so many seconds)
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
    return { state: 'waiting', message: 'no connection', after: 0 };
  }
  const answer = await response.json().catch(() => ({}));
  if (response.ok && ['stored', 'known'].includes(answer.status)) {
    return { state: 'stored', message: '', after: 0 };
  }
  // Anything else that is not the collector's own word comes from between: a proxy, a login page.
  const word = String(answer.type).match(/^urn:deniable:problem:([a-z-]+)$/)?.[1];
  const message = IN_WORDS[word] ?? answer.detail;
  if (word === 'invitation') return { state: 'uninvited', message, after: 0 };
  if (word && FINAL.includes(word)) return { state: 'refused', message, after: 0 };
  const after = Math.min(3600, Number(response.headers.get('Retry-After')) || 0);
  return { state: 'waiting', message: `the server answered ${response.status}`, after };
}
