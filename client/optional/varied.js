/**
 * What differs from person to person where the author asks for it: the order of options and questions,
 * drawn anew each time and sent nowhere, and earlier answers in later texts, as text and nothing else.
 */
import { below } from '../exact.js';
import { complaintOf } from '../kinds.js';
import { all } from '../page/dom.js';
import { extras, named, questions } from '../page/questions.js';
import { words } from '../random.js';

/** Items in an order of which each is equally likely. */
function drawn(items) {
  const [left, order] = [[...items], []];
  while (left.length) order.push(...left.splice(left.length > 1 ? below(left.length, words()) : 0, 1));
  return order;
}

/** Puts what may move into a new order; "other" and "none of these" stay where they are. */
extras.shuffle = () => {
  for (const list of all('[data-shuffle]')) {
    const moves = (item) => !('stays' in item.dataset);
    const order = drawn([...list.children].filter(moves));
    list.append(...[...list.children].map((item) => (moves(item) ? order.shift() : item)));
    for (const [place, item] of [...list.children].entries()) if (item.dataset.at) item.dataset.at = place;
  }
};

/** What stands in a text as long as there is no answer. */
const instead = new Map(all('[data-piped]').map((part) => [part, part.textContent]));

extras.pipe = (answers) => {
  for (const [part, otherwise] of instead) {
    const q = questions.find(({ id }) => id === part.dataset.piped);
    const answer = answers[q.id];
    const isTold = answer && answer !== 'no-answer' && !complaintOf(answer, q);
    part.textContent = isTold ? named(q, answer) : otherwise;
  }
};
