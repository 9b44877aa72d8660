/**
 * What a device keeps for all waves: draws that its secret fixes, so that none has to be stored.
 * Counterpart of analysis/memory.py.
 * @typedef {{draw: function(string, number, number, function): Promise}} Memory draws, for a
 *   purpose, a cohort and a symbol, with words that are always the same
 */
import { toHex } from './hex.js';

const ALGORITHM = { name: 'HMAC', hash: 'SHA-256' };
const TAG = 'deniable-memory-1';
const OUT_OF_WORDS = new RangeError('out of words');

const asBytes = (text) => new TextEncoder().encode(text);

/** Four bytes, the highest first. */
const asFour = (number) => [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256);

/** The secret as a key that no script can read again. @returns {Promise<CryptoKey>} */
export function keyOf(secret) {
  const raw = Uint8Array.from(secret.match(/../g), (byte) => parseInt(byte, 16));
  return crypto.subtle.importKey('raw', raw, ALGORITHM, false, ['sign']);
}

/** The respondent's pseudonym in one survey. @returns {Promise<string>} */
export async function pseudonym(key, surveyId) {
  const signed = await crypto.subtle.sign(ALGORITHM.name, key, asBytes(surveyId));
  return toHex(new Uint8Array(signed).slice(0, 16));
}

/** @returns {Promise<number[]>} eight words for each block */
async function derive(key, message, blocks) {
  const words = [];
  for (let block = 0; block < blocks; block += 1) {
    const part = Uint8Array.from([...message, ...asFour(block)]);
    const view = new DataView(await crypto.subtle.sign(ALGORITHM.name, key, part));
    for (let place = 0; place < 32; place += 4) words.push(view.getUint32(place));
  }
  return words;
}

/**
 * A device's memory for one question.
 * @param {CryptoKey} key of `keyOf`
 * @param {string} surveyId
 * @param {string} questionId
 * @param {Uint8Array} digest of the compiled randomizer: other weights make other draws
 * @returns {Memory}
 */
export function memoryOf(key, surveyId, questionId, digest) {
  return {
    async draw(purpose, cohort, symbol, make) {
      const texts = [TAG, surveyId, questionId].map(asBytes);
      const parts = [...texts, digest, asBytes(purpose), asFour(cohort), asFour(symbol)];
      const message = parts.flatMap((part) => [...asFour(part.length), ...part]);
      // Words are derived before the draw, which is not asynchronous; more if they run out.
      for (let blocks = 2; ; blocks *= 4) {
        const words = (await derive(key, message, blocks)).values();
        const next = () => {
          const { value, done } = words.next();
          if (done) throw OUT_OF_WORDS;
          return value;
        };
        try {
          return await make({ next });
        } catch (error) {
          if (error !== OUT_OF_WORDS) throw error;
        }
      }
    },
  };
}
