/** Table channel: any weights, a row for each input and a column for each report. */
import { byWeight, sum, worstOf } from '../exact.js';

export const fields = { inputs: 0, rows: 2 };
export const total = (c) => sum(c.rows[0]);
export const isSound = (c) => c.rows.length === c.inputs &&
  c.rows.every((row) => row.length === c.rows[0].length && sum(row) === total(c));
export const ratio = (c) => worstOf(c.rows);
export const weights = (symbol, c) => c.rows[symbol];
export const randomize = (symbol, c, words) => byWeight(c.rows[symbol], words);
