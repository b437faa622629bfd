const SHAPE = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const ZEROS = /^0+$/;

/** The trace of a valid traceparent: 32 hex digits. */
export const traceIdOf = (traceparent: string | null): string | null => traceparent?.split('-')[1] ?? null;

/**
 * The W3C trace context that a client sent, in the form of version 00; null for anything else, which starts a new
 * trace instead of failing the request. A later version is read as far as 00 goes, as the standard asks.
 */
export function readTraceparent(text: string | null): string | null {
  const parts = text === null || text.length > 512 ? null : SHAPE.exec(text);
  if (!parts) return null;
  const [, version, trace = '', parent = '', flags, rest] = parts;
  if (version === 'ff' || (version === '00' && rest !== undefined)) return null;
  return ZEROS.test(trace) || ZEROS.test(parent) ? null : `00-${trace}-${parent}-${flags}`;
}
