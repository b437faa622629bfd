import { useSyncExternalStore } from 'react';

export type Theme = 'system' | 'light' | 'dark';

/** What one browser remembers of how its person likes the portal. */
type Settings = {
  readonly theme: Theme;
  /** Whether times are shown in UTC, and not in the time zone of the workspace. */
  readonly isUtc: boolean;
  /** Whether single letters are commands: whoever speaks to the machine, or types by mistake, turns them off (WCAG 2.1.4). */
  readonly letters: boolean;
  /** Whether a person without a password is asked for one on every page. */
  readonly passwordBar: boolean;
};

const KEY = 'carillon-look';
const listeners = new Set<() => void>();
let settings = read();

function read(): Settings {
  const kept = keptWords();
  return {
    theme: kept.theme === 'light' || kept.theme === 'dark' ? kept.theme : 'system',
    isUtc: kept.isUtc === true,
    letters: kept.letters !== false,
    passwordBar: kept.passwordBar !== false,
  };
}

/** A browser may refuse to keep anything: then every visit begins with the defaults. */
function keptWords(): Partial<Record<string, unknown>> {
  try {
    const parsed: unknown = JSON.parse(localStorage.getItem(KEY) ?? '{}');
    return typeof parsed === 'object' && parsed !== null ? parsed : {};
  } catch {
    return {};
  }
}

/** Puts the theme where the style sheets look for it; none of their own follow the system. */
export function showTheme(): void {
  if (settings.theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = settings.theme;
}

export function changeSettings(change: Partial<Settings>): void {
  settings = { ...settings, ...change };
  try {
    localStorage.setItem(KEY, JSON.stringify(settings));
  } catch {
    // It counts until the page is closed.
  }
  showTheme();
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

export const useSettings = (): Settings => useSyncExternalStore(subscribe, () => settings);

/** The same for what hears keys and draws nothing. */
export const hasLetters = (): boolean => settings.letters;
