import type { AddressGuard } from '@carillon/ports';
import { once } from 'node:events';
import { Agent as HttpAgent, request as requestHttp, type ClientRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { deadline } from './deadline.ts';
import { failureWords, needsMending } from './failure-words.ts';
import { CUT_OFF, LATE, singleHeaders, STOPPED, unknown, unsent, type RequestEnd } from './request-end.ts';
import { allowedAddresses, guardedLookup, isLiteral, NO_WAY, withAuthorities } from './where-to.ts';

export type Http1Request = {
  readonly method: 'GET' | 'POST';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
};

export type RequestLimits = {
  /** Milliseconds for name resolution, connection and TLS together. */
  readonly connect: number;
  /** Milliseconds from the first byte of the request to the last byte of the response. */
  readonly answer: number;
  /** Largest answer in bytes. */
  readonly bytes: number;
};

export type Http1Options = {
  readonly limits: RequestLimits;
  /** Connections at a time; further requests wait for one, unsent. */
  readonly connections: number;
  /** Null where the operator chose the host; else it says where we may connect to. */
  readonly guard: AddressGuard | null;
  /** PEM of authorities that count besides those of the machine. */
  readonly trusted: readonly string[];
};

/** Idle connections are closed earlier than servers usually do, so that a request seldom meets a closing connection. */
const IDLE_TIMEOUT_MS = 4_000;

/**
 * Creates an HTTP/1.1 client whose call is exactly one request: it never retries, never follows a redirect, and knows
 * whether a byte of the request may have been sent. `signal` only ends requests that have not begun.
 */
export function createHttp1Client(options: Http1Options) {
  const { limits, connections, guard, trusted } = options;
  const pool = { keepAlive: true, maxSockets: connections, maxFreeSockets: connections, timeout: IDLE_TIMEOUT_MS };
  const http = new HttpAgent(pool);
  const https = new HttpsAgent({ ...pool, ...withAuthorities(trusted), minVersion: 'TLSv1.2' });

  async function send(request: Http1Request, signal: AbortSignal): Promise<RequestEnd> {
    if (signal.aborted) return STOPPED;
    // An address in place of a name is never looked up, so it is asked about here.
    if (guard !== null && isLiteral(request.url) && !(await allowedAddresses(guard, request.url))) {
      return unsent(NO_WAY, true);
    }
    const secure = request.url.protocol === 'https:';
    const made = (secure ? requestHttps : requestHttp)(request.url, {
      method: request.method,
      headers: request.headers,
      agent: secure ? https : http,
      ...(guard !== null && { lookup: guardedLookup(guard, request.url) }),
    });
    return finish(made, request.body, secure ? 'secureConnect' : 'connect', signal);
  }

  async function finish(
    made: ClientRequest,
    body: string | null,
    ready: 'connect' | 'secureConnect',
    signal: AbortSignal,
  ): Promise<RequestEnd> {
    const ended = new AbortController();
    let begun = false;
    const late = (): void => void made.destroy(new Error('late'));
    let inTime = deadline(limits.connect, late);
    const begin = (): void => {
      begun = true;
      inTime();
      inTime = deadline(limits.answer, late);
    };
    const stop = (): void => {
      if (!begun) made.destroy(new Error('stopped'));
    };
    signal.addEventListener('abort', stop, { signal: ended.signal });
    made.once('socket', (socket) => {
      if (made.reusedSocket || !socket.connecting) begin();
      else socket.once(ready, begin);
    });
    // A separate listener, because an error after the end of the response must not end the process.
    made.on('error', () => undefined);
    try {
      const answered = Promise.race([
        once(made, 'response', { signal: ended.signal }) as Promise<[IncomingMessage]>,
        closedFirst(made, ended.signal),
      ]);
      made.end(body ?? undefined);
      const [response] = await answered;
      return await read(response);
    } catch (error) {
      if (begun) return unknown(wordsOf(error, CUT_OFF));
      return signal.aborted ? STOPPED : unsent(wordsOf(error, 'No connection was established.'), needsMending(error));
    } finally {
      inTime();
      ended.abort();
    }
  }

  async function read(response: IncomingMessage): Promise<RequestEnd> {
    const pieces: Buffer[] = [];
    let bytes = 0;
    for await (const piece of response as AsyncIterable<Buffer>) {
      bytes += piece.length;
      if (bytes > limits.bytes) {
        response.destroy();
        return unknown(`The answer was larger than ${limits.bytes} bytes.`);
      }
      pieces.push(piece);
    }
    if (!response.complete) return unknown(CUT_OFF);
    return {
      kind: 'answered',
      status: response.statusCode ?? 0,
      headers: singleHeaders(response.headers),
      body: Buffer.concat(pieces).toString('utf8'),
    };
  }

  return {
    send,
    /** Ends connections. A request that is under way ends as `unknown`. */
    close(): void {
      http.destroy();
      https.destroy();
    },
  };
}
export type Http1Client = ReturnType<typeof createHttp1Client>;

/** A request may close with neither a response nor an error: Node ends one so whose answer is 101 Switching Protocols. */
async function closedFirst(made: ClientRequest, signal: AbortSignal): Promise<never> {
  await once(made, 'close', { signal });
  throw new Error('closed without a response');
}

const wordsOf = (error: unknown, otherwise: string): string =>
  error instanceof Error && error.message === 'late' ? LATE : failureWords(error, otherwise);
