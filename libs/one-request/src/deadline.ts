import type { Duration } from '@carillon/kernel';

/** Long enough to read what has come already, on a busy machine too. */
const TO_READ: Duration = 250;

/**
 * Calls `late` once this span is over, unless what it answers was called before. A process that was held still wakes with
 * its timers first: what came meanwhile still lies unread in its sockets, and a request that was answered long ago would
 * end as a doubt. So the end of the span is followed by a moment of reading, and only then it is too late.
 */
export function deadline(span: Duration, late: () => void): () => void {
  let timer = setTimeout(() => {
    timer = setTimeout(late, TO_READ);
  }, span);
  return () => clearTimeout(timer);
}
