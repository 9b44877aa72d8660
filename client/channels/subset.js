/** Subset channel: `size` symbols, the input among them by `include` against `exclude`. */
import { below, between, range } from '../exact.js';

export const fields = { inputs: 0, size: 0, include: 0, exclude: 0 };
export const isSound = (c) => c.size < c.inputs;
export const total = (c) => c.include + c.exclude;
export const ratio = (c) =>
  between(BigInt(c.include) * BigInt(c.inputs - c.size), BigInt(c.exclude) * BigInt(c.size));

export function randomize(symbol, c, words) {
  const member = below(total(c), words) < c.include;
  let needed = c.size - (member ? 1 : 0);
  let left = c.inputs - 1;
  return range(c.inputs).filter((other) => {
    if (other === symbol) return member;
    const chosen = below(left, words) < needed;
    if (chosen) needed -= 1;
    left -= 1;
    return chosen;
  });
}
