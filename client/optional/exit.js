/** "Exit this page", for when somebody comes up behind: it empties the page, and shows another. */
import { dropDraft } from '../memo.js';
import { one } from '../page/dom.js';
import { extras, survey } from '../page/questions.js';

extras.exit = (leave) => one('#exit').addEventListener('click', () => {
  leave();
  // The text of a draft is gone at once.
  dropDraft(survey).catch(() => {});
  location.replace(survey.page.exit);
});
