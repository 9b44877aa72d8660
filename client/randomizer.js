/**
 * A randomizer: encoder, then channel. It believes nothing that it can check: the structure is
 * verified and the worst probability ratio recomputed from the weights before anything is drawn.
 */
import * as subset from './channels/subset.js';
import * as window from './channels/window.js';
import { ENCODERS } from './encoders.js';

/** Every channel by its name on the wire. */
export const CHANNELS = { window, subset };

function part(table, data) {
  if (!Object.hasOwn(table, data.name)) throw new RangeError(`unknown part "${data.name}"`);
  const { fields } = table[data.name];
  const got = Object.keys(data).filter((key) => key !== 'name').sort().join();
  if (got !== [...fields].sort().join()) {
    throw new RangeError(`"${data.name}" expected ${fields}, got ${got}`);
  }
  for (const field of fields) {
    if (!Number.isSafeInteger(data[field]) || data[field] < 1) {
      throw new RangeError(`"${field}" expected a whole number of at least 1, got ${data[field]}`);
    }
  }
  table[data.name].check(data);
  return table[data.name];
}

/**
 * Checks a randomizer.
 * @param {object} randomizer as it came from the server
 * @returns {number} ε of one report: the logarithm of the worst probability ratio
 * @throws {RangeError} if it is unsound, or its stated ratio is not the ratio of its weights
 */
export function verify(randomizer) {
  const { encoder, channel } = randomizer;
  part(ENCODERS, encoder);
  const [top, bottom] = part(CHANNELS, channel).ratio(channel);
  if (encoder.inputs !== channel.inputs) {
    throw new RangeError(`"inputs" expected ${encoder.inputs}, got ${channel.inputs}`);
  }
  const [statedTop, statedBottom] = randomizer.ratio.map(BigInt);
  if (statedBottom < 1n || statedTop * bottom !== statedBottom * top) {
    throw new RangeError(`"ratio" expected ${top}/${bottom}, got ${statedTop}/${statedBottom}`);
  }
  return Math.log1p(Number(top - bottom) / Number(bottom));
}

/**
 * Draws the report of a value; the only step that protects it.
 * @param {*} value of the question's domain, from kinds.js
 * @param {object} randomizer one that `verify` has passed
 * @param {import('./draw.js').Words} words
 * @returns {number|number[]} what is sent
 */
export function randomize(value, randomizer, words) {
  const { encoder, channel } = randomizer;
  const symbol = ENCODERS[encoder.name].encode(value, encoder, words);
  if (!Number.isInteger(symbol) || symbol < 0 || symbol >= channel.inputs) {
    throw new RangeError(`"symbol" expected an integer of 0..${channel.inputs - 1}`);
  }
  return CHANNELS[channel.name].randomize(symbol, channel, words);
}
