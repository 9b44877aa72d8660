/**
 * Table channel: any weights, a row for each input and a column for each report. Counterpart of
 * analysis/channels/table.py, which names the sources.
 */
import { below, checkTotal, sum } from '../draw.js';
import { placeOf, worstRatio } from './one_symbol.js';

/** Each number that states it; the depth of lists of them. */
export const fields = { inputs: 0, rows: 2 };

/** @throws {RangeError} unless the weights form a channel */
export function check({ inputs, rows }) {
  if (inputs < 2 || rows.length !== inputs) {
    throw new RangeError(
      `table: rows must be as many as inputs, at least 2, got ${rows.length}`,
    );
  }
  const total = sum(rows[0]);
  for (const row of rows) {
    if (row.length !== rows[0].length) {
      throw new RangeError(`table: rows must be equally long, got ${row.length}`);
    }
    if (sum(row) !== total) {
      throw new RangeError(`table: rows must have equal sums, got ${total} and ${sum(row)}`);
    }
  }
  checkTotal('table', total);
}

/** The largest ratio of the probabilities of one report under two inputs. @returns {bigint[]} */
export const ratio = (c) => worstRatio(c.rows);

/** The weight of each report for an input; all inputs have the same sum. @returns {number[]} */
export const weights = (symbol, c) => c.rows[symbol];

/** @param {number} symbol the input, 0 <= symbol < inputs @returns {number} the report */
export function randomize(symbol, c, words) {
  const row = c.rows[symbol];
  return placeOf(below(Number(sum(row)), words), row);
}
