/**
 * What channels have in common whose report is one symbol drawn by a row of weights.
 * Counterpart of analysis/channels/one_symbol.py.
 */

/**
 * The place in a row of weights where a number falls, each taking as many as its weight.
 * @param {number} draw 0 <= draw < the sum of the weights
 * @param {number[]} weights
 * @returns {number}
 */
export function placeOf(draw, weights) {
  let left = draw;
  return weights.findIndex((weight) => {
    left -= weight;
    return left < 0;
  });
}

/**
 * The largest weight of a column over its smallest, the largest of all columns.
 * @param {number[][]} rows of one sum: a row for each input, a column for each report
 * @returns {bigint[]} [top, bottom]
 */
export function worstRatio(rows) {
  let [top, bottom] = [1n, 1n];
  for (const place of rows[0].keys()) {
    const column = rows.map((row) => row[place]);
    const most = BigInt(column.reduce((a, b) => Math.max(a, b)));
    const least = BigInt(column.reduce((a, b) => Math.min(a, b)));
    if (most * bottom > top * least) [top, bottom] = [most, least];
  }
  return [top, bottom];
}
