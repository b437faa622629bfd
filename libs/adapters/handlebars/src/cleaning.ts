import { LIMITS } from './limits.ts';

/**
 * Makes one line for a header out of anything: no control characters (a CR LF would start a header of its own, such as
 * Bcc), no line or paragraph separators, single spaces, bounded.
 */
export function headerLine(text: string, limit: number): string {
  const line = text
    .toWellFormed()
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim();
  if (line.length <= limit) return line;
  const cut = line.slice(0, limit - 1);
  // Half of a surrogate pair is no character.
  return `${cut.isWellFormed() ? cut : cut.slice(0, -1)}…`;
}

/** A value inside `from`: what would end the name, or start another address, is taken out. */
export const addressWord = (text: string): string => text.replace(/[<>"\\,;:()[\]]/g, ' ');

/** A body: line ends are \n, and of the control characters only \n and \t stay. */
export const bodyText = (text: string): string =>
  text
    .toWellFormed()
    .replace(/\r\n?/g, '\n')
    .replace(/(?![\t\n])\p{Cc}/gu, '');

/** Whether a body is within the limit for what comes out, in bytes. */
export const fits = (text: string): boolean => text.length <= LIMITS.output && Buffer.byteLength(text) <= LIMITS.output;
