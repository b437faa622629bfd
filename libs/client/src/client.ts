import { createOpenLines, keyFailure, splitEvents, type BatchResult, type Line } from './batch.ts';
import { noAnswer, passes, readFailure, SendError, type Failure } from './send-error.ts';
import { pause, readRetryAfter, waitBefore } from './waiting.ts';

/**
 * An API key, or a token of who is signed in. A function is called for each request, and once more with `renew` after the
 * first answer that refuses what it gave: then it fetches a new token.
 */
export type Credential = string | ((asked: { readonly renew: boolean }) => string | Promise<string>);

/** Told before an event or a batch is sent again. */
export type Repeat = {
  readonly key: string;
  /** The request that failed, counted from 1. */
  readonly attempt: number;
  /** Milliseconds until the next one. */
  readonly wait: number;
  readonly failure: Failure;
};

export type ClientOptions = {
  /** Where the gateway is, such as `https://events.example.com`; a path before `/events` is kept. */
  readonly url: string;
  readonly credential: Credential;
  /** Milliseconds that `send` may take, repeats and waits included; 60,000 unless told. */
  readonly deadline?: number;
  /** Maximum milliseconds of one request. Defaults to 10,000, because the server reads a body no longer than that. */
  readonly attemptTimeout?: number;
  readonly onRepeat?: (repeat: Repeat) => void;
  /** In place of the platform's own, for a proxy or a dispatcher. */
  readonly fetch?: typeof fetch;
};

export type SendOptions = {
  /**
   * Idempotency-Key, 1 to 255 visible characters: name the change by it, such as `order/4711/3`. The same key in a stream is the same
   * event, however often it is sent. Left out: a random one, which is the same in all repeats of this call and in no other.
   */
  readonly key?: string;
  /** Milliseconds, in place of the client's. */
  readonly deadline?: number;
  /** Ends sending; then nobody may know whether the event was taken. */
  readonly signal?: AbortSignal;
  /** W3C traceparent of what caused the event. */
  readonly traceparent?: string;
};

export type Sent = {
  /** Id of the event: the same for each repeat under one key. */
  readonly id: string;
  readonly key: string;
  /** Requests that were made. */
  readonly attempts: number;
};

export type Client = {
  /**
   * Sends one event to a stream, `workspace/path`. Resolves once it is on the disk of the server. No answer, 408, 429 and 5xx are
   * repeated under the same key, after `Retry-After` where there is one, until the deadline; 401 once, with a renewed credential.
   * Rejects with a `SendError`. If your credential function fails, nothing more is sent, and `cause` is its error.
   */
  send(stream: string, event: object, options?: SendOptions): Promise<Sent>;
  /**
   * Sends many events, up to 1,000 or 1 MiB in each request and one request after the other. Resolves to a result for each event, in order, and
   * does not reject. Events that may pass later are repeated like those of `send`; `deadline` counts for each request. After a request that was given
   * up, the events behind it are not sent: their results have its error. The same events under the same `key`,
   * of at most 240 characters, are the same events again. An event without JSON has an error and is not sent.
   */
  sendBatch(stream: string, events: readonly object[], options?: SendOptions): Promise<readonly BatchResult[]>;
};

const DEFAULT_DEADLINE_MS = 60_000;
const DEFAULT_ATTEMPT_TIMEOUT_MS = 10_000;
/** An answer of the server is a problem of some hundred bytes. What is longer comes from somebody in between. */
const MAX_RESPONSE_BYTES = 64 * 1024;

/** A batch has an answer for each event. */
const MAX_BATCH_RESPONSE_BYTES = 4 * 1024 * 1024;

/** Content of one request, and how its response is read. */
type Sending = {
  readonly key: string;
  readonly contentType: string;
  readonly longestAnswer: number;
  /** Asked for before each attempt. */
  readonly body: () => string;
  /** Reads an answer. Returns why it did not succeed, or null. */
  readonly settle: (status: number, text: string) => Failure | null;
};
type Tried = { readonly failure: Failure | null; readonly retryAfter: number | null };
/** The events of one request. */
type Part = { readonly key: string; readonly lines: readonly Line[]; readonly givenUp: Failure | null };
type Ended = { readonly failure: Failure | null; readonly attempts: number; readonly mayPass: boolean };

