import type { Json } from '@carillon/kernel';
import type { Intent } from '../deliveries/intent.ts';
import type { ProviderResult } from '../deliveries/provider-result.ts';
import type { Message } from './message.ts';

/** Words in a row that a provider would hardly say by itself. */
const RUN = 3;
/** Shorter words are figures and units of the provider's own words. */
const MIN_CODE = 4;
const MIN_ADDRESS = 4;
/** Characters of a text that are looked for, the first ones: who repeats a message repeats what it begins with. */
const MAX_LOOKED_FOR = 100_000;
const ADDRESS = '<address>';
const CONTENT = '<content>';

/** Everything that people would read of it, or their app. */
const contentOf = (message: Message): readonly (string | null)[] => {
  switch (message.channel) {
    case 'email':
      return [message.subject, message.text, message.html];
    case 'sms':
      return [message.text];
    case 'push':
      return [message.title, message.body, message.image, message.link, ...Object.values(message.data)];
  }
};

const plainWord = (word: string): string => word.toLowerCase().replaceAll(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '');
const plainWords = (text: string): readonly string[] => text.split(/\s+/).map(plainWord);
/** A code, a number, a link: what may be all the secret there is. */
const isTelling = (word: string): boolean => word.length >= MIN_CODE && /\p{N}/u.test(word);

/**
 * Masks parts of the message in a provider's answer: the address; its codes, numbers and links; and any run of three or
 * more of its words. Adapters already mask known texts of their vendor. This covers all adapters, because people
 * without access to messages read these answers.
 */
export function withoutRepeatedWords(result: ProviderResult, message: Message): ProviderResult {
  const detail = masked(result.detail, message.to, () => contentOf(message));
  return detail === result.detail ? result : { ...result, detail };
}

/**
 * Returns a provider's later text about a message, with repeated personal data masked. The message is not rendered
 * again for this; its address and variables are masked.
 */
export const wordsWithoutIntent = (detail: string, { to, variables }: Intent): string =>
  masked(detail, to ?? '', () => textsIn(variables));

const textsIn = (value: Json): readonly string[] => {
  if (typeof value === 'string') return [value];
  if (typeof value === 'number') return [String(value)];
  return value !== null && typeof value === 'object' ? Object.values(value).flatMap(textsIn) : [];
};

const masked = (detail: string, address: string, content: () => readonly (string | null)[]): string =>
  detail === '' ? '' : maskContent(maskAddress(detail, address), content());

function maskAddress(detail: string, address: string): string {
  if (address.length < MIN_ADDRESS) return detail;
  const [text, wanted] = [detail.toLowerCase(), address.toLowerCase()];
  // If lower case changes the length, positions in both texts differ.
  if (text.length !== detail.length || !text.includes(wanted)) return detail.replaceAll(address, ADDRESS);
  let plain = '';
  let from = 0;
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, from)) {
    plain += detail.slice(from, at) + ADDRESS;
    from = at + wanted.length;
  }
  return plain + detail.slice(from);
}

function maskContent(detail: string, content: readonly (string | null)[]): string {
  // Even indexes are words, odd ones the white space between them.
  const pieces = detail.split(/(\s+)/);
  const said = pieces.filter((_, at) => at % 2 === 0).map(plainWord);
  const hidden = new Set<number>();
  for (const text of content) {
    if (text === null || text === '') continue;
    const words = plainWords(text.slice(0, MAX_LOOKED_FOR)).filter((word) => word !== '');
    const line = ` ${words.join(' ')} `;
    for (const [at, word] of said.entries()) {
      if (isTelling(word) && line.includes(` ${word} `)) hidden.add(at);
      const run = said.slice(at, at + RUN);
      // A message shorter than a run counts as repeated if all of it occurs.
      const long = Math.min(RUN, words.length);
      const repeated = run.slice(0, long).filter((one) => one !== '');
      if (repeated.length < long || repeated.join('').length < MIN_CODE) continue;
      if (line.includes(` ${repeated.join(' ')} `)) for (let n = 0; n < long; n += 1) hidden.add(at + n);
    }
  }
  if (hidden.size === 0) return detail;
  return pieces
    .map((piece, at) => {
      if (at % 2 === 1) return hidden.has((at - 1) / 2) && hidden.has((at + 1) / 2) ? '' : piece;
      if (!hidden.has(at / 2)) return piece;
      return hidden.has(at / 2 - 1) ? '' : CONTENT;
    })
    .join('');
}
