/** Searches long lists of options: what does not contain the typed text is hidden. */
import { all, one, textOf, word } from '../page/dom.js';

/** A text without case and accents. */
const plain = (text) => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();

/** Shows the options that contain what was typed, and those that are ticked. */
function search(field) {
  const question = field.closest('[data-question]');
  // "Other" and "prefer not to say" stay in sight, since what is not found may be one of them.
  const options = all('.option:not([data-stays])', question);
  const typed = plain(field.value.trim());
  for (const option of options) {
    option.hidden = !one(':checked', option) && !plain(textOf(one('label', option))).includes(typed);
  }
  const n = options.filter(({ hidden }) => !hidden).length;
  one('[data-found]', question).textContent =
    typed && word('question.found', { n, all: options.length });
}

for (const field of all('[data-search]')) {
  field.addEventListener('input', () => search(field));
  // Otherwise it would turn the page.
  field.addEventListener('keydown', (event) => event.key === 'Enter' && event.preventDefault());
}
const searchAll = () => all('[data-search]').forEach(search);

one('#answers').addEventListener('reset', () => {
  for (const field of all('[data-search]')) field.value = '';
  searchAll();
});
// In another language other options contain what was typed.
new MutationObserver(searchAll).observe(document.documentElement, { attributeFilter: ['lang'] });
