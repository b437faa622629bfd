import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { err, ok, type Duration, type Result } from '@carillon/kernel';
import type { AddressGuard, OutboundAnswer, OutboundFailure, OutboundHttp, OutboundRequest } from '@carillon/ports';
import { Agent, type Dispatcher } from 'undici';
import { ConnectionRefused, guardedConnector } from './connecting.ts';

export type GuardedHttpOptions = { readonly guard: AddressGuard };

/** An idle connection is kept this long for the next call to the same place. */
const KEEP_ALIVE_MS = 10_000;

const failure = (reason: OutboundFailure['reason'], detail: string): OutboundFailure => ({ reason, detail });
const unzip = promisify(gunzip);

/**
 * HTTP/1.1 through the guard: no redirects, no proxy out of the environment, no more than was asked for in bytes and
 * time, also where a compressed answer is larger than it looks.
 */
export function createGuardedHttp({ guard }: GuardedHttpOptions): OutboundHttp {
  const agents = new Map<Duration, Agent>();
  const closing = new AbortController();

  function agentFor(connectTimeout: Duration): Agent {
    let agent = agents.get(connectTimeout);
    if (!agent) {
      const connect = guardedConnector(guard, connectTimeout);
      agent = new Agent({ connect, allowH2: false, pipelining: 1, keepAliveTimeout: KEEP_ALIVE_MS });
      agents.set(connectTimeout, agent);
    }
    return agent;
  }

  async function exchange(url: URL, asked: OutboundRequest, signal: AbortSignal): Promise<OutboundAnswer> {
    const { method, headers, body, connectTimeout } = asked;
    const answer = await agentFor(connectTimeout).request({
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method,
      headers: { ...headers, 'accept-encoding': 'gzip' },
      body,
      signal,
      // The one deadline is the signal's.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    const kept = await readBody(answer.body, asked);
    return {
      status: answer.statusCode,
      headers: plainHeaders(answer.headers),
      body: await unpack(answer, kept, asked),
    };
  }

  return {
    async request(asked): Promise<Result<OutboundAnswer, OutboundFailure>> {
      const url = URL.canParse(asked.url) ? new URL(asked.url) : null;
      if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
        return err(failure('refused_address', 'expected an address such as https://crm.example.com/recipients'));
      }
      const late = AbortSignal.timeout(asked.totalTimeout);
      const stopped = AbortSignal.any([closing.signal, ...(asked.signal ? [asked.signal] : [])]);
      try {
        return ok(await exchange(url, asked, AbortSignal.any([late, stopped])));
      } catch (error) {
        if (error instanceof ConnectionRefused) return err(error.failure);
        if (stopped.aborted) return err(failure('stopped', 'Carillon was stopped during the call'));
        if (late.aborted) return err(failure('timeout', `no whole answer within ${asked.totalTimeout} ms`));
        return err(failure('broken', 'the connection broke, or the response is not HTTP'));
      }
    },
    async close() {
      closing.abort();
      await Promise.all([...agents.values()].map((agent) => agent.destroy()));
      agents.clear();
    },
  };
}

const tooLarge = (limit: number): ConnectionRefused =>
  new ConnectionRefused(failure('too_large', `the answer is larger than ${limit} bytes`));

async function readBody(
  body: Dispatcher.ResponseData['body'],
  { maxBytes, room = () => true }: OutboundRequest,
): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  // Leaving the loop ends the stream, and the connection with it.
  for await (const piece of body as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > maxBytes) throw tooLarge(maxBytes);
    if (!room(piece.length))
      throw new ConnectionRefused(failure('no_room', 'too many response bytes of this service are being read at once'));
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

async function unpack(
  { headers }: Pick<Dispatcher.ResponseData, 'headers'>,
  body: Buffer,
  { maxBytes, room = () => true }: OutboundRequest,
): Promise<Uint8Array> {
  const encoding = String(headers['content-encoding'] ?? 'identity')
    .trim()
    .toLowerCase();
  if (encoding === 'identity' || encoding === '' || body.length === 0) return body;
  if (encoding !== 'gzip') {
    throw new ConnectionRefused(
      failure('broken', `the response has the unsupported encoding ${JSON.stringify(encoding.slice(0, 40))}`),
    );
  }
  try {
    const unpacked = await unzip(body, { maxOutputLength: maxBytes });
    if (!room(unpacked.length))
      throw new ConnectionRefused(failure('no_room', 'too many response bytes of this service are being read at once'));
    return unpacked;
  } catch (error) {
    if (error instanceof ConnectionRefused) throw error;
    if ((error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(maxBytes);
    throw new ConnectionRefused(failure('broken', 'the response claims to be gzip and is not'), { cause: error });
  }
}

const plainHeaders = (headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name.toLowerCase(), Array.isArray(value) ? value.join(', ') : value]],
    ),
  );
