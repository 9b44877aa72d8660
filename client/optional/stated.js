/**
 * Surveys of the first format whose stated ε is not all that their reports cost: reports with a δ,
 * and stable answers that could be skipped. The page draws by the true cost. Reports that were
 * drawn before were charged by what was stated, so it adds what they lack.
 */
import { CHANNELS } from '../channels.js';
import { ENCODERS } from '../encoders.js';
import { asNumber, must, range, sum } from '../exact.js';
import { fraction, states, stated } from '../randomizer.js';

/** The hockey-stick divergence at top/bottom of the worst two inputs, from all their weights. */
function divergence(channel, [top, bottom]) {
  const { weights, total } = CHANNELS[channel.name];
  const rows = range(channel.inputs).map((symbol) => weights(symbol, channel).map(BigInt));
  const scaled = (factor) => rows.map((row) => row.map((weight) => factor * weight));
  const [ones, others] = [scaled(bottom), scaled(top)];
  const excess = (one, other) =>
    one.reduce((all, weight, y) => (weight > other[y] ? all + weight - other[y] : all), 0n);
  const found = ones.flatMap((one) => others.map((other) => excess(one, other)));
  return [found.reduce((a, b) => (a > b ? a : b)), bottom * BigInt(total(channel))];
}

/** Checks the δ of a randomizer, which must be at most `most`. */
stated.verify = (randomizer, most) => {
  const { encoder, channel } = randomizer;
  const isOne = CHANNELS[channel.name].weights && !ENCODERS[encoder.name].cohorts;
  must(isOne, 'delta must be left out where reports are not one symbol', channel);
  const limit = fraction('ratio', randomizer.ratio);
  must(limit[0] >= limit[1], 'ratio must be at least 1', randomizer.ratio);
  states(randomizer, 'delta', divergence(channel, limit));
  const delta = asNumber(fraction('delta', randomizer.delta));
  must(delta <= most * (1 + 1e-9), `expected δ of at most ${most}`, delta);
};

/** The largest ratio of a report's probabilities, whatever was stated. */
stated.ratio = ({ encoder, channel }) =>
  CHANNELS[channel.name].ratio(channel, ENCODERS[encoder.name].apart?.(encoder));

/** What was charged too little, from the true costs of all that was drawn. */
stated.owed = ({ spent, constant }, costs) => {
  const more = (key, charged) => Math.max(0, sum(costs.map((one) => one[key])) - charged);
  return { cost: more('cost', spent), constant: more('constant', constant) };
};
