import type { AddressGuard } from '@carillon/ports';
import {
  connect,
  constants,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type IncomingHttpHeaders,
  type IncomingHttpStatusHeader,
} from 'node:http2';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, getCACertificates } from 'node:tls';

export type Post = {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/** `unsent`: FCM cannot have acted on it. `unknown`: it was begun, and ended without a complete answer. */
export type PostEnd =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string;
    }
  | { readonly kind: 'unsent'; readonly words: string; readonly stopped: boolean; readonly alert: boolean }
  | { readonly kind: 'unknown'; readonly words: string };

export type SessionOptions = {
  /** `https://host[:port]`. */
  readonly origin: URL;
  readonly guard: AddressGuard | null;
  readonly trusted: readonly string[];
  /** Milliseconds. FCM's own clients wait for at least 15 s: shorter ones made duplicates. */
  readonly connectTimeout: number;
  readonly answerTimeout: number;
  readonly maxBytes: number;
};

const unsent = (words: string, alert = false): PostEnd => ({ kind: 'unsent', words, stopped: false, alert });
const STOPPED: PostEnd = {
  kind: 'unsent',
  words: 'The delivery was stopped before the message was handed over.',
  stopped: true,
  alert: false,
};
const NO_WAY = 'Carillon may not connect to that address; the operator of the deployment can allow private ones.';

type Open = { readonly session: ClientHttp2Session; lastStream: number };

/**
 * One HTTP/2 connection to one host, opened when it is needed and again when it has ended. A POST is one stream, never
 * repeated. Only three ends are definite without an answer: no connection, REFUSED_STREAM, and a GOAWAY whose last
 * stream is below ours (RFC 9113 6.8, 8.7).
 */
export function createSession(options: SessionOptions) {
  let opening: Promise<Open | PostEnd> | undefined;
  let closed = false;

  async function post(request: Post, signal: AbortSignal): Promise<PostEnd> {
    if (signal.aborted || closed) return STOPPED;
    opening ??= open();
    const mine = opening;
    const found = await mine;
    if ('kind' in found) {
      if (opening === mine) opening = undefined;
      return found;
    }
    if (signal.aborted) return STOPPED;
    if (found.session.closed || found.session.destroyed) {
      if (opening === mine) opening = undefined;
      // Nothing of this message was written yet, so a connection that has ended is no attempt.
      return post(request, signal);
    }
    return send(found, request);
  }

  async function open(): Promise<Open | PostEnd> {
    const { hostname, port, protocol } = options.origin;
    const host = hostname.replace(/^\[|\]$/g, '');
    const allowed = options.guard === null ? null : await options.guard.resolve(host);
    if (allowed && !allowed.ok) return unsent(NO_WAY, true);
    const to = { host: allowed?.value[0]?.address ?? host, port: Number(port === '' ? 443 : port) };
    const socket =
      protocol === 'http:'
        ? connectTcp(to)
        : connectTls({
            ...to,
            ALPNProtocols: ['h2'],
            minVersion: 'TLSv1.2',
            ...(isIP(host) === 0 ? { servername: host } : {}),
            ...(options.trusted.length > 0 ? { ca: [...getCACertificates(), ...options.trusted] } : {}),
          });
    const failed = await ready(socket, protocol === 'http:' ? 'connect' : 'secureConnect');
    if (failed) return failed;
    const session = connect(options.origin, { createConnection: () => socket });
    const opened: Open = { session, lastStream: Number.POSITIVE_INFINITY };
    session.on('goaway', (_code: number, lastStream: number) => {
      opened.lastStream = lastStream;
      session.close();
    });
    // Streams say what became of them; the connection's own error adds nothing to that.
    session.on('error', () => undefined);
    session.once('close', () => {
      opening = undefined;
    });
    // An idle connection must not keep the process alive, nor be kept for ever.
    session.unref();
    session.setTimeout(60_000, () => session.close());
    return opened;
  }

  function ready(socket: Socket, event: 'connect' | 'secureConnect'): Promise<PostEnd | null> {
    return new Promise((settle) => {
      const end = (failure: PostEnd | null): void => {
        clearTimeout(timer);
        if (failure) socket.destroy();
        settle(failure);
      };
      const timer = setTimeout(() => end(unsent('The server did not answer in time.')), options.connectTimeout);
      socket.once(event, () => end(null));
      socket.on('error', (error) => end(unsent('No connection came about.', isConfiguration(error))));
      socket.once('close', () => end(unsent('The server closed the connection.')));
    });
  }

  async function send(opened: Open, { path, headers, body }: Post): Promise<PostEnd> {
    let stream: ClientHttp2Stream;
    try {
      stream = opened.session.request({
        [constants.HTTP2_HEADER_METHOD]: 'POST',
        [constants.HTTP2_HEADER_PATH]: path,
        ...headers,
        [constants.HTTP2_HEADER_CONTENT_LENGTH]: Buffer.byteLength(body),
      });
    } catch {
      return unsent('The connection ended before the message was handed over.');
    }
    const ended = collect(stream, options.maxBytes);
    const timer = setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), options.answerTimeout);
    stream.end(body);
    const answer = await ended;
    clearTimeout(timer);
    if (answer) return answer;
    const { id, rstCode } = stream;
    // A stream that never got a number was never written.
    if (id === undefined || rstCode === constants.NGHTTP2_REFUSED_STREAM || id > opened.lastStream) {
      return unsent('The server did not take the request.');
    }
    return { kind: 'unknown', words: 'The connection ended before the answer was complete.' };
  }

  return {
    post,
    /** Ends the connection; what is under way ends as `unknown`. */
    async close(): Promise<void> {
      closed = true;
      const found = await opening;
      if (found && !('kind' in found)) found.session.destroy();
    },
  };
}
export type Session = ReturnType<typeof createSession>;

/**
 * The whole answer, or null. A socket that the server destroys ends the stream by `close` alone, without an error, so
 * only `close` is believed.
 */
function collect(stream: ClientHttp2Stream, maxBytes: number): Promise<PostEnd | null> {
  return new Promise((settle) => {
    let head: (IncomingHttpHeaders & IncomingHttpStatusHeader) | undefined;
    let whole = false;
    let bytes = 0;
    const pieces: Buffer[] = [];
    stream.on('response', (headers) => {
      head = headers;
    });
    stream.on('data', (piece: Buffer) => {
      bytes += piece.length;
      if (bytes <= maxBytes) pieces.push(piece);
      else stream.close(constants.NGHTTP2_CANCEL);
    });
    stream.on('end', () => {
      whole = bytes <= maxBytes;
    });
    stream.on('error', () => undefined);
    stream.on('close', () => {
      const status = head?.[':status'];
      if (!head || status === undefined || !whole || stream.rstCode !== constants.NGHTTP2_NO_ERROR) return settle(null);
      const headers = Object.fromEntries(
        Object.entries(head).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
      );
      return settle({ kind: 'answered', status, headers, body: Buffer.concat(pieces).toString('utf8') });
    });
  });
}

const isConfiguration = (error: Error): boolean =>
  'code' in error &&
  typeof error.code === 'string' &&
  /^(ENOTFOUND|ERR_(SSL|TLS)_|CERT_|DEPTH_|SELF_SIGNED|UNABLE_TO|EPROTO$)/.test(error.code);
