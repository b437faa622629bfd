import { Refusal } from '../../api/client.ts';
import type { FormChange } from './queries.ts';

/** Changes of a form that the server has not worked into the text yet. They outlive a reload and the end of a session, as a draft does. */
export type KeptChanges = { readonly source: string; readonly changes: readonly FormChange[] };

const placeOf = (form: string): string => `carillon-form ${form}`;

export function readKeptChanges(form: string): KeptChanges | null {
  try {
    return JSON.parse(sessionStorage.getItem(placeOf(form)) ?? 'null') as KeptChanges | null;
  } catch {
    // A browser that keeps nothing, or text that is not ours.
    return null;
  }
}

export function keepChanges(form: string, kept: KeptChanges): void {
  try {
    if (kept.changes.length === 0) sessionStorage.removeItem(placeOf(form));
    else sessionStorage.setItem(placeOf(form), JSON.stringify(kept));
  } catch {
    // Said above.
  }
}

/** Whether the same change may be taken later: nobody was signed in, or the server was away or in trouble. */
export const mayBeTakenLater = (error: unknown): boolean =>
  error instanceof Refusal && (error.status === 0 || error.status === 401 || error.status >= 500);
