/** Sends frozen reports until the server has answered; it sees no answer. */
import * as memo from '../memo.js';
import { submit } from '../submit.js';
import { fill, one, word } from './dom.js';
import { survey } from './questions.js';

/** Whether this survey is for people with invitations. */
export const isInvited = (survey.access ?? 'open') !== 'open';

/** The invitation of this link, in its fragment, which browsers send to nobody; '' for none. */
export const invitation = () => location.hash.slice(1).match(/^[\w-]{22}$/)?.[0] ?? '';

const reasonOf = ({ why, detail }) => (language) =>
  (one(`[data-word="state.${why}"]`) ? word(`state.${why}`, { reason: detail }, language) : detail);

/** Sends a kept report, unless another tab has; if its link was no good, with that of this page. */
const sendOnce = (kept) => memo.alone(survey, async () => {
  const isSettled = await memo.isSettled(survey, kept).catch(() => false);
  if (isSettled) return { state: 'answered', report: kept, after: 0 };
  let [report, outcome] = [kept, await submit(survey.id, kept)];
  const isOther = isInvited && invitation() && invitation() !== kept.content.token;
  if (outcome.state === 'uninvited' && isOther) {
    report = kept.withToken(invitation());
    outcome = await submit(survey.id, report);
  }
  // If this fails, the report is sent again some day, which the server takes for a retry.
  const isOver = ['stored', 'refused'].includes(outcome.state);
  if (isOver) await memo.settle(survey, kept).catch(() => {});
  return { ...outcome, report, reason: reasonOf(outcome) };
});

/** Until some seconds have passed or the network is back. */
const pause = (seconds) => new Promise((resolve) => {
  setTimeout(resolve, seconds * 1000);
  addEventListener('online', resolve, { once: true });
});

/** Does something until it says no more after how many seconds it is to be done again. */
async function insist(action) {
  for (let seconds = 1; ; seconds = Math.min(60, 2 * seconds)) {
    const after = await action();
    if (after === undefined) return;
    await pause(Math.max(seconds, after));
  }
}

/** Sends a report, the same bytes each time, and tells what becomes of it, if anybody listens. */
export const send = (kept, isListening, tell) => insist(async () => {
  if (!isListening()) return undefined;
  tell({ state: 'sending' });
  const outcome = await sendOnce(kept);
  if (isListening()) tell(outcome);
  return outcome.state === 'waiting' ? outcome.after : undefined;
});

/** Reports of earlier waves and persons that wait; the page says how many. */
async function earlier(recall) {
  const { pending, rid } = await recall();
  const waiting = pending.filter(({ content }) => content.rid !== rid);
  fill(one('#earlier-wait'), { n: waiting.length });
  one('#earlier-wait').hidden = waiting.length === 0;
  return waiting;
}

let isSending = false;

/** Sends them, beside whatever else is done here. */
export async function sendEarlier(recall) {
  if (isSending) return;
  isSending = true;
  await insist(async () => {
    const waits = [];
    for (const report of await earlier(recall)) {
      const { state, reason, after } = await sendOnce(report);
      waits.push(after);
      if (state === 'refused') fill(one('#earlier-refused'), { reason });
      if (state === 'refused') one('#earlier-refused').hidden = false;
    }
    return (await earlier(recall)).length ? Math.max(...waits) : undefined;
  }).catch(() => {});
  isSending = false;
}
