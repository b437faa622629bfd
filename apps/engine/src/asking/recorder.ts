import { CarillonError, type Duration } from '@carillon/kernel';
import type { EventLog } from '@carillon/ports';
import { pause } from '@carillon/runtime';

type RecorderPorts = {
  readonly log: Pick<EventLog, 'logId' | 'partitions' | 'append'>;
  /** Ends the waiting: what is not on the log then is put there by whoever comes next. */
  readonly givingUp: AbortSignal;
  /** The log has begun to refuse. */
  readonly refused: (error: unknown) => void;
  /** The log takes records again. */
  readonly taken: () => void;
};

/** How soon a log that refuses is tried again. */
const AGAIN: Duration = 500;

/**
 * The log for what is decided about triggers: an answer waits here until it is on the log, and as long as one does,
 * `refuses` says that nobody should be asked for more. So what waits in memory stays what was under way.
 */
export function createRecorder({ log, givingUp, refused, taken }: RecorderPorts) {
  let waiting = 0;

  /** Rejects as `log.append` does, where another try would not help or there is no time for one. */
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
