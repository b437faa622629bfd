import { failureOf, noAnswer, passes, readFailure, SendError, type Failure } from './send-error.ts';

/** Result of one event of a batch: the id under which it is stored, or why it was refused. */
export type BatchResult =
  | { readonly id: string; readonly error?: undefined }
  | { readonly error: SendError; readonly id?: undefined };

const MAX_EVENTS = 1000;
/** A server takes more, but a slow connection has to carry a part within one request. */
const MAX_BYTES = 1024 * 1024;
/** Room for the numbers of part and line in the 255 characters of a key. */
const MAX_KEY = 240;

/** An event as a line, or why it cannot be sent. */
export type Line = string | Failure;

/** Returns why no event can be sent under a caller's key, or null. */
export const keyFailure = (key: string): Failure | null =>
  key.length <= MAX_KEY
    ? null
    : neverSent('invalid_idempotency_key', `The key of a batch may have at most ${MAX_KEY} characters. Shorten it.`);

const neverSent = (code: string, detail: string): Failure => ({
  status: 400,
  code,
  detail,
  requestId: null,
  pointer: null,
});

function lineOf(event: object): Line {
  try {
    const line = JSON.stringify(event) as string | undefined;
    if (line !== undefined) return line;
  } catch {
    // The text of the error may hold names of the event.
  }
  return neverSent('invalid_json', 'The event has no JSON: it is undefined, or holds a BigInt or a cycle. Convert it.');
}

/** Formats events as lines, split into parts that fit into one request. Never throws. */
export function splitEvents(events: readonly object[]): readonly (readonly Line[])[] {
  const parts: Line[][] = [];
  let part: Line[] = [];
  let bytes = 0;
  const encoder = new TextEncoder();
  for (const event of events) {
    const line = lineOf(event);
    const size = typeof line === 'string' ? encoder.encode(line).length + 1 : 1;
    if (part.length === 0 || part.length === MAX_EVENTS || bytes + size > MAX_BYTES) {
      part = [];
      parts.push(part);
      bytes = 0;
    }
    part.push(line);
    bytes += size;
  }
  return parts;
}

/** Tracks which lines of a batch request have no result yet. */
export function createOpenLines(lines: readonly Line[]) {
  const ids = new Map<number, string>();
  const refusals = new Map<number, Failure>();
  for (const [at, line] of lines.entries()) if (typeof line !== 'string') refusals.set(at, line);
  let open = [...lines.keys()].filter((at) => !refusals.has(at));
  /** Why open lines were not taken, as far as the last answer said so. */
  const waiting = new Map<number, Failure>();

  function take(items: readonly Item[]): Failure | null {
    const last = items.at(-1)?.problem;
    waiting.clear();
    for (const [at, line] of open.entries()) {
      // If the server read no further, the problem of the last result says why.
      const { id, problem = last } = items[at] ?? {};
      if (typeof id === 'string') ids.set(line, id);
      else if (problem === undefined) throw new Error('the response of the server lacks the result of an event');
      else {
        const failure = failureOf(statusOf(problem), problem);
        (passes(failure.status) ? waiting : refusals).set(line, failure);
      }
    }
    open = [...waiting.keys()];
    return waiting.get(open[0] ?? -1) ?? null;
  }

  return {
    isEmpty: (): boolean => open.length === 0,
    /** Blank lines keep the numbers of the others, and so their names. */
    body: (): string => {
      const isOpen = new Set(open);
      return lines.map((line, at) => (typeof line === 'string' && isOpen.has(at) ? `${line}\n` : '\n')).join('');
    },
    settle(status: number, text: string): Failure | null {
      if (status === 202 || status === 207) return take(itemsIn(text));
      waiting.clear();
      return readFailure(status, text);
    },
    /** Returns a result for each line. `last` is why the request was given up; it counts for lines without an answer of their own. */
    results(key: string, attempts: number, last: Failure | null): readonly BatchResult[] {
      return lines.map((_line, at) => {
        const id = ids.get(at);
        if (id !== undefined) return { id };
        const failure = refusals.get(at) ?? waiting.get(at) ?? last ?? NOT_SENT;
        return {
          error: new SendError(failure, { key: `${key}:${at + 1}`, attempts, mayPass: passes(failure.status) }),
        };
      });
    },
  };
}

const NOT_SENT = noAnswer('it was not sent');

type Item = { readonly id?: unknown; readonly problem?: Readonly<Record<string, unknown>> };

function itemsIn(text: string): readonly Item[] {
  const { items } = JSON.parse(text) as { readonly items?: unknown };
  if (!Array.isArray(items)) throw new Error('the response has no ids of events');
  return items as readonly Item[];
}

const statusOf = ({ status }: Readonly<Record<string, unknown>>): number => (typeof status === 'number' ? status : 500);
