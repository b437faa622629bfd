import { CarillonError, isCarillonError, type Duration } from '@carillon/kernel';
import type { EventLog, NewRecord } from '@carillon/ports';

const UNKNOWN =
  'Whether the event is on the log is unknown. Repeat it with the same Idempotency-Key: then it counts once. ' +
  'Without such a key a repeat is a new event.';

/**
 * Appends records and waits until they are durable, at most until the deadline. Rejects with `log_unavailable` or
 * `overloaded`; the records may still be stored, and `unknown` tells the client what to do. `settled` is called when
 * the log no longer holds the records, which may be after the deadline or never.
 */
export function appendInTime(
  log: Pick<EventLog, 'append'>,
  records: readonly NewRecord[],
  deadline: Duration,
  settled: () => void,
  unknown: string = UNKNOWN,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new CarillonError('log_unavailable', unknown)), deadline);
    const end = (tell: () => void): void => {
      clearTimeout(timer);
      settled();
      // After the deadline there is nobody left to tell.
      tell();
    };
    append(log, records).then(
      () => end(resolve),
      (error: unknown) => end(() => reject(unknownOutcome(error, unknown))),
    );
  });
}

/** Turns a synchronous throw of the log into a rejection. */
async function append(log: Pick<EventLog, 'append'>, records: readonly NewRecord[]): Promise<void> {
  await log.append(records);
}

function unknownOutcome(error: unknown, unknown: string): CarillonError {
  if (!isCarillonError(error)) return new CarillonError('log_unavailable', unknown, {}, { cause: error });
  const code = error.code === 'overloaded' ? 'overloaded' : 'log_unavailable';
  const { retryAfter } = error.facts;
  return new CarillonError(code, unknown, retryAfter === undefined ? {} : { retryAfter }, { cause: error });
}
