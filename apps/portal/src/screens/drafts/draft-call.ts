import { draftPath, type Address, type Saving } from '../../api/draft-calls.ts';
import type { Call } from '../../ui/curl-words.ts';

/** The saving of a draft, for a shell. */
export const savingCall = (address: Address, { body, revision, basedOn }: Saving): Call => ({
  method: 'PUT',
  path: draftPath(address),
  headers: revision === null ? { 'If-None-Match': '*' } : { 'If-Match': `"d${revision}"` },
  body: { body, ...(basedOn !== undefined && { based_on: basedOn }) },
});

/** Throwing a draft away, for a shell. */
export const discardingCall = (address: Address, revision: string): Call => ({
  method: 'DELETE',
  path: draftPath(address),
  headers: { 'If-Match': `"d${revision}"` },
});
