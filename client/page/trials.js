/** Beside the questions: draws of made-up answers; what is agreed to, and whether it was clear. */
import { keyOf } from '../hashes.js';
import { madeUp } from '../kinds.js';
import { hex, words } from '../random.js';
import { trial } from '../report.js';
import { all, made, one, word } from './dom.js';
import { named, open, questions, saying } from './questions.js';

const DRAWS = 20;

/** Where answers to a question can be made up; the first of several that are protected alike. */
const trialOf = (q) => one(`[data-trial="${q.id}"]`)?.closest('.trial');
const tried = () => questions.filter(trialOf);

/** One line of a result: what was said, and how often, in dots and in words. */
function line(says, n) {
  const dots = made('span', '●'.repeat(n) + '○'.repeat(DRAWS - n));
  dots.className = 'dots';
  dots.ariaHidden = 'true';
  return made('li', made('span', says), dots, made('span', word('trial.times', { n })));
}

/** Draws reports of the made-up answer as those of true ones are drawn, and sends none. */
async function draw(q) {
  const answer = one('[data-trial]', trialOf(q)).value;
  // A device that remembers would draw much the same each time: each draw is another device's.
  const newKey = () => keyOf(hex(32));
  const reports = await trial(open, q, answer, newKey, words(), DRAWS);
  const said = await Promise.all(reports.map((report) => saying(q, report, answer)));
  const times = ({ says }) => said.filter((other) => other.says === says).length;
  const different = said.filter(({ says }, at) => said.findIndex((other) => other.says === says) === at);
  // Numbers stand in their order, after no answer; all else, the most frequent first.
  const place = ({ number = -Number.MAX_VALUE }) => number;
  const sorted = different.sort((a, b) => place(a) - place(b) || times(b) - times(a));
  const lines = sorted.map((each) => line(each.says, times(each)));
  const heading = made('p', word('trial.result', { answer: named(q, answer) }));
  one('.draws', trialOf(q)).replaceChildren(heading, made('ul', ...lines));
}

/** Offers made-up answers in the language that is shown, and forgets what was tried. */
export function offer() {
  for (const q of tried()) {
    const answers = madeUp(q, word('trial.example'));
    const options = answers.map((answer) => new Option(named(q, answer), answer));
    one('[data-trial]', trialOf(q)).replaceChildren(...options);
    one('.draws', trialOf(q)).replaceChildren();
  }
  for (const part of all('[data-reply]')) part.hidden = true;
}

/** Whether all is agreed to and clear that has to be; if not, says so there. */
export function isAgreed() {
  const isRight = (part, box) => {
    if (one(part)) one(`${part}_complaint`).hidden = one(box).checked;
    return !one(part) || one(box).checked;
  };
  const areRight = [isRight('#consent', '#consent'), isRight('#quiz', '#quiz--either')];
  const [missed] = all('#agreement .complaint').filter(({ hidden }) => !hidden);
  if (missed) one(missed.id === 'quiz_complaint' ? '#quiz input' : '#consent').focus();
  return areRight.every(Boolean);
}

/** Follows what is pressed; whether it was clear is said at once, and kept nowhere. */
export function follow() {
  for (const q of tried()) {
    one('[data-draw]', trialOf(q)).addEventListener('click', () => draw(q));
  }
  one('#agreement')?.addEventListener('change', ({ target: { name, value } }) => {
    one(name === 'quiz' ? '#quiz_complaint' : '#consent_complaint').hidden = true;
    if (name !== 'quiz') return;
    const fitting = value === 'either' ? 'right' : 'other';
    for (const part of all('[data-reply]')) part.hidden = part.dataset.reply !== fitting;
  });
}
