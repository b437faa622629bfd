const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const NO_TRACE = '0'.repeat(32);
const NO_SPAN = '0'.repeat(16);
const SAMPLED = 1;
/** Maximum length. A later version may add fields after the flags, which are ignored. */
const LONGEST = 512;

/** The W3C trace context of one span, as in a traceparent. */
export type TraceContext = {
  /** 32 lower-case hex digits, not all zero. */ readonly traceId: string;
  /** 16 lower-case hex digits, not all zero. */ readonly spanId: string;
  /** Whether the caller records this trace; we record a span of a continued trace only then. */ readonly sampled: boolean;
};

type Parts = { readonly traceId: string; readonly spanId: string; readonly flags: string };

/** Null for what the standard calls invalid (W3C Trace Context, level 1). A later version is read as far as 00 goes, as it asks. */
function partsOf(text: string | null | undefined): Parts | null {
  const parts = text === null || text === undefined || text.length > LONGEST ? null : FORM.exec(text);
  if (!parts) return null;
  const [, version, traceId = '', spanId = '', flags = '', rest] = parts;
  if (version === 'ff' || (version === '00' && rest !== undefined)) return null;
  return traceId === NO_TRACE || spanId === NO_SPAN ? null : { traceId, spanId, flags };
}

/** Parses a traceparent. Returns undefined if it is invalid; the caller then starts a new trace. */
export function parseTraceparent(text: string | null | undefined): TraceContext | undefined {
  const parts = partsOf(text);
  if (!parts) return undefined;
  const { traceId, spanId, flags } = parts;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED };
}

/** Returns a client's traceparent in the form of version 00. Null if it is invalid, which fails no request. */
export function readTraceparent(text: string | null): string | null {
  const parts = partsOf(text);
  return parts && `00-${parts.traceId}-${parts.spanId}-${parts.flags}`;
}

/** Formats version 00 with only the sampled flag. Other flags are unknown to us. */
export const formatTraceparent = (context: TraceContext): string =>
  `00-${context.traceId}-${context.spanId}-${context.sampled ? '01' : '00'}`;

/** Whether a traceparent asks for recording. Cheap: callers use it per record to choose the links of a batch. */
export const isSampled = (text: string | null | undefined): boolean => parseTraceparent(text)?.sampled ?? false;

/** The trace of a valid traceparent: 32 hex digits. */
export const traceIdOf = (traceparent: string | null): string | null => traceparent?.split('-')[1] ?? null;
