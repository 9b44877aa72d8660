/** The version of a survey: SHA-256 of the RFC 8785 form of {survey, randomizers}. */
import { toHex } from './hex.js';

/** RFC 8785: keys sorted by UTF-16 units, no white space, numbers as JavaScript writes them. */
function canonical(data) {
  if (Array.isArray(data)) return `[${data.map(canonical)}]`;
  if (data === null || typeof data !== 'object') return JSON.stringify(data);
  const parts = Object.keys(data).sort().map((key) => `${JSON.stringify(key)}:${canonical(data[key])}`);
  return `{${parts}}`;
}

/** SHA-256 of the RFC 8785 form of some JSON. @returns {Promise<Uint8Array>} */
export async function digestOf(data) {
  const bytes = new TextEncoder().encode(canonical(data));
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
}

/**
 * @param {object} survey
 * @param {object} randomizers
 * @returns {Promise<string>} 64 hexadecimal digits
 */
export const versionOf = async (survey, randomizers) =>
  toHex(await digestOf({ survey, randomizers }));
