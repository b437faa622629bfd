import { randomFillSync } from 'node:crypto';
import type { TraceContext } from '@carillon/kernel';

const ZEROS = /^0+$/;
/** Milliseconds, until the year 10889. */
const TIME_BYTES = 6;
const POOL_SIZE = 24 * 128;
const pool = Buffer.allocUnsafe(POOL_SIZE);
let used = POOL_SIZE;

/**
 * A new root context. Its trace id begins with the time, so that the ids of events that come together stand together in an index; the ten
 * bytes of chance behind are more than the seven that samplers may rely on (W3C Trace Context, level 2, 3.2.2.3). Random bytes are drawn for
 * 128 contexts at once, because a call into the generator costs more than the bytes.
 */
export function newTraceContext(sampled: boolean): TraceContext {
  for (;;) {
    if (used >= POOL_SIZE) {
      randomFillSync(pool);
      used = 0;
    }
    pool.writeUIntBE(Date.now(), used, TIME_BYTES);
    const traceId = pool.toString('hex', used, used + 16);
    const spanId = pool.toString('hex', used + 16, used + 24);
    used += 24;
    if (!ZEROS.test(traceId) && !ZEROS.test(spanId)) return { traceId, spanId, sampled };
  }
}
