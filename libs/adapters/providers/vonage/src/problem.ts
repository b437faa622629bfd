import { providerWords } from '@carillon/domain/receipts';
import type { Json } from '@carillon/kernel';
import { textAt } from '../../callbacks/fields.ts';

export type Problem = { readonly code: string; readonly detail: string };

/**
 * Reads the error of a response or a status callback (RFC 7807). The code is the fragment of `type`, such as
 * `https://developer.vonage.com/api-errors/messages#1120`; status callbacks repeat it as `title`.
 */
export function readProblem(error: Json | undefined): Problem {
  const [, fragment] = /#(\d{4})$/.exec(textAt(error, 'type')) ?? [];
  const title = textAt(error, 'title');
  const code = fragment ?? (/^\d{4}$/.test(title) ? title : '');
  return { code, detail: providerWords(textAt(error, 'detail') || title) };
}
