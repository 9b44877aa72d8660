/** Hashes: of surveys, of questions, of texts, and with the device's secret. */
import { range } from './exact.js';

/** What optional/work.js adds: `work`, for surveys that ask for a proof of it. */
export const proofs = {};

export const bytesOf = (text) => new TextEncoder().encode(text);
/** The four bytes of a number below 2^32, the highest first. */
export const asFour = (number) =>
  [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256);
/** The 32-bit words in a buffer, the highest byte first. */
export const wordsIn = (buffer) => Array.from({ length: buffer.byteLength / 4 },
  (_, place) => new DataView(buffer).getUint32(4 * place));
/** Two hexadecimal digits for each byte. */
export const toHex = (bytes) =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
export const sha256 = (bytes) => crypto.subtle.digest('SHA-256', Uint8Array.from(bytes));

/** RFC 8785: keys sorted by UTF-16 units, no white space, numbers as JavaScript writes them. */
export function canonical(data) {
  if (Array.isArray(data)) return `[${data.map(canonical)}]`;
  if (data === null || typeof data !== 'object') return JSON.stringify(data);
  const member = (key) => `${JSON.stringify(key)}:${canonical(data[key])}`;
  return `{${Object.keys(data).sort().map(member)}}`;
}

export const digestOf = async (data) => new Uint8Array(await sha256(bytesOf(canonical(data))));
export const versionOf = async (survey, randomizers) =>
  toHex(await digestOf({ survey, randomizers }));

const HMAC = { name: 'HMAC', hash: 'SHA-256' };
const sign = (key, bytes) => crypto.subtle.sign('HMAC', key, Uint8Array.from(bytes));

/** A secret as a key that no script can read again. @returns {Promise<CryptoKey>} */
export function keyOf(secret) {
  const raw = Uint8Array.from(secret.match(/../g), (byte) => parseInt(byte, 16));
  return crypto.subtle.importKey('raw', raw, HMAC, false, ['sign']);
}

/** The secret of a part of what a key protects, such as one link. */
export const secretOfPart = async (key, name) => toHex(new Uint8Array(await sign(key, bytesOf(name))));

/** The respondent's pseudonym in one survey. */
export const pseudonym = async (key, surveyId) => (await secretOfPart(key, surveyId)).slice(0, 32);

/** Eight words for each block. */
async function derive(key, message, blocks) {
  const signed = range(blocks).map((block) => sign(key, [...message, ...asFour(block)]));
  return (await Promise.all(signed)).flatMap(wordsIn);
}

/** Draws with words that are always the same for one question and its digest. */
export function memoryOf(key, surveyId, questionId, digest) {
  const texts = ['deniable-memory-1', surveyId, questionId].map(bytesOf);
  return async (purpose, cohort, symbol, make) => {
    const parts = [...texts, digest, bytesOf(purpose), asFour(cohort), asFour(symbol)];
    const message = parts.flatMap((part) => [...asFour(part.length), ...part]);
    // The draw is not asynchronous: if its words run out, zeros follow, and it is made anew.
    for (let blocks = 2; ; blocks *= 4) {
      const words = (await derive(key, message, blocks)).values();
      let ranOut = false;
      const next = () => {
        const { value = 0, done } = words.next();
        ranOut ||= done;
        return value;
      };
      const drawn = await make({ next });
      if (!ranOut) return drawn;
    }
  };
}
