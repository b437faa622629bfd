import type { JsonFaultCode, JsonLimits } from '@carillon/domain/events';

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
const FORBIDDEN: ReadonlySet<string> = new Set(['__proto__', 'constructor']);
const INT64 = 2n ** 63n;

/**
 * Why a reader of events may refuse these bytes, found in another way than the reader's: JSON.parse says what is JSON, and
 * of that only what the limits name is refused. Null: they are no JSON, so that anything may be said of them.
 */
export function causesToRefuse(bytes: Uint8Array, limits: JsonLimits): ReadonlySet<JsonFaultCode> | null {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    JSON.parse(text);
  } catch {
    return null;
  }
  const causes = new Set<JsonFaultCode>();
  /** Names of each object that is open; null for a list. */
  const open: (Set<string> | null)[] = [];
  let keys = 0;
  const name = (value: string): void => {
    const names = open.at(-1);
    keys += 1;
    if (keys > limits.keys) causes.add('too_many_keys');
    if (FORBIDDEN.has(value)) causes.add('forbidden_key');
    if (names?.has(value)) causes.add('duplicate_key');
    names?.add(value);
  };
  const tokens = text.match(TOKEN) ?? [];
  if (tokens[0] !== '{') causes.add('not_an_object');
  for (const [at, token] of tokens.entries()) {
    if (token === '{' || token === '[') {
      open.push(token === '{' ? new Set() : null);
      if (open.length > limits.depth) causes.add('too_deep');
    } else if (token === '}' || token === ']') open.pop();
    else if (token.startsWith('"')) {
      const value = JSON.parse(token) as string;
      if (!value.isWellFormed()) causes.add('invalid_json');
      if (tokens[at + 1] === ':') name(value);
    } else if (/^[-\d]/.test(token) && isOutOfRange(token)) causes.add('number_out_of_range');
  }
  return causes;
}

function isOutOfRange(token: string): boolean {
  if (!/^-?\d+$/.test(token)) return !Number.isFinite(Number(token));
  return BigInt(token) < -INT64 || BigInt(token) >= INT64;
}

/** What is wrong with what a reader said; `refused` is the code that it gave, null where it took the bytes. */
export function judgeReading(
  bytes: Uint8Array,
  limits: JsonLimits,
  refused: string | null,
  mayBeAnything = false,
): string | null {
  const causes = causesToRefuse(bytes, limits);
  if (causes === null) return refused === null ? 'it was taken, and is no JSON' : null;
  const own = [...causes].filter((cause) => !mayBeAnything || cause !== 'not_an_object');
  if (refused === null) return own.length === 0 ? null : `it was taken in spite of ${own.join(', ')}`;
  return own.some((cause) => cause === refused) ? null : `valid JSON was refused with ${refused}`;
}

/** The body of a request that says plainly how long it is and comes as it is; null where anything is odd about that. */
export function plainBodyOf(request: string): Uint8Array | null {
  const headEnd = request.indexOf('\r\n\r\n');
  if (headEnd < 0) return null;
  const [head, body] = [request.slice(0, headEnd), request.slice(headEnd + 4)];
  const lengths = [...head.matchAll(/^content-length: *(\d+) *$/gim)].map(([, length]) => Number(length));
  const isPlain =
    lengths.length === 1 && lengths[0] === body.length && !/^(transfer|content)-encoding|^expect/im.test(head);
  return isPlain ? Buffer.from(body, 'latin1') : null;
}

const READER_CODES: ReadonlySet<string> = new Set<JsonFaultCode>([
  'invalid_json',
  'not_an_object',
  'duplicate_key',
  'number_out_of_range',
  'too_deep',
  'too_many_keys',
  'forbidden_key',
]);

/** A text within the body, which may be anything, is read there too. */
const READS_MORE = /^\/v1\/workspaces\/[^/]+\/rules\/[^/]+\/test/;

/**
 * What is wrong with a refusal over the wire that speaks of JSON: of an event by the limits of events, of another body that
 * it is no JSON, or has a name that nobody may use.
 */
export function judgeRefusal(request: string, path: string, code: string, limits: JsonLimits): string | null {
  const body = plainBodyOf(request);
  if (!body) return null;
  if (path.startsWith('/events/')) return READER_CODES.has(code) ? judgeReading(body, limits, code) : null;
  if (code !== 'invalid_json' || READS_MORE.test(path)) return null;
  const isNamed = causesToRefuse(body, limits)?.has('forbidden_key');
  return isNamed ? null : judgeReading(body, limits, code);
}
