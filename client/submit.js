/** The only file that sends; it takes only frozen reports. */
import { FrozenReport } from './report.js';

/**
 * Sends a report once.
 * @param {string} surveyId
 * @param {FrozenReport} report
 * @returns {Promise<{state: string, message: string, after: number}>} state is 'stored', 'refused'
 *   (for good, for the reason in message) or 'waiting' (worth another try after so many seconds)
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
  if (response.status === 201 || response.status === 200) {
    return { state: 'stored', message: '', after: 0 };
  }
  const after = Number(response.headers.get('Retry-After')) || 0;
  if (response.status >= 500 || response.status === 429) {
    return { state: 'waiting', message: 'the server is busy', after };
  }
  const problem = await response.json().catch(() => ({}));
  return { state: 'refused', message: problem.detail ?? `status ${response.status}`, after };
}
