const KEY = 'carillon-workspace';

/** Stands for all visible workspaces. */
export const EVERY_WORKSPACE = '-';

/** The workspace that this browser looked at last; null: none, or a browser that keeps nothing. */
export function lastWorkspace(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

/** After it was removed: the start page asks again. */
export function forgetWorkspace(name: string): void {
  try {
    if (localStorage.getItem(KEY) === name) localStorage.removeItem(KEY);
  } catch {
    // The browser stores nothing.
  }
}

export function rememberWorkspace(name: string): void {
  try {
    localStorage.setItem(KEY, name);
  } catch {
    // The start page asks then.
  }
}
