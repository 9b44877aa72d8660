/** The version of a survey: SHA-256 of the RFC 8785 form of {survey, randomizers}. */
import { bytesOf, sha256, toHex } from './bytes.js';

/** RFC 8785: keys sorted by UTF-16 units, no white space, numbers as JavaScript writes them. */
function canonical(data) {
  if (Array.isArray(data)) return `[${data.map(canonical)}]`;
  if (data === null || typeof data !== 'object') return JSON.stringify(data);
  const member = (key) => `${JSON.stringify(key)}:${canonical(data[key])}`;
  return `{${Object.keys(data).sort().map(member)}}`;
}

export const digestOf = async (data) => new Uint8Array(await sha256(bytesOf(canonical(data))));
export const versionOf = async (survey, randomizers) =>
  toHex(await digestOf({ survey, randomizers }));