export function createClient(options: ClientOptions): Client {
  const base = gatewayOf(options.url);
  const request = options.fetch ?? fetch;
  const credentialFor = async (renew: boolean): Promise<string> =>
    typeof options.credential === 'string' ? options.credential : options.credential({ renew });

  async function attempt(url: string, init: RequestInit, sending: Sending, signal: AbortSignal): Promise<Tried> {
    const within = AbortSignal.any([signal, AbortSignal.timeout(options.attemptTimeout ?? DEFAULT_ATTEMPT_TIMEOUT_MS)]);
    try {
      // An event is never sent on to where an answer points: its credential would go along.
      const answer = await request(url, { ...init, redirect: 'manual', signal: within });
      const text = await textOf(answer, sending.longestAnswer);
      const retryAfter = readRetryAfter(answer.headers.get('retry-after'), Date.now());
      return { failure: sending.settle(answer.status, text), retryAfter };
    } catch (error) {
      return { failure: noAnswer(wordsOf(error)), retryAfter: null };
    }
  }

  /** Sends until an answer settles it, or the deadline passes. */
  async function sendUntilSettled(stream: string, sending: Sending, more: SendOptions): Promise<Ended> {
    const url = `${base}/events/${stream.split('/').map(encodeURIComponent).join('/')}`;
    const { key } = sending;
    const ends = Date.now() + (more.deadline ?? options.deadline ?? DEFAULT_DEADLINE_MS);
    const over = AbortSignal.timeout(Math.max(0, ends - Date.now()));
    const signal = more.signal ? AbortSignal.any([over, more.signal]) : over;
    let last = noAnswer('it was ended before the first request was made');
    let renewed = false;
    let attempts = 0;
    while (!signal.aborted) {
      const credential = await credentialFor(renewed && last.status === 401);
      attempts += 1;
      const headers = {
        authorization: `Bearer ${credential}`,
        'content-type': sending.contentType,
        'idempotency-key': key,
        ...(more.traceparent !== undefined && { traceparent: more.traceparent }),
      };
      const tried = await attempt(url, { method: 'POST', headers, body: sending.body() }, sending, signal);
      if (tried.failure === null) return { failure: null, attempts, mayPass: false };
      last = tried.failure;
      if (last.status === 401 && typeof options.credential !== 'string' && !renewed) {
        renewed = true;
        continue;
      }
      if (!passes(last.status)) return { failure: last, attempts, mayPass: false };
      const wait = waitBefore(attempts, tried.retryAfter, Math.random);
      // If the next attempt would start after the deadline, give up now instead of waiting.
      if (signal.aborted || Date.now() + wait >= ends) break;
      options.onRepeat?.({ key, attempt: attempts, wait, failure: last });
      await pause(wait, signal);
    }
    return { failure: last, attempts, mayPass: true };
  }

  /** Sends the events of a request until each has a result. Sends none if an earlier request was given up. */
  async function sendPart(stream: string, { key, lines, givenUp }: Part, more: SendOptions) {
    const open = createOpenLines(lines);
    if (givenUp || open.isEmpty()) return { givenUp, results: open.results(key, 0, givenUp) };
    const sending = {
      key,
      contentType: 'application/x-ndjson',
      longestAnswer: MAX_BATCH_RESPONSE_BYTES,
      body: open.body,
      settle: (status: number, text: string) => open.settle(status, text),
    };
    const { failure, attempts } = await sendUntilSettled(stream, sending, more).catch(endedByCaller);
    return { givenUp: failure, results: open.results(key, attempts, failure) };
  }

  return {
    async send(stream, event, more = {}) {
      const key = more.key ?? crypto.randomUUID();
      // Written once: an object that its owner changes meanwhile would be another event under the same key.
      const body = JSON.stringify(event);
      let id = '';
      const settle = (status: number, text: string): Failure | null => {
        if (status !== 202) return readFailure(status, text);
        id = idIn(text);
        return null;
      };
      const sending = {
        key,
        contentType: 'application/json',
        longestAnswer: MAX_RESPONSE_BYTES,
        body: () => body,
        settle,
      };
      const { failure, attempts, mayPass } = await sendUntilSettled(stream, sending, more).catch(endedByCaller);
      if (failure) throw new SendError(failure, { key, attempts, mayPass });
      return { id, key, attempts };
    },
    async sendBatch(stream, events, more = {}) {
      const key = more.key ?? crypto.randomUUID();
      const results: BatchResult[] = [];
      let givenUp = keyFailure(key);
      for (const [part, lines] of splitEvents(events).entries()) {
        const sent = await sendPart(stream, { key: `${key}/${part + 1}`, lines, givenUp }, more);
        results.push(...sent.results);
        givenUp = sent.givenUp;
      }
      return results;
    },
  };
}

const endedByCaller = (cause: unknown): Ended => ({
  failure: { ...noAnswer('the credential function, onRepeat or an option failed: see the cause'), cause },
  attempts: 0,
  mayPass: true,
});

/** The address without a last slash. Whoever gives none that can be asked is told at once, not with the first event. */
function gatewayOf(url: string): string {
  const read = URL.canParse(url) ? new URL(url) : null;
  if (!read || !/^https?:$/.test(read.protocol)) throw new TypeError(`url is no http or https address: ${url}`);
  if (read.username !== '' || read.password !== '') throw new TypeError('url holds a password: give it as credential');
  return `${read.origin}${read.pathname.replace(/\/+$/, '')}`;
}

async function textOf(answer: Response, longest: number): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of answer.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    if (text.length > longest) break;
  }
  return text;
}

function idIn(text: string): string {
  const { id } = JSON.parse(text) as { readonly id?: unknown };
  if (typeof id !== 'string') throw new Error('the answer names no event');
  return id;
}

/** What stands behind "fetch failed". */
function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return 'no answer';
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
