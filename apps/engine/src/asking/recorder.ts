import { CarillonError, type Duration } from '@carillon/kernel';
import type { EventLog } from '@carillon/ports';
import { pause } from '@carillon/runtime';

type RecorderPorts = {
  readonly log: Pick<EventLog, 'logId' | 'partitions' | 'append'>;
  /** Aborts waiting. A later process appends the records that are missing then. */
  readonly givingUp: AbortSignal;
  /** Called when the log starts to refuse records. */
  readonly refused: (error: unknown) => void;
  /** Called when the log accepts records again. */
  readonly taken: () => void;
};

/** Pause before a refused append is retried. */
const AGAIN: Duration = 500;

/**
 * Appends final results of triggers to the log. A result waits here until it is appended. While one waits, `refuses`
 * tells callers not to call partners, so that memory holds no more than the running calls.
 */
export function createRecorder({ log, givingUp, refused, taken }: RecorderPorts) {
  let waiting = 0;

  /** Rejects like `log.append` if a retry cannot help or the process stops. */
  async function append(records: Parameters<EventLog['append']>[0]): Promise<readonly number[]> {
    let waits = false;
    try {
      for (;;) {
        try {
          return await log.append(records);
        } catch (error) {
          if (givingUp.aborted || !isAway(error)) throw error;
          if (waiting === 0) refused(error);
          if (!waits) waiting += 1;
          waits = true;
          await pause(AGAIN, givingUp);
        }
      }
    } finally {
      if (waits) waiting -= 1;
      if (waits && waiting === 0) taken();
    }
  }

  return {
    log: {
      logId: log.logId,
      partitions: (topic: Parameters<EventLog['partitions']>[0]) => log.partitions(topic),
      append,
    },
    refuses: (): boolean => waiting > 0,
  };
}

const isAway = (error: unknown): boolean =>
  error instanceof CarillonError && (error.code === 'log_unavailable' || error.code === 'overloaded');
