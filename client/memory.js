/** What a device keeps for all waves: draws that its secret fixes, so that none is stored. */
import { asFour, bytesOf, toHex, wordsIn } from './bytes.js';
import { range } from './draw.js';

const HMAC = { name: 'HMAC', hash: 'SHA-256' };
const sign = (key, bytes) => crypto.subtle.sign('HMAC', key, Uint8Array.from(bytes));

/** A secret as a key that no script can read again. @returns {Promise<CryptoKey>} */
export function keyOf(secret) {
  const raw = Uint8Array.from(secret.match(/../g), (byte) => parseInt(byte, 16));
  return crypto.subtle.importKey('raw', raw, HMAC, false, ['sign']);
}

/** The respondent's pseudonym in one survey. */
export const pseudonym = async (key, surveyId) =>
  toHex(new Uint8Array(await sign(key, bytesOf(surveyId))).slice(0, 16));

/** Eight words for each block. */
async function derive(key, message, blocks) {
  const signed = range(blocks).map((block) => sign(key, [...message, ...asFour(block)]));
  return (await Promise.all(signed)).flatMap(wordsIn);
}

/** Has things drawn with words that are always the same for one question and its digest. */
export function memoryOf(key, surveyId, questionId, digest) {
  const texts = ['deniable-memory-1', surveyId, questionId].map(bytesOf);
  return async (purpose, cohort, symbol, make) => {
    const parts = [...texts, digest, bytesOf(purpose), asFour(cohort), asFour(symbol)];
    const message = parts.flatMap((part) => [...asFour(part.length), ...part]);
    // Words are derived before the draw, which is not asynchronous. If they run out, zeros take
    // their place, and all is drawn again with more.
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
