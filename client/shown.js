/** Messages: how a value that was got is written in them. Counterpart of analysis/errors.py. */
import { reduced } from './draw.js';

const LONGEST = 60;
/** Whether it is a fraction of BigInts. */
export const isFraction = (value) =>
  Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === 'bigint');

function written(value, depth) {
  if (typeof value === 'string') return `"${value}"`;
  if (Number.isNaN(value)) return 'nan';
  if (isFraction(value)) return reduced(value).join('/').replace(/\/1$/, '');
  if (Array.isArray(value)) {
    const items = depth ? value.slice(0, 8).map((item) => shown(item, depth - 1)) : ['…'];
    return `[${items.join(', ')}${value.length > 8 ? ', …' : ''}]`;
  }
  if (typeof value !== 'object' || value === null) return String(value ?? null);
  const keys = Object.keys(value).join(', ');
  return keys ? `a table of ${keys}` : 'an empty table';
}

/** How a value that was got is written in a message. @returns {string} */
export function shown(value, depth = 2) {
  const letters = [...written(value, depth)];
  if (letters.length > LONGEST) letters.splice(LONGEST - 1, Infinity, '…');
  return letters.join('');
}

/** @returns {number} the number, if it is one of 0..count-1 @throws {RangeError} if not */
export function whole(name, number, count) {
  if (Number.isInteger(number) && number >= 0 && number < count) return number;
  throw new RangeError(`${name} must be a whole number of 0..${count - 1}, got ${shown(number)}`);
}
