import type { AddressGuard } from '@carillon/ports';
import { once } from 'node:events';
import { Agent as HttpAgent, request as requestHttp, type ClientRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { getCACertificates } from 'node:tls';

export type OneRequest = {
  readonly method: 'GET' | 'POST';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
};

/**
 * How a request ended. `unsent`: no byte of it went out, so nothing can have come of it. `unknown`: it was begun, and no
 * complete answer came back.
 */
export type RequestEnd =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string;
    }
  | { readonly kind: 'unsent'; readonly words: string; readonly stopped: boolean; readonly alert: boolean }
  | { readonly kind: 'unknown'; readonly words: string };

export type RequestLimits = {
  /** For name, connection and TLS together, in milliseconds. */
  readonly connect: number;
  /** From the first byte of the request to the last of the answer. */
  readonly answer: number;
  /** Largest answer in bytes. */
  readonly bytes: number;
};

export type OneRequestOptions = {
  readonly limits: RequestLimits;
  /** Connections at a time; further requests wait for one, unsent. */
  readonly connections: number;
  /** Null where the operator chose the host; else it says where we may connect to. */
  readonly guard: AddressGuard | null;
  /** PEM of authorities that count besides those of the machine. */
  readonly trusted: readonly string[];
};

/** Free connections are closed before a server usually does, so that a request seldom meets one that is closing. */
const IDLE = 4_000;
const NO_WAY = 'Carillon may not connect to that address; the operator of the deployment can allow private ones.';

/**
 * An HTTP/1.1 client whose one call is one request: it never repeats, never follows a redirect, and knows whether a byte
 * of the request can have gone out. `signal` ends only what was not begun.
 */
export function createOneRequest(options: OneRequestOptions) {
  const { limits, connections, guard, trusted } = options;
  const pool = { keepAlive: true, maxSockets: connections, maxFreeSockets: connections, timeout: IDLE };
  const lookup = guard === null ? {} : { lookup: guardedLookup(guard) };
  const http = new HttpAgent({ ...pool, ...lookup });
  const ca = trusted.length > 0 ? { ca: [...getCACertificates(), ...trusted] } : {};
  const https = new HttpsAgent({ ...pool, ...lookup, ...ca, minVersion: 'TLSv1.2' });

  async function send(request: OneRequest, signal: AbortSignal): Promise<RequestEnd> {
    if (signal.aborted) return stopped;
    const { hostname } = request.url;
    const literal = hostname.replace(/^\[|\]$/g, '');
    // An address in place of a name is never looked up, so it is asked about here.
    if (guard !== null && isIP(literal) !== 0 && !(await guard.resolve(literal)).ok) return unsent(NO_WAY, true);
    const secure = request.url.protocol === 'https:';
    const made = (secure ? requestHttps : requestHttp)(request.url, {
      method: request.method,
      headers: request.headers,
      agent: secure ? https : http,
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
    let timer = setTimeout(() => made.destroy(new Error('late')), limits.connect);
    const begin = (): void => {
      begun = true;
      clearTimeout(timer);
      timer = setTimeout(() => made.destroy(new Error('late')), limits.answer);
    };
    const stop = (): void => {
      if (!begun) made.destroy(new Error('stopped'));
    };
    signal.addEventListener('abort', stop, { signal: ended.signal });
    made.once('socket', (socket) => {
      if (made.reusedSocket || !socket.connecting) begin();
      else socket.once(ready, begin);
    });
    // Its own listener: what comes after the answer has ended must not end the process.
    made.on('error', () => undefined);
    try {
      const answered = once(made, 'response', { signal: ended.signal }) as Promise<[IncomingMessage]>;
      made.end(body ?? undefined);
      const [response] = await answered;
      return await read(response);
    } catch (error) {
      if (begun)
        return { kind: 'unknown', words: wordsOf(error, 'The connection ended before the answer was complete.') };
      return signal.aborted ? stopped : unsent(wordsOf(error, 'No connection came about.'), needsMending(error));
    } finally {
      clearTimeout(timer);
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
        return { kind: 'unknown', words: `The answer was larger than ${limits.bytes} bytes.` };
      }
      pieces.push(piece);
    }
    if (!response.complete) return { kind: 'unknown', words: 'The connection ended before the answer was complete.' };
    const headers = Object.fromEntries(
      Object.entries(response.headers).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
    );
    return {
      kind: 'answered',
      status: response.statusCode ?? 0,
      headers,
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
export type OneRequestClient = ReturnType<typeof createOneRequest>;

const unsent = (words: string, alert: boolean): RequestEnd => ({ kind: 'unsent', words, stopped: false, alert });
const stopped: RequestEnd = {
  kind: 'unsent',
  words: 'The delivery was stopped before the message was handed over.',
  stopped: true,
  alert: false,
};

/** Names are resolved by the guard alone, so what was judged is what is connected to. */
const guardedLookup =
  (guard: AddressGuard): LookupFunction =>
  (host, { all }, done) =>
    void answerLookup(guard, host, all === true, done);

async function answerLookup(
  guard: AddressGuard,
  host: string,
  all: boolean,
  done: Parameters<LookupFunction>[2],
): Promise<void> {
  const judged = await guard.resolve(host);
  const [first] = judged.ok ? judged.value : [];
  if (!judged.ok || !first) return done(Object.assign(new Error(NO_WAY), { code: 'ENOTFOUND' }), '', 0);
  return all ? done(null, [...judged.value]) : done(null, first.address, first.family);
}

const SYSTEM: ReadonlyMap<string, string> = new Map([
  ['ENOTFOUND', 'The name of the server leads to no address that Carillon may connect to.'],
  ['EAI_AGAIN', 'The name servers do not answer.'],
  ['ECONNREFUSED', 'Nothing listens at that address and port, or a firewall refuses it.'],
  ['ECONNRESET', 'The server cut the connection.'],
  ['EPIPE', 'The server closed the connection.'],
  ['EHOSTUNREACH', 'There is no way to that address.'],
  ['ENETUNREACH', 'There is no way to that network.'],
  ['ETIMEDOUT', 'The server did not answer in time.'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'The certificate is signed by itself.'],
  ['CERT_HAS_EXPIRED', 'The certificate has expired.'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'The certificate belongs to another name.'],
]);

function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : '';
}

/** In our words: the platform's own may name addresses. */
function wordsOf(error: unknown, otherwise: string): string {
  if (error instanceof Error && error.message === 'late') return 'The server did not answer in time.';
  const code = codeOf(error);
  const known = SYSTEM.get(code);
  return known ?? (/^[A-Z][A-Z0-9_]+$/.test(code) ? `${otherwise} (${code})` : otherwise);
}

/** Certificates and names do not mend themselves. */
const needsMending = (error: unknown): boolean =>
  /^(ENOTFOUND|ERR_(SSL|TLS)_|CERT_|DEPTH_|SELF_SIGNED|UNABLE_TO|EPROTO$)/.test(codeOf(error));
