import { CONTROL } from '@carillon/kernel';

/** A device's token as it is, compared with case; only blanks around it are no part of it. Null where nothing is left. */
export function canonicalToken(text: string): string | null {
  const token = text.trim();
  return token === '' || CONTROL.test(token) || !token.isWellFormed() ? null : token;
}
