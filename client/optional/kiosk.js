/** Empties the page of a device that many people use, once somebody has left it. */
import { one } from '../page/dom.js';
import { extras } from '../page/questions.js';

/** Seconds without a touch or a key: until the page asks, and until it is emptied. */
const [ASKS, EMPTIES] = [75, 95];

/**
 * Empties the page once nobody has touched it for a while, if anybody has before. `extras.rest` ends
 * the waiting, for when the page is emptied otherwise.
 */
extras.watch = (startAgain) => {
  const question = one('#still-there');
  let timers = [];
  const stop = () => {
    timers.forEach(clearTimeout);
    question.hidden = true;
  };
  const touched = ({ target }) => {
    // Once it asks, whoever touches anything else may be the next person, unless they send.
    if (!question.hidden && !question.contains(target) && !target.closest?.('#send')) return;
    stop();
    const ask = () => {
      question.hidden = false;
      one('button', question).focus();
    };
    const empty = () => { stop(); startAgain(); };
    timers = [setTimeout(ask, 1000 * ASKS), setTimeout(empty, 1000 * EMPTIES)];
  };
  for (const event of ['pointerdown', 'keydown', 'input', 'wheel', 'touchmove']) {
    document.addEventListener(event, touched, { capture: true, passive: true });
  }
  extras.rest = stop;
};
