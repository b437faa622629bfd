import { readFailure, SendError, type Failure } from './send-error.ts';
import { pause, readRetryAfter, waitBefore } from './waiting.ts';

/**
 * An API key, or a token of who is signed in. A function is called for each request, and once more with `renew` after the
 * first answer that refuses what it gave: then it fetches a new token.
 */
export type Credential = string | ((asked: { readonly renew: boolean }) => string | Promise<string>);

/** Told before an event is sent again. */
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
  /** Milliseconds that one request may take; 10,000 unless told, as the server takes a body no longer. */
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
   * Rejects with a `SendError`; nothing is sent after that.
   */
  send(stream: string, event: object, options?: SendOptions): Promise<Sent>;
};

const DEADLINE = 60_000;
const ATTEMPT_TIMEOUT = 10_000;
/** An answer of the server is a problem of some hundred bytes. What is longer comes from somebody in between. */
const LONGEST_ANSWER = 64 * 1024;

type Tried =
  | { readonly kind: 'taken'; readonly id: string }
  | { readonly kind: 'failed'; readonly failure: Failure; readonly retryAfter: number | null };

/** Whether the same request may be answered otherwise later. */
const passes = (status: number): boolean => status === 0 || status === 408 || status === 429 || status >= 500;

const noAnswer = (detail: string): Failure => ({
  status: 0,
  code: 'no_answer',
  detail,
  requestId: null,
  pointer: null,
});

export function createClient(options: ClientOptions): Client {
  const base = gatewayOf(options.url);
  const request = options.fetch ?? fetch;
  const credentialFor = async (renew: boolean): Promise<string> =>
    typeof options.credential === 'string' ? options.credential : options.credential({ renew });

  async function attempt(url: string, init: RequestInit, signal: AbortSignal): Promise<Tried> {
    const within = AbortSignal.any([signal, AbortSignal.timeout(options.attemptTimeout ?? ATTEMPT_TIMEOUT)]);
    try {
      // An event is never sent on to where an answer points: its credential would go along.
      const answer = await request(url, { ...init, redirect: 'manual', signal: within });
      const text = await textOf(answer);
      if (answer.status === 202) return { kind: 'taken', id: idIn(text) };
      const retryAfter = readRetryAfter(answer.headers.get('retry-after'), Date.now());
      return { kind: 'failed', failure: readFailure(answer.status, text), retryAfter };
    } catch (error) {
      return { kind: 'failed', failure: noAnswer(wordsOf(error)), retryAfter: null };
    }
  }

  return {
    async send(stream, event, more = {}) {
      const url = `${base}/events/${stream.split('/').map(encodeURIComponent).join('/')}`;
      const key = more.key ?? crypto.randomUUID();
      // Written once: an object that its owner changes meanwhile would be another event under the same key.
      const body = JSON.stringify(event);
      const ends = Date.now() + (more.deadline ?? options.deadline ?? DEADLINE);
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
          'content-type': 'application/json',
          'idempotency-key': key,
          ...(more.traceparent !== undefined && { traceparent: more.traceparent }),
        };
        const tried = await attempt(url, { method: 'POST', headers, body }, signal);
        if (tried.kind === 'taken') return { id: tried.id, key, attempts };
        last = tried.failure;
        if (last.status === 401 && typeof options.credential !== 'string' && !renewed) {
          renewed = true;
          continue;
        }
        if (!passes(last.status)) throw new SendError(last, { key, attempts, mayPass: false });
        const wait = waitBefore(attempts, tried.retryAfter, Math.random);
        // Whoever is told to come back after the deadline need not wait for it.
        if (signal.aborted || Date.now() + wait >= ends) break;
        options.onRepeat?.({ key, attempt: attempts, wait, failure: last });
        await pause(wait, signal);
      }
      throw new SendError(last, { key, attempts, mayPass: true });
    },
  };
}

/** The address without a last slash. Whoever gives none that can be asked is told at once, not with the first event. */
function gatewayOf(url: string): string {
  const read = URL.canParse(url) ? new URL(url) : null;
  if (!read || !/^https?:$/.test(read.protocol)) throw new TypeError(`url is no http or https address: ${url}`);
  if (read.username !== '' || read.password !== '') throw new TypeError('url holds a password: give it as credential');
  return `${read.origin}${read.pathname.replace(/\/+$/, '')}`;
}

async function textOf(answer: Response): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of answer.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    if (text.length > LONGEST_ANSWER) break;
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
