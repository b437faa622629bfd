import { randomFillSync } from 'node:crypto';
import type { TraceContext } from '@carillon/kernel';

const ZEROS = /^0+$/;
const POOL_SIZE = 24 * 128;
const pool = Buffer.allocUnsafe(POOL_SIZE);
let used = POOL_SIZE;

/** A new root context. Random bytes are drawn for 128 contexts at once, because a call into the generator costs more than the bytes. */
export function newTraceContext(sampled: boolean): TraceContext {
  for (;;) {
    if (used >= POOL_SIZE) {
      randomFillSync(pool);
      used = 0;
    }
    const traceId = pool.toString('hex', used, used + 16);
    const spanId = pool.toString('hex', used + 16, used + 24);
    used += 24;
    if (!ZEROS.test(traceId) && !ZEROS.test(spanId)) return { traceId, spanId, sampled };
  }
}
