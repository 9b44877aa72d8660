/**
 * Surveys of the first format whose stated ε is not all that their reports cost: reports with a δ,
 * and stable answers that could be skipped. The page draws by the true cost. Reports that were
 * drawn before were charged by what was stated, so it adds what they lack.
 */
import { CHANNELS } from '../channels.js';
import { ENCODERS } from '../encoders.js';
import { asNumber, micro, must, range, sum } from '../exact.js';
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

/** What a fresh report costs beyond what it stated. */
const lackOf = ({ randomizer }) => ('delta' in randomizer
  ? Math.max(0, micro(stated.ratio(randomizer)) - micro(fraction('ratio', randomizer.ratio))) : 0);

/** Whether a memory was charged as if the answer never changed, though it could be skipped. */
const isSkipped = ({ question, keys }) => keys.length > 0 && question.stable && question.no_answer;

/**
 * What all reports cost beyond what these versions stated. Nobody knows by which version a wave was
 * answered, so fresh reports count by the version that lacks most.
 */
function lacksOf({ waves, times }, versions, totals) {
  const constant = Math.max(...versions.map((draws) => sum(draws.map(lackOf))))
    * Object.keys(waves).length;
  const kept = new Map(versions.flat().filter(isSkipped).map((one) => {
    const total = totals(one, times[one.memory] ?? 0, times);
    return [one.memory, total.cost - total.constant];
  }));
  return { cost: constant + sum([...kept.values()]), constant };
}

stated.settled = (memo, versions, totals, isPaid) => {
  const lacks = lacksOf(memo, versions, totals);
  const { cost = 0, constant = 0 } = isPaid ? lacks : memo.settled ?? {};
  return {
    ...memo,
    spent: memo.spent + Math.max(0, lacks.cost - cost),
    constant: memo.constant + Math.max(0, lacks.constant - constant),
    settled: { cost: Math.max(lacks.cost, cost), constant: Math.max(lacks.constant, constant) },
  };
};
