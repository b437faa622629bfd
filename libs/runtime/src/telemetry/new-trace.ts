import { randomFillSync } from 'node:crypto';

/** The W3C trace context of one span: what a traceparent says. */
export type TraceContext = {
  /** 32 lower-case hex digits, not all zero. */ readonly traceId: string;
  /** 16 lower-case hex digits, not all zero. */ readonly spanId: string;
  /** Whether the caller records this trace; we record a span of a continued trace only then. */ readonly sampled: boolean;
};

const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const NO_TRACE = '0'.repeat(32);
const NO_SPAN = '0'.repeat(16);
const SAMPLED = 1;

/**
 * Reads a traceparent (W3C Trace Context, level 1). Undefined for what the standard calls invalid; the caller then begins a new trace.
 * A version above 00 may carry more after the flags; what we know of it is read, as the standard asks.
 */
export function parseTraceparent(text: string | null | undefined): TraceContext | undefined {
  if (text === null || text === undefined) return undefined;
  const parts = FORM.exec(text);
  if (!parts) return undefined;
  const [, version = '', traceId = '', spanId = '', flags = '', rest] = parts;
  if (version === 'ff' || (version === '00' && rest !== undefined)) return undefined;
  if (traceId === NO_TRACE || spanId === NO_SPAN) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED };
}

/** Writes version 00 with only the sampled flag, the one flag that we know. */
export const formatTraceparent = (context: TraceContext): string =>
  `00-${context.traceId}-${context.spanId}-${context.sampled ? '01' : '00'}`;

/** Whether a traceparent asks for recording. Cheap: callers use it per record to choose the links of a batch. */
export const isSampled = (text: string | null | undefined): boolean => parseTraceparent(text)?.sampled ?? false;

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
    if (traceId !== NO_TRACE && spanId !== NO_SPAN) return { traceId, spanId, sampled };
  }
}
