/** Blanks, dots, hyphens and brackets, as people write them between digits. */
const BETWEEN = /[\s.()[\]\u2010-\u2015-]/g;

/**
 * A phone number in E.164: `+` and 7 to 15 digits, the first of them not zero. No country is ever guessed: a number
 * without `+` is null, as is everything else that is no number.
 */
export function canonicalPhone(text: string): string | null {
  if (text.length > 64) return null;
  const number = text.normalize('NFKC').replace(BETWEEN, '');
  return /^\+[1-9]\d{6,14}$/.test(number) ? number : null;
}
