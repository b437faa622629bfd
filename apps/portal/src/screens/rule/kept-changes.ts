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

const underWay = new Set<Promise<void>>();

/** Lets whoever leaves wait for a form that works changes in; it ends by itself. */
export function workingIn(work: Promise<void>): Promise<void> {
  underWay.add(work);
  const ended = (): void => void underWay.delete(work);
  work.then(ended, ended);
  return work;
}

export const formsAtRest = (): Promise<unknown> => Promise.allSettled(underWay);

/** Whether any form of this tab has changes that are in no text yet. */
export function hasKeptChanges(): boolean {
  try {
    return Object.keys(sessionStorage).some((key) => key.startsWith(placeOf('')));
  } catch {
    return false;
  }
}

/** Whether the same change may be taken later: nobody was signed in, or the server was away or in trouble. */
export const mayBeTakenLater = (error: unknown): boolean =>
  error instanceof Refusal && (error.status === 0 || error.status === 401 || error.status >= 500);
