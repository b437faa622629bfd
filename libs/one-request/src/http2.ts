import type { AddressGuard } from '@carillon/ports';
import {
  connect,
  constants,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type IncomingHttpHeaders,
  type IncomingHttpStatusHeader,
} from 'node:http2';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { deadline } from './deadline.ts';
import { failureWords, needsMending } from './failure-words.ts';
import { CUT_OFF, LATE, singleHeaders, STOPPED, unknown, unsent, type RequestEnd } from './request-end.ts';
import { allowedAddresses, hostOf, isLiteral, NO_WAY, withAuthorities } from './where-to.ts';

export type Post = {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

export type Http2Options = {
  /** `https://host[:port]`. */
  readonly origin: URL;
  readonly guard: AddressGuard | null;
  readonly trusted: readonly string[];
  /** Milliseconds. */
  readonly connectTimeout: number;
  readonly answerTimeout: number;
  readonly maxBytes: number;
};

type Open = { readonly session: ClientHttp2Session; lastStream: number };

/**
 * One HTTP/2 connection to one host, opened on demand and again after it has ended. A POST is one stream, never
 * repeated. Only three ends without a response are definite: no connection, REFUSED_STREAM, and a GOAWAY whose last
 * stream is below ours (RFC 9113 6.8, 8.7).
 */
export function createHttp2Session(options: Http2Options) {
  let opening: Promise<Open | RequestEnd> | undefined;
  let closed = false;

  async function post(request: Post, signal: AbortSignal): Promise<RequestEnd> {
    if (signal.aborted || closed) return STOPPED;
    opening ??= open().catch((error: unknown) =>
      unsent(failureWords(error, 'No connection was established.'), needsMending(error)),
    );
    const mine = opening;
    const found = await mine;
    if ('kind' in found) {
      if (opening === mine) opening = undefined;
      return found;
    }
    if (signal.aborted) return STOPPED;
    if (found.session.closed || found.session.destroyed) {
      if (opening === mine) opening = undefined;
      // Nothing of this message was written yet, so an ended connection is no attempt.
      return post(request, signal);
    }
    return send(found, request);
  }

  async function open(): Promise<Open | RequestEnd> {
    const { port, protocol } = options.origin;
    const host = hostOf(options.origin);
    const allowed = options.guard === null ? [] : await allowedAddresses(options.guard, options.origin);
    if (allowed === null) return unsent(NO_WAY, true);
    const standard = protocol === 'http:' ? 80 : 443;
    const to = { host: allowed[0]?.address ?? host, port: port === '' ? standard : Number(port) };
    const socket =
      protocol === 'http:'
        ? connectTcp(to)
        : connectTls({
            ...to,
            ALPNProtocols: ['h2'],
            minVersion: 'TLSv1.2',
            ...(isLiteral(options.origin) ? {} : { servername: host }),
            ...withAuthorities(options.trusted),
          });
    const failed = await ready(socket, protocol === 'http:' ? 'connect' : 'secureConnect');
    if (failed) return failed;
    const session = connect(options.origin, { createConnection: () => socket });
    const opened: Open = { session, lastStream: Number.POSITIVE_INFINITY };
    session.on('goaway', (_code: number, lastStream: number) => {
      opened.lastStream = lastStream;
      session.close();
    });
    // The connection's error is ignored, because each stream reports its own failure.
    session.on('error', () => undefined);
    // An idle connection must not keep the process alive, nor be kept for ever.
    session.unref();
    session.setTimeout(60_000, () => session.close());
    return opened;
  }

  function ready(socket: Socket, event: 'connect' | 'secureConnect'): Promise<RequestEnd | null> {
    return new Promise((settle) => {
      const end = (failure: RequestEnd | null): void => {
        inTime();
        if (failure) socket.destroy();
        settle(failure);
      };
      const inTime = deadline(options.connectTimeout, () => end(unsent(LATE)));
      socket.once(event, () => end(null));
      socket.on('error', (error) =>
        end(unsent(failureWords(error, 'No connection was established.'), needsMending(error))),
      );
      socket.once('close', () => end(unsent('The server closed the connection.')));
    });
  }

  async function send(opened: Open, { path, headers, body }: Post): Promise<RequestEnd> {
    let stream: ClientHttp2Stream;
    try {
      stream = opened.session.request({
        [constants.HTTP2_HEADER_METHOD]: 'POST',
        [constants.HTTP2_HEADER_PATH]: path,
        ...headers,
        [constants.HTTP2_HEADER_CONTENT_LENGTH]: Buffer.byteLength(body),
      });
    } catch {
      return unsent('The connection ended before the message was sent.');
    }
    const ended = collect(stream, options.maxBytes);
    const inTime = deadline(options.answerTimeout, () => stream.close(constants.NGHTTP2_CANCEL));
    stream.end(body);
    const answer = await ended;
    inTime();
    if (answer) return answer;
    const { id, rstCode } = stream;
    // A stream that never got a number was never written.
    if (id === undefined || rstCode === constants.NGHTTP2_REFUSED_STREAM || id > opened.lastStream) {
      return unsent('The server did not take the request.');
    }
    return unknown(CUT_OFF);
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
export type Http2Session = ReturnType<typeof createHttp2Session>;

/**
 * The whole answer, or null. A socket that the server destroys ends the stream by `close` alone, without an error, so
 * only `close` is believed.
 */
function collect(stream: ClientHttp2Stream, maxBytes: number): Promise<RequestEnd | null> {
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
      return settle({
        kind: 'answered',
        status,
        headers: singleHeaders(head),
        body: Buffer.concat(pieces).toString('utf8'),
      });
    });
  });
}
