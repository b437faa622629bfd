import type { SourceState } from '@carillon/domain/changes';
import { isCarillonError } from '@carillon/kernel';

const AWAY: Readonly<Record<string, string>> = {
  log_unavailable: 'Its log takes no records now.',
  store_unavailable: 'Its database does not answer.',
};

/** Returns the state of a source after a failure of Carillon itself. Only an engine alone on its store has a disk that can be full. */
export function failedState(error: unknown, aloneOnStore = false): SourceState {
  const code = isCarillonError(error) ? error.code : '';
  if (aloneOnStore && isCarillonError(error) && code === 'log_unavailable') {
    return { kind: 'waiting', reason: 'log_full', detail: error.detail, fix: null };
  }
  return { kind: 'waiting', reason: 'carillon_failed', detail: AWAY[code] ?? null, fix: null };
}
