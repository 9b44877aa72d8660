/** What was answered, before and beside what was sent: for the respondent, in memory only. */
import { all, fill, made, one } from './dom.js';
import { asked, fieldOf, named, questions } from './questions.js';

const sent = one('#sent');
/** What this tab has drawn: the answers that counted, and the report. */
let drawn = null;

/** Shows the answers that count, before anything leaves. */
export function showReview(answers) {
  const list = one('#review dl');
  list.replaceChildren();
  for (const q of questions) {
    if (fieldOf(q).hidden) continue;
    list.append(made('dt', asked(q)), made('dd', named(q, answers[q.id])));
  }
}

/** Shows what was sent beside the answers, while it is open to be seen. */
export function showSent() {
  const shown = sent.open ? drawn : null;
  const rows = (shown ? questions : []).map((q) => {
    const heading = made('th', asked(q));
    heading.scope = 'row';
    const report = made('code', JSON.stringify(shown.report.content.reports[q.id]));
    return made('tr', heading, made('td', named(q, shown.answers[q.id])), made('td', report));
  });
  one('tbody', sent).replaceChildren(...rows);
  one('#receipt-bytes').textContent = shown?.report.text ?? '';
}

/** Keeps in memory what was drawn, or nothing; no other answer is shown any more. */
export function remember(found) {
  drawn = found;
  one('#review dl').replaceChildren();
  one('#receipt').hidden = true;
  sent.open = false;
  showSent();
}

/** What to quote, what was spent, and of a report that was drawn here, what was sent. */
export function showReceipt({ rid, spent, constant, cap }, report) {
  sent.hidden = !drawn;
  if (drawn && report) drawn.report = report;
  one('#receipt-rid').textContent = rid;
  const left = Math.max(0, cap - spent / 1e6);
  const numbers = { spent: spent / 1e6, constant: constant / 1e6, cap, left };
  for (const part of all('#receipt [data-filled]')) fill(part, numbers);
  one('#receipt').hidden = false;
  one('#receipt h2').focus();
}

sent.addEventListener('toggle', showSent);
