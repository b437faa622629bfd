import { LIMITS } from './limits.ts';

/**
 * Makes one line for a header out of anything: no control characters (a CR LF would start a header of its own, such as
 * Bcc), no line or paragraph separators, single spaces, bounded.
 */
export function headerLine(text: string, limit: number): string {
  const line = (
    isPrintable(text) ? text.replace(/ {2,}/g, ' ') : text.toWellFormed().replace(/[\p{Cc}\s]+/gu, ' ')
  ).trim();
  if (line.length <= limit) return line;
  const cut = line.slice(0, limit - 1);
  // Half of a surrogate pair is no character.
  return `${cut.isWellFormed() ? cut : cut.slice(0, -1)}…`;
}

/** Characters of ASCII that are seen, and blanks. Most headers hold nothing else. */
const isPrintable = (text: string): boolean => !/[^ -~]/.test(text);

/** A value inside `from`: what would end the name, or start another address, is taken out. */
export const addressWord = (text: string): string => text.replace(/[<>"\\,;:()[\]]/g, ' ');

/** A value inside html, by the table of Handlebars. */
export const escaped = (text: string): string => (/[&<>"'`=]/.test(text) ? text.replace(/[&<>"'`=]/g, entity) : text);

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#x27;',
  '`': '&#x60;',
  '=': '&#x3D;',
};
const entity = (character: string): string => ENTITIES[character] as string;

/** Whether `bodyText` would leave a text as it is wherever it stands: also what may only be half of a pair counts as no. */
export const isPlain = (text: string): boolean => !/[\0-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]/.test(text);

/** A body: line ends are \n, and of the control characters only \n and \t stay. */
export const bodyText = (text: string): string =>
  text
    .toWellFormed()
    .replace(/\r\n?/g, '\n')
    .replace(/(?![\t\n])\p{Cc}/gu, '');

/** Whether a body is within the limit for what comes out, in bytes. A character is three bytes at most. */
export const fits = (text: string): boolean =>
  text.length * 3 <= LIMITS.output || (text.length <= LIMITS.output && Buffer.byteLength(text) <= LIMITS.output);
