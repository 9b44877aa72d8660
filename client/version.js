/** The version of a survey: SHA-256 of the RFC 8785 form of {survey, randomizers}. */
import { toHex } from './hex.js';

/** RFC 8785: keys sorted by UTF-16 units, no white space, numbers as JavaScript writes them. */
function canonical(data) {
  if (Array.isArray(data)) return `[${data.map(canonical)}]`;
  if (data === null || typeof data !== 'object') return JSON.stringify(data);
  const parts = Object.keys(data).sort().map((key) => `${JSON.stringify(key)}:${canonical(data[key])}`);
  return `{${parts}}`;
}

/**
 * @param {object} survey
 * @param {object} randomizers
 * @returns {Promise<string>} 64 hexadecimal digits
 */
export async function versionOf(survey, randomizers) {
  const bytes = new TextEncoder().encode(canonical({ survey, randomizers }));
  return toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));
}
