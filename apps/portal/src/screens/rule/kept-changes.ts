import { Refusal } from '../../api/client.ts';
import { FORM_CHANGES } from '../../api/unsaved.ts';
import type { FormChange } from './queries.ts';

/** A replaced part: its address in the form, and the expression before and after. */
export type ReplacedPart = { readonly at: string; readonly from: string; readonly to: string };

/** Changes of a form that the server has not written into the expression yet. They outlive a reload and the end of a session, as a draft does. */
export type KeptChanges = {
  readonly source: string;
  readonly changes: readonly FormChange[];
  /** The last replacement, if the first change may continue it. */
  readonly replaced?: ReplacedPart | null;
};

const keyOf = (form: string): string => FORM_CHANGES + form;

export function readKeptChanges(form: string): KeptChanges | null {
  try {
    return JSON.parse(sessionStorage.getItem(keyOf(form)) ?? 'null') as KeptChanges | null;
  } catch {
    // A browser that keeps nothing, or text that is not ours.
    return null;
  }
}

export function keepChanges(form: string, kept: KeptChanges): void {
  try {
    if (kept.changes.length === 0) sessionStorage.removeItem(keyOf(form));
    else sessionStorage.setItem(keyOf(form), JSON.stringify(kept));
  } catch {
    // The browser refuses storage, or it is full: the changes are as safe as the page.
  }
}

/** Returns true if a retry may succeed: the session had ended, or the server was unreachable or failed. */
export const mayBeTakenLater = (error: unknown): boolean =>
  error instanceof Refusal && (error.status === 0 || error.status === 401 || error.status >= 500);
