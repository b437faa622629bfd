import { CONTROL } from '@carillon/kernel';

/** Many times what Firebase makes; a text beyond it is something else that went astray. */
const LONGEST = 4096;

/**
 * A device's token as it is, compared with case; only blanks around it are no part of it. Null where nothing is left, for
 * what is too long to be one, and for U+FFFD, which stands for what could not be kept.
 */
export function canonicalToken(text: string): string | null {
  const token = text.trim();
  if (token === '' || token.length > LONGEST || token.includes('\ufffd')) return null;
  return CONTROL.test(token) || !token.isWellFormed() ? null : token;
}
