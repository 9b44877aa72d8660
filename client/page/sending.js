/** Sends frozen reports until the server has answered; it sees no answer. */
import { proofs } from '../hashes.js';
import * as memo from '../memo.js';
import { submit } from '../submit.js';
import { fill, one, word } from './dom.js';
import { survey } from './questions.js';

/** Whether this survey is for people with invitations. */
export const isInvited = (survey.access ?? 'open') !== 'open';

/** More work than any survey can ask for would never end. */
const MOST_WORK = 20;

const reasonOf = ({ why, detail }) => (language) =>
  (one(`[data-word="state.${why}"]`) ? word(`state.${why}`, { reason: detail }, language) : detail);

/** Does the work for a report that has to have some; the report itself stays as it was drawn. */
async function solve(record, report, bits, tell) {
  tell({ state: 'working' });
  const { version, wave, rid } = report.content;
  await memo.replace(record, report, { work: await proofs.work(`${version}:${wave}:${rid}`, bits) });
  tell({ state: 'sending' });
}

/** Sends a report as it waits in storage, which may have changed since, or be forgotten. */
async function attempt(record, kept, tell, canWork = true) {
  const { report, isKnown } = await memo.waiting(record, kept.content.rid);
  if (!report) return { state: isKnown ? 'answered' : 'forgotten', report: kept };
  const outcome = await submit(survey.id, report);
  if (outcome.why === 'work-required' && proofs.work && canWork && outcome.bits <= MOST_WORK) {
    await solve(record, report, outcome.bits, tell);
    return attempt(record, kept, tell, false);
  }
  // If this fails, the report is sent again some day, which the server takes for a retry.
  const isOver = ['stored', 'refused'].includes(outcome.state);
  if (isOver) await memo.settle(record, report).catch(() => {});
  return { ...outcome, report, reason: reasonOf(outcome) };
}

/** The same while no other tab sends; what cannot be looked up is not sent now. */
const sendOnce = (record, kept, tell = () => {}) => memo.alone(record, () => attempt(record, kept, tell))
  .catch(({ message }) => ({ state: 'waiting', reason: message, after: 0, most: 60 }));

/** Waits until some seconds have passed or the network is back. */
const pause = (seconds) => new Promise((resolve) => {
  setTimeout(resolve, seconds * 1000);
  addEventListener('online', resolve, { once: true });
});

/** Repeats something as long as it says after how many seconds to do it again. */
async function insist(action) {
  for (let seconds = 1; ; seconds *= 2) {
    const next = await action();
    if (!next) return;
    await pause(Math.max(Math.min(seconds, next.most), next.after));
  }
}

/**
 * Sends a report of a record of the survey, the same bytes each time, and tells what becomes of it,
 * if anybody listens.
 */
export const send = (record, kept, isListening, tell) => insist(async () => {
  const tellThem = (outcome) => isListening() && tell(outcome);
  if (!isListening()) return undefined;
  tellThem({ state: 'sending' });
  const outcome = await sendOnce(record, kept, tellThem);
  tellThem(outcome);
  return outcome.state === 'waiting' ? outcome : undefined;
});

/** Reports of earlier waves, persons and links that wait; the page says how many. */
async function earlier(recall) {
  const { rid, place } = await recall();
  const all = await memo.waitingOf({ ...survey, place });
  const waiting = all.filter(({ report }) => report.content.rid !== rid);
  fill(one('#earlier-wait'), { n: waiting.length });
  one('#earlier-wait').hidden = waiting.length === 0;
  return waiting;
}

let isSending = false;

/** Sends these reports, whatever else is done here. */
export async function sendEarlier(recall) {
  if (isSending) return;
  isSending = true;
  await insist(async () => {
    const waits = [];
    for (const { report, ...other } of await earlier(recall)) {
      const { state, reason, after, most } = await sendOnce(other, report);
      if (state === 'waiting') waits.push({ after, most });
      if (state === 'refused') fill(one('#earlier-refused'), { reason });
      if (state === 'refused') one('#earlier-refused').hidden = false;
    }
    await earlier(recall);
    const longest = (key) => Math.max(...waits.map((wait) => wait[key]));
    return waits.length ? { after: longest('after'), most: longest('most') } : undefined;
  }).catch(() => {});
  isSending = false;
}
