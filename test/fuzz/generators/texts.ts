import type { Dice } from '../dice.ts';

/** Text that has gone wrong somewhere before, in somebody's program. */
export const HOSTILE_TEXTS: readonly string[] = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\u0001\u0008\u000b\u001f\u007f\u0085',
  '\r\nX-Injected: 1',
  'x\r\nBcc: other@example.com',
  '\u2028\u2029',
  '\ufeff',
  '\ud800',
  'x\udc00y',
  '\u202eabc',
  'e\u0301\u0301\u0301\u0301',
  '👩‍👩‍👧‍👦',
  'İıſK',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'then',
  'length',
  'NaN',
  'Infinity',
  '-0',
  'null',
  'undefined',
  'true',
  '[object Object]',
  '1e999',
  '9223372036854775808',
  '0x10',
  '١٢٣',
  '2026-02-30T25:61:61Z',
  '9999-12-31T23:59:59.999Z',
  '+010000-01-01T00:00:00Z',
  'P1000000000Y',
  '../../../../etc/passwd',
  '..%2f..%2f',
  '%00',
  '%c0%ae%c0%ae',
  '%',
  '${7*7}',
  '{{7*7}}',
  '{{constructor.constructor}}',
  '{"$ne":null}',
  "' OR 1=1 --",
  '"; DROP TABLE events; --',
  '<script>alert(1)</script>',
  '*',
  '.',
  '..',
  '/',
  '\\',
  'a'.repeat(300),
  'ä'.repeat(5_000),
  'z'.repeat(70_000),
];

export const hostileText = (dice: Dice): string => dice.pick(HOSTILE_TEXTS);

/** A text with one to three slips: something lost, doubled, moved, or hostile put in. */
export function mutateText(dice: Dice, text: string): string {
  let mutated = text;
  for (let slips = dice.between(1, 3); slips > 0; slips -= 1) mutated = slip(dice, mutated);
  return mutated;
}

function slip(dice: Dice, text: string): string {
  const from = dice.between(0, text.length);
  const to = Math.min(text.length, from + dice.between(1, 12));
  const [before, part, after] = [text.slice(0, from), text.slice(from, to), text.slice(to)];
  switch (dice.between(0, 6)) {
    case 0:
      return before + after;
    case 1:
      return before + part + part + after;
    case 2:
      return after + before + part;
    case 3:
      return before + hostileText(dice).slice(0, 400) + after;
    case 4:
      return before + String.fromCharCode(dice.between(0, 0x2ff)) + after;
    case 5:
      return before + part.repeat(dice.pick([2, 10, 200])) + after;
    default:
      return text.slice(0, from);
  }
}

/** The bytes of a text, one character for each; half a character becomes the three bytes that it would have. */
export function bytesOf(text: string): string {
  const whole = text.isWellFormed() ? text : text.replaceAll(/[\ud800-\udfff]/gu, '\ufffd');
  return Buffer.from(whole, 'utf8').toString('latin1');
}

/** Bytes that are no UTF-8. */
export const BROKEN_BYTES: readonly string[] = [
  '\xff',
  '\xc0\xaf',
  '\xed\xa0\x80',
  '\xf4\x90\x80\x80',
  '\xe2\x82',
  '\x80',
  '\xfe\xff\x00{',
];
