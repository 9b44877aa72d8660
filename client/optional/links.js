/** Links that are for one person each: the invitation in a link, what it keeps, and if it is of use. */
import { keyOf, pseudonym, secretOfPart } from '../hashes.js';
import * as memo from '../memo.js';
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

/** Where an earlier release kept what it knew of all links of a survey. */
const allPlace = ({ id }) => `survey/${id}`;

/**
 * Gives a link what an earlier release kept for all links of a survey, with the secret that it was
 * drawn with, unless this wave was answered by another link, or perhaps by another; gives whether it did.
 */
async function adopt(record, wave, token) {
  let isAdopted = false;
  await memo.transact((table) => {
    const [secret, all, mine] = ['secret', allPlace(record), record.place].map((key) => table.get(key));
    mine.onsuccess = () => {
      const { result: old } = all;
      if (!old || mine.result || record.place === record.hashedPlace) return;
      const isMine = (report) => report.rid === old.waves[wave] && report.token === token;
      const isAnswered = memo.isSound(old) && old.waves[wave];
      if (isAnswered && !old.pending.map((text) => JSON.parse(text)).some(isMine)) return;
      isAdopted = true;
      table.put({ ...old, secret: secret.result }, record.place);
      table.delete(allPlace(record));
    };
  });
  return isAdopted;
}

/** A survey as this device keeps it for this link alone: one person does not use what another did. */
async function open(survey, wave) {
  const [token, key] = [invitation(), await memo.deviceKey()];
  if (!token) return memo.recordOf(survey, key);
  const part = await keyOf(await secretOfPart(key, `link/${token}`));
  const find = async () => memo.recordOf(survey, key, part, `/${await pseudonym(part, 'link/')}`);
  const record = await find();
  return await adopt(record, wave, token) ? find() : record;
}

/** A link whose person has said that what waits here, and was made with another link, is not theirs. */
let apart = '';

/**
 * A report of this wave that waits since its own link cannot be used any more, for a link that has
 * made none: whoever got this link in its place can send it. Others wait for their own link alone.
 */
async function findOther({ id }, wave, { waves }) {
  const token = invitation();
  if (!token || token === apart || Object.keys(waves).length) return undefined;
  for (const other of await memo.waitingOf({ id })) {
    const { content } = other.report;
    const isOther = content.wave === wave && content.token !== token;
    if (isOther && !await isUsable(id, wave, content.token)) return other;
  }
  return undefined;
}

/** Gives this link all that was kept for another one, whose report waits: they are one person's. */
async function take(survey, wave) {
  const token = invitation();
  const found = await findOther(survey, wave, { waves: {} });
  if (!found) return;
  const { place, report: { content } } = found;
  const part = await secretOfPart(await memo.deviceKey(), `link/${content.token}`);
  await memo.transact((table) => {
    const [device, other, mine] = ['secret', place, survey.place].map((key) => table.get(key));
    mine.onsuccess = () => {
      if (mine.result || !other.result) return;
      const { secret = place === allPlace(survey) ? device.result : part, ...old } = other.result;
      const renewed = (report) => (report.rid === content.rid ? { ...report, token } : report);
      const pending = old.pending.map((text) => JSON.stringify(renewed(JSON.parse(text))));
      table.delete(place);
      table.put({ ...old, secret, pending }, survey.place);
    };
  });
}

extras.links = {
  open,
  findOther,
  take,
  /** What waits is another person's. */
  stayApart: async () => { apart = invitation(); },
  invitation,
  isMistyped,
  /** Whether the link of this page can still be used, as far as the server says. */
  canBeUsed: ({ survey, wave }) => isUsable(survey.id, wave, invitation()),
};
