/** Empties the page of a device that many people use, once somebody has left it. */
import { change, dropDraft, EMPTY, reduce } from '../memo.js';
import { all, one } from '../page/dom.js';
import { extras, survey } from '../page/questions.js';

/** Seconds without a touch or a key: until the page asks, and until it is emptied. */
const [ASKS, EMPTIES] = [75, 95];
/** States in which nobody else can begin. */
const BUSY = ['loading', 'ready', 'working', 'randomizing', 'insecure', 'broken', 'unstored', 'damaged'];

const question = one('#still-there');
let timers = [];

function stop() {
  timers.forEach(clearTimeout);
  question.hidden = true;
}

/** Keeps nothing of the last person but reports that still wait. */
async function restart() {
  await dropDraft(survey);
  await change('secret', () => undefined);
  await reduce(survey, ({ pending }) => ({ ...EMPTY, pending }));
}

/** Says how to empty the page before it is sent, or for the next person afterwards. */
extras.told = (state, isOpen) => {
  one('#kiosk').hidden = BUSY.includes(state);
  one('#kiosk-waits').hidden = state !== 'waiting';
  for (const part of all('[data-kiosk]')) part.hidden = (part.dataset.kiosk === 'before') !== isOpen;
};

/** Empties the page once nobody has touched it for a while, if anybody has before. */
extras.watch = (leave, begin, fail) => {
  extras.startAgain = () => {
    stop();
    leave();
    // The next person finds the language with which the page began.
    one('#language')?.dispatchEvent(new Event('reset'));
    restart().then(begin).catch(fail);
  };
  const touched = ({ target }) => {
    // Once it asks, whoever touches anything else may be the next person, unless they send.
    if (!question.hidden && !question.contains(target) && !target.closest?.('#send')) return;
    stop();
    const ask = () => {
      question.hidden = false;
      one('button', question).focus();
    };
    timers = [setTimeout(ask, 1000 * ASKS), setTimeout(extras.startAgain, 1000 * EMPTIES)];
  };
  one('#next-person').addEventListener('click', extras.startAgain);
  for (const event of ['pointerdown', 'keydown', 'input', 'wheel', 'touchmove']) {
    document.addEventListener(event, touched, { capture: true, passive: true });
  }
};
