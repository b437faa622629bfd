import { CarillonError, isCarillonError, type Duration } from '@carillon/kernel';
import type { EventLog, NewRecord } from '@carillon/ports';

const UNKNOWN =
  'Whether the event is on the log is unknown. Repeat it with the same Idempotency-Key: then it counts once. ' +
  'Without such a key a repeat is a new event.';

/**
 * Appends and waits until the record is durable, at most for the deadline. Rejects with `log_unavailable` or
 * `overloaded`; the record may still be or come onto the log. `settled` is called when the log has let go of the record,
 * which may be after the deadline or never.
 */
export async function appendInTime(
  log: Pick<EventLog, 'append'>,
  record: NewRecord,
  deadline: Duration,
  settled: () => void,
): Promise<void> {
  const appended = start(log, record).finally(settled);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new CarillonError('log_unavailable', UNKNOWN)), deadline);
  });
  try {
    await Promise.race([appended, late]);
  } catch (error) {
    // What comes after the deadline has nobody left to tell.
    appended.catch(() => undefined);
    throw unknownOutcome(error);
  } finally {
    clearTimeout(timer);
  }
}

/** As a promise also where the log throws at once. */
async function start(log: Pick<EventLog, 'append'>, record: NewRecord): Promise<void> {
  await log.append([record]);
}

function unknownOutcome(error: unknown): CarillonError {
  if (!isCarillonError(error)) return new CarillonError('log_unavailable', UNKNOWN, {}, { cause: error });
  const code = error.code === 'overloaded' ? 'overloaded' : 'log_unavailable';
  const { retryAfter } = error.facts;
  return new CarillonError(code, UNKNOWN, retryAfter === undefined ? {} : { retryAfter }, { cause: error });
}
