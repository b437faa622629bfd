import { useEffect } from 'react';

/** Begins the key of a form's changes in the tab's storage. */
export const FORM_CHANGES = 'carillon-form ';

const work = new Set<Promise<void>>();

/** Tracks work that turns typed text into a draft, until it settles. Returns the same promise. */
export function trackFormWork(promise: Promise<void>): Promise<void> {
  work.add(promise);
  const end = (): void => void work.delete(promise);
  promise.then(end, end);
  return promise;
}

/** Resolves when the tracked work has settled. Never rejects. */
export async function formWorkSettled(): Promise<void> {
  while (work.size > 0) await Promise.allSettled(work);
}

/** Text on the screen that no draft can hold yet: the name of its form, per field. */
const unfinished = new Map<symbol, string>();

/**
 * Counts text of this field as unsaved while `isUnsaved` is true. `form` starts with the workspace and the name of the draft that the
 * text belongs to; a form with its own save button has a name of its own.
 */
export function useUnsaved(form: string, isUnsaved: boolean): void {
  useEffect(() => {
    if (!isUnsaved) return undefined;
    const key = Symbol(form);
    unfinished.set(key, form);
    return () => void unfinished.delete(key);
  }, [form, isUnsaved]);
}

/** Returns true if text on the screen would be lost with the screen. `prefix` limits the answer to the forms that begin with it. */
export const hasUnfinished = (prefix = ''): boolean => [...unfinished.values()].some((form) => form.startsWith(prefix));

/** Returns true if changes of a form wait in this tab for the server. */
export function hasWaitingChanges(prefix = ''): boolean {
  try {
    return Object.keys(sessionStorage).some((key) => key.startsWith(FORM_CHANGES + prefix));
  } catch {
    // The browser refuses storage.
    return false;
  }
}

const checks = new Set<() => boolean>();

/** Adds a check for unsaved work; the drafts add theirs when they are loaded. */
export const addUnsavedCheck = (check: () => boolean): void => void checks.add(check);

let isAbandoned = false;

/** Records that the user agreed to lose unsaved text, so that no other prompt appears. */
export const abandonUnsavedWork = (): void => {
  isAbandoned = true;
};

/** Returns true if closing the page now could lose text. */
export const hasUnsavedWork = (): boolean =>
  !isAbandoned && (hasUnfinished() || hasWaitingChanges() || [...checks].some((check) => check()));
