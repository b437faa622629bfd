import { openHistory } from '@carillon/adapter-embedded';
import type { LogId } from '@carillon/kernel';
import type { EventHistory } from '@carillon/ports';

/** Where the child process finds the log. */
export type HistorySource = { readonly kind: 'embedded'; readonly dataDir: string };

/** Opens the log read-only. Rejects with CarillonError `wrong_log` if it is another log than `logId`. */
export async function openHistoryOf({ dataDir }: HistorySource, logId: LogId): Promise<EventHistory> {
  return openHistory(dataDir, logId);
}
