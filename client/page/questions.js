/** The survey that the page carries, and what its questions and their answers are called there. */
import { complaintOf, KINDS } from '../kinds.js';
import { asked } from '../logic.js';
import { meaning } from '../report.js';
import { all, numeral, one, textOf, word } from './dom.js';

export const open = JSON.parse(one('#survey-data').textContent);
export const { survey } = open;
/** The entries of the survey except notes, which are not asked. */
export const questions = asked(survey);

/**
 * What modules of optional/ add to the page: `watch`, whether anybody is there, `startAgain` for the
 * next person, and what is `told` of each state; `links`, of invitations; `draft`, to `read` and `keep`
 * the answers of a form that is not sent yet; `exit`, to follow the button that leaves at once;
 * `shuffle`, to draw orders anew; `pipe`, to put answers into later texts.
 */
export const extras = {};

const fields = new Map(all('[data-question], [data-note]')
  .map((field) => [field.dataset.question ?? field.dataset.note, field]));
/** The element of a question or note. */
export const fieldOf = ({ id }) => fields.get(id);

/** Shows the images of the survey: they are part of it, so that nothing is fetched for them. */
export function showImages() {
  const imageOf = (name) => survey.questions.find(({ id }) => id === name).image;
  for (const element of all('[data-image]')) {
    const { type, base64 } = element.matches('.logo') ? survey.logo : imageOf(element.dataset.image);
    element.src = `data:${type};base64,${base64}`;
  }
}

/** What a question asks; before a row of a matrix, or "namely", stands what it belongs to. */
export function wording(q) {
  const matrix = fieldOf(q).closest('.matrix');
  const asked = fieldOf(q).matches('.namely') ? fieldOf(q).previousElementSibling : fieldOf(q);
  const heading = matrix ? one('.matrix-text', matrix) : asked !== fieldOf(q) && one('legend', asked);
  const texts = [heading, one('legend', fieldOf(q))];
  return texts.filter(Boolean).map((text) => textOf(text)).join(' – ');
}

/** What an answer looks like to people; it is as a form control holds it. */
export function named(q, answer) {
  if (answer === '' || answer === 'no-answer') return word('question.no-answer');
  const unit = one('.unit', fieldOf(q));
  const nameOf = (option) => textOf(
    one(`label[for="${q.id}--${option}"], [id="${q.id}--${option}"] .name`, fieldOf(q)),
  );
  const written = KINDS[q.kind].written(answer, nameOf, unit && textOf(unit), numeral);
  return [written].flat().join(`${word('question.comma')} `);
}

/** What a report says to one who gave this answer: words, and the number that it speaks for, if any. */
export async function saying(q, report, answer) {
  const { ids, number, isEnd, supports } = await meaning(report, q, open.randomizers, answer);
  if (isEnd) return { says: word(number > q.min ? 'said.high' : 'said.low'), number };
  if (number !== undefined) {
    const places = Math.max(0, 2 - Math.floor(Math.log10(q.max - q.min)));
    const rounded = named(q, number.toFixed(Math.min(places, 15)));
    return { says: word('said.about', { number: rounded }), number };
  }
  const given = (answer || 'no-answer').split('|');
  const isSame = ids && ids.length === given.length && ids.every((id) => given.includes(id));
  // Several options in place of one, or beside "none of these", are no answer that anybody could give.
  const isOne = isSame || ids?.length === 1 || (ids?.length && !complaintOf(ids.join('|'), q));
  if (isOne) {
    const said = named(q, ids.join('|'));
    return { says: word(isSame ? 'said.same' : 'said.swapped', { answer: said }) };
  }
  const isFor = supports ?? ids.some((id) => given.includes(id));
  return { says: word(isFor ? 'said.supports' : 'said.opposes') };
}
