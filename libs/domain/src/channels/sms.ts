import { parsePhoneNumberFromString } from 'libphonenumber-js/min';

const MAX_CHARACTERS = 64;
/** Blanks, dots, hyphens, slashes and brackets, as people write them between digits. */
const BETWEEN = /[\s.()[\]/\u2010-\u2015-]/g;

/** Removes what people write between the digits of a number. */
export const withoutSeparators = (text: string): string => text.normalize('NFKC').replace(BETWEEN, '');

/** E.164 allows 15 digits. The library takes 17 for Germany. */
const E164 = /^\+\d{1,15}$/;

/** Returns the number in E.164, or null if no number has this country code and length. A trunk zero is removed. */
function read(text: string): string | null {
  const number = parsePhoneNumberFromString(text, { extract: false });
  // Extensions cannot receive an SMS. `isPossible` is used because `isValid` rejects number ranges newer than the
  // library.
  const isPossible = number?.isPossible() === true && number.ext === undefined && E164.test(number.number);
  return isPossible ? number.number : null;
}

/**
 * Returns a phone number in E.164, or null for text that is no possible number. Returns null for a number without `+`, because
 * the country is never guessed. Idempotent.
 */
export function canonicalPhone(text: string): string | null {
  if (text.length > MAX_CHARACTERS) return null;
  const written = withoutSeparators(text);
  // Reading takes 20 µs, and most texts that are asked about are no numbers.
  if (!written.startsWith('+')) return null;
  let number = read(written);
  // One trunk zero is removed at a time: +49 (0) 030 has two.
  for (let again = number; again !== null && number !== null;) {
    again = read(number);
    if (again === number) return number;
    number = again;
  }
  return null;
}

/** National prefixes that people write between country code and number, for countries where it is not just a zero. */
const TRUNK_PREFIXES: Readonly<Record<string, readonly string[]>> = {
  1: ['1'],
  7: ['8'],
  36: ['06'],
  370: ['0', '8'],
  375: ['0', '8', '80'],
  993: ['8'],
};

/** The forms with a trunk prefix, such as `+49030…` and `+78495…`: earlier versions kept `+49 (0) 30…` and `+7 (8) 495…` so. */
export function olderPhones(canonical: string): readonly string[] {
  const code = parsePhoneNumberFromString(canonical)?.countryCallingCode;
  if (code === undefined) return [];
  const older = (TRUNK_PREFIXES[code] ?? ['0']).map((prefix) => `+${code}${prefix}${canonical.slice(code.length + 1)}`);
  // In Italy the leading zero belongs to the number, so the form without it is another subscriber.
  return older.filter((form) => canonicalPhone(form) === canonical);
}
