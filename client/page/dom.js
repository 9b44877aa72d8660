/** What every page needs: its elements, and its texts in the language that is shown. */

export const one = (selector, within = document) => within.querySelector(selector);
export const all = (selector, within = document) => [...within.querySelectorAll(selector)];

/** A new element with texts and elements in it. */
export function made(tag, ...parts) {
  const element = document.createElement(tag);
  element.append(...parts);
  return element;
}

/** A button that looks like a link. */
export function madeLink(action, ...parts) {
  const link = made('button', ...parts);
  Object.assign(link, { type: 'button', className: 'link' });
  link.addEventListener('click', action);
  return link;
}

/** Saves a text as a file of this name. */
export function saveFile(name, type, text) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
}

/** The language that is shown, where there are several; known to this page alone. */
let spoken;
/** Texts as the server wrote them, before their {names} were filled in. */
const patterns = new WeakMap();

/** What an element says in a language. */
export const textOf = (element, language = spoken) =>
  ((language && one(`[data-language="${language}"]`, element)) || element).textContent.trim();

/** A number as a language writes it, in the digits of all texts here; years stay together. */
export function numeral(number, language) {
  // The page has an example in each language: -1,234,567.8, or -12,34,567.8 as in India.
  const example = textOf(one('#number-example'), language);
  const [minus, comma, , point] = example.split(/\d+/);
  const options = { maximumFractionDigits: 15, useGrouping: Math.abs(number) >= 10_000 };
  const marks = { '-': minus, ',': comma, '.': point };
  const text = number.toLocaleString(example.includes('12') ? 'en-IN' : 'en', options);
  return text.replace(/[-,.]/g, (mark) => marks[mark]);
}

/** Millionths of ε as people read them, rounded up to four digits. */
export function inEpsilon(millionths) {
  const step = 10 ** Math.max(0, String(millionths).length - 4);
  return Math.ceil(millionths / step) * step / 1e6;
}

/** The form of a text for a number: of "TAG‖one‖…‖other‖…", which a text is that counts. */
function formFor(n, text) {
  const [tag, ...forms] = text.split('‖');
  if (!forms.length) return text;
  const at = forms.indexOf(new Intl.PluralRules(tag).select(n));
  return forms[at < 0 ? forms.length - 1 : at + 1];
}

/** A text with values for its {names}: texts, numbers, or functions of the language. */
const filled = (text, values = {}, language) => formFor(values.n, text).replace(/\{(\w+)\}/g, (name, key) => {
  const value = values[key] ?? name;
  if (typeof value === 'number') return numeral(value, language);
  if (typeof value === 'function') return value(language);
  // Words of another language would take the number after them along, where texts run from the right.
  return document.dir === 'rtl' && value !== name ? `\u2068${value}\u2069` : value;
});

/** One of the program's own words, as the page has it. */
export const word = (key, values = {}, language = spoken) =>
  filled(textOf(one(`[data-word="${key}"]`), language), values, language);

/** Fills in the {names} of an element in all its languages, if need be anew. */
export function fill(element, values) {
  for (const part of [element, ...all('*', element)].filter((some) => !some.childElementCount)) {
    if (!patterns.has(part)) patterns.set(part, part.textContent);
    const { language } = part.closest('[data-language]')?.dataset ?? {};
    part.textContent = filled(patterns.get(part), values, language);
  }
}

/** Shows the one part of its kind that has this name, its words with values, and an error, if any. */
export function showState(state, values, error = '') {
  for (const part of all('[data-state]')) {
    part.hidden = part.dataset.state !== state;
    if (!part.hidden) fill(part, values);
  }
  one('#error').hidden = error === '';
  one('#error code').textContent = error;
}

/** Whether the browser has failed to load or run a module; then no other one may begin. */
export let isLacking = false;

/** Says at once, in all languages, what to do if a module was not loaded or cannot be read. */
addEventListener('error', ({ target, filename }) => {
  if (target.localName !== 'script' && !filename?.includes('/client/')) return;
  isLacking = true;
  for (const part of all('[data-state="loading"] > p')) part.hidden = true;
  one('.late')?.classList.remove('late');
  one('#load-again').hidden = false;
}, true);
one('#load-again')?.addEventListener('click', () => location.reload());

/** Shows the language that is picked, once `redraw` has written in it what the program writes. */
function speak(picker, redraw) {
  const { value, dir } = picker.selectedOptions[0];
  spoken = value;
  Object.assign(document.documentElement, { lang: value, dir });
  redraw();
  for (const part of all('[data-language]')) part.hidden = part.dataset.language !== value;
  document.title = textOf(one('h1'));
}

/** Offers the languages of the page, and begins with the first that its reader wishes. */
export function offerLanguages(redraw) {
  const picker = one('#language');
  if (!picker) return redraw();
  const tags = [...picker.options].map(({ value }) => value);
  const base = (tag) => tag.split('-')[0];
  const fitting = (wish) => tags.find((tag) => tag === wish) ?? tags.find((tag) => base(tag) === base(wish));
  const begin = () => {
    picker.value = navigator.languages.map(fitting).find(Boolean) ?? tags[0];
    speak(picker, redraw);
  };
  picker.addEventListener('change', () => speak(picker, redraw));
  picker.addEventListener('reset', begin);
  return begin();
}
