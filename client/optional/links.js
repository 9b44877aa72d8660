/** Links that are for one person each: the invitation in a link, and whether it can still be used. */
import { extras } from '../page/questions.js';
import { isUsable } from '../submit.js';

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Whether an invitation is as it was made; those of 22 digits have no check (invitations.py). */
export function isWhole(token) {
  const [given, check] = token.match(/^([\w-]{22})([\w-]{2})?$/)?.slice(1) ?? [];
  const digits = (text) => [...text].map((digit) => DIGITS.indexOf(digit));
  if (!check) return given !== undefined;
  const [high, low] = digits(check);
  return digits(given).reduce((rest, digit) => (64 * rest + digit) % 4093, 0) === 64 * high + low;
}

const fragment = () => location.hash.slice(1);
/** The invitation of this link, in its fragment, which browsers send to nobody; '' for none. */
const invitation = () => (isWhole(fragment()) ? fragment() : '');
/** Whether there is one that was mistyped, or lost its end. */
const isMistyped = () => fragment() !== '' && !invitation();

extras.links = {
  invitation,
  isMistyped,
  /** Whether the link of this page can still be used, as far as the server says. */
  canBeUsed: ({ survey, wave }) => isUsable(survey.id, wave, invitation()),
};
