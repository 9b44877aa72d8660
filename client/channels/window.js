/** Window channel: the `width` outputs from the input on have weight `near`, all others `far`. */
import { below, between, range } from '../exact.js';

export const fields = { inputs: 0, width: 0, near: 0, far: 0 };
export const total = (c) => c.width * c.near + (c.inputs - 1) * c.far;
export const ratio = (c) => between(c.near, c.far);
export const weights = (symbol, c) => range(c.inputs + c.width - 1).map((output) =>
  (symbol <= output && output < symbol + c.width ? c.near : c.far));

export function randomize(symbol, c, words) {
  const draw = below(total(c), words);
  const inside = c.width * c.near;
  if (draw < inside) return symbol + Math.floor(draw / c.near);
  const outside = Math.floor((draw - inside) / c.far);
  return outside < symbol ? outside : outside + c.width;
}

export const remember = (symbol, c, drawn) => drawn(symbol, (words) => randomize(symbol, c, words));
