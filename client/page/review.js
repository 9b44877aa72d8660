/** What was answered, before and beside what was sent; in memory only. */
import { all, fill, inEpsilon, made, one } from './dom.js';
import { fieldOf, named, questions, saidBy, survey, wording } from './questions.js';

const sent = one('#sent');
/** What this tab has drawn: the answers that counted, and the report. */
let drawn = null;

/** Shows the answers that count, before anything leaves. */
export function showReview(answers) {
  const list = one('#review dl');
  const asked = questions.filter((q) => !fieldOf(q).hidden);
  const rowOf = (q) => [made('dt', wording(q)), made('dd', named(q, answers[q.id]))];
  list.replaceChildren(...asked.flatMap(rowOf));
}

/** Shows what was sent beside the answers, while it is open to be seen. */
export function showSent() {
  const shown = sent?.open ? drawn : null;
  const rows = (shown ? questions.filter(({ id }) => !survey.unasked.has(id)) : []).map((q) => {
    const heading = made('th', wording(q));
    heading.scope = 'row';
    const report = shown.report.content.reports[q.id];
    const cell = made('td', saidBy(q, report), ' ', made('code', JSON.stringify(report)));
    return made('tr', heading, made('td', named(q, shown.answers[q.id])), cell);
  });
  one('#sent tbody')?.replaceChildren(...rows);
  one('#receipt-bytes')?.replaceChildren(shown?.report.text ?? '');
}

/** Keeps in memory what was drawn, or nothing; no other answer is shown any more. */
export function remember(found) {
  // On a shared device the next person could open it.
  drawn = sent && found;
  one('#review dl').replaceChildren();
  one('#receipt').hidden = true;
  sent?.toggleAttribute('open', false);
  showSent();
}

/** What to quote, what was spent, and of a report that was drawn here, what was sent. */
export function showReceipt({ rid, spent, constant, cap }, report) {
  sent?.toggleAttribute('hidden', !drawn);
  if (drawn && report) drawn.report = report;
  one('#receipt-rid').textContent = rid;
  const left = Math.floor(Math.max(0, cap * 1e3 - spent / 1e3)) / 1e3;
  const numbers = { spent: inEpsilon(spent), constant: inEpsilon(constant), cap, left };
  for (const part of all('#receipt [data-filled]')) fill(part, numbers);
  one('#receipt').hidden = false;
  one('#receipt h2').focus();
}

sent?.addEventListener('toggle', showSent);
