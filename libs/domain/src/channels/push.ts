import { CONTROL } from '@carillon/kernel';

/** Many times what Firebase makes; a text beyond it is something else that went astray. */
const LONGEST = 4096;

/**
 * Returns a device token without surrounding blanks; case matters. Null if it is empty, too long, or has U+FFFD, which
 * replaces characters that could not be stored.
 */
export function canonicalToken(text: string): string | null {
  const token = text.trim();
  if (token === '' || token.length > LONGEST || token.includes('\ufffd')) return null;
  return CONTROL.test(token) || !token.isWellFormed() ? null : token;
}
