/** What was answered, before and beside what was sent; in memory only. */
import { all, fill, inEpsilon, made, madeLink, one, saveFile, textOf, word } from './dom.js';
import { fieldOf, named, questions, saying, survey, wording } from './questions.js';

const sent = one('#sent');
/** What this tab has drawn: the answers that counted, and the report. */
let drawn = null;

/** Shows the answers that count, before anything leaves, each with a link to `change` it. */
export function showReview(answers, change) {
  const list = one('#review dl');
  const asked = questions.filter((q) => !fieldOf(q).hidden);
  const linkOf = (q) => madeLink(() => change(q), word('review.change'));
  const rowOf = (q) =>
    [made('dt', wording(q)), made('dd', named(q, answers[q.id])), made('dd', linkOf(q))];
  list.replaceChildren(...asked.flatMap(rowOf));
}

/** Shows what was sent beside the answers, while it is open to be seen. */
export async function showSent() {
  const shown = sent?.open ? drawn : null;
  const asked = shown ? questions.filter(({ id }) => !survey.unasked.has(id)) : [];
  const rows = await Promise.all(asked.map(async (q) => {
    const heading = made('th', wording(q));
    heading.scope = 'row';
    const answer = shown.answers[q.id];
    const { says } = await saying(q, shown.report.content.reports[q.id], answer);
    return made('tr', heading, made('td', named(q, answer)), made('td', says));
  }));
  // Meanwhile it was closed, or somebody else is here.
  if (shown !== (sent?.open ? drawn : null)) return;
  one('#sent tbody')?.replaceChildren(...rows);
  one('#receipt-bytes')?.replaceChildren(shown?.report.text ?? '');
}

/** Keeps in memory what was drawn, or nothing; no other answer is shown any more. */
export function remember(found) {
  // On a shared device the next person could open it.
  drawn = sent && found;
  one('#review dl').replaceChildren();
  one('#receipt').hidden = true;
  one('#receipt-rid').textContent = '';
  sent?.toggleAttribute('open', false);
  one('#sent tbody')?.replaceChildren();
  showSent();
}

/** What to quote, what was spent, and of a report that was drawn here, what was sent. */
export function showReceipt({ rid, spent, constant, cap, left }, report) {
  sent?.toggleAttribute('hidden', !drawn);
  if (drawn && report) drawn.report = report;
  one('#receipt-rid').textContent = rid;
  // A record without traces has no number.
  for (const part of all('[data-trace]')) part.hidden = /^0+$/.test(rid);
  const [total, least, most] = [spent, constant, Math.round(cap * 1e6)].map(inEpsilon);
  const kept = Math.floor(Math.max(0, left) / 1e3) / 1e3;
  const numbers = { spent: total, constant: least, cap: most, left: kept };
  for (const part of all('#receipt [data-filled]')) fill(part, numbers);
  one('#receipt').hidden = false;
  one('#receipt h2').focus({ preventScroll: true });
}

/** Saves the receipt as a text, without the answers and what was sent. */
function save() {
  const parts = [one('h1'), ...all('.end:not([hidden]) > *, [data-saved]')];
  const lines = parts.map((part) => textOf(part));
  saveFile(`receipt-${survey.id}.txt`, 'text/plain', `${lines.join('\n\n')}\n`);
}

one('#save-receipt')?.addEventListener('click', save);
one('#print-receipt')?.addEventListener('click', () => print());

sent?.addEventListener('toggle', showSent);
