import { createHttp2Session } from '@carillon/one-request';
import { once } from 'node:events';
import { createServer, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const POST = { path: '/', headers: {}, body: '{}' };
const never = (): AbortSignal => new AbortController().signal;

describe('a session', () => {
  let server: Http2Server;
  let opened: ServerHttp2Session[];
  let script: (stream: ServerHttp2Stream) => void;
  const answered = (stream: ServerHttp2Stream): void => {
    stream.respond({ ':status': 200 });
    stream.end('ok');
  };
  beforeEach(async () => {
    opened = [];
    script = answered;
    server = createServer();
    server.on('session', (session) => {
      opened.push(session);
      session.on('error', () => undefined);
    });
    server.on('stream', (stream: ServerHttp2Stream) => script(stream.on('error', () => undefined)));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(async () => {
    for (const session of opened) session.destroy();
    await new Promise((done) => server.close(done));
  });
  const sessionTo = (guard: Parameters<typeof createHttp2Session>[0]['guard'] = null) =>
    createHttp2Session({
      origin: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
      guard,
      trusted: [],
      connectTimeout: 10_000,
      answerTimeout: 30_000,
      maxBytes: 1_000,
    });

  it('keeps its newer connection when the older one ends, and closes it in the end', async () => {
    const session = sessionTo();
    const held = new Promise<ServerHttp2Stream>((resolve) => {
      script = resolve;
    });
    const first = session.post(POST, never());
    const stream = await held;
    script = answered;
    const [older] = opened as [ServerHttp2Session];
    older.goaway(0, stream.id);
    // Until the other side has read the GOAWAY, it tries the older connection, which takes no more.
    while (opened.length < 2) await session.post(POST, never());
    const ended = once(older, 'close');
    answered(stream);
    expect(await first).toMatchObject({ status: 200 });
    await ended;
    expect(await session.post(POST, never())).toMatchObject({ status: 200 });
    expect(opened).toHaveLength(2);
    const closing = once(opened[1] as ServerHttp2Session, 'close');
    await session.close();
    await closing;
  });

  it('that could not be opened is opened again for the next message', async () => {
    let asked = 0;
    const session = sessionTo({
      resolve: async () => {
        asked += 1;
        if (asked === 1) throw new Error('the resolver broke');
        return { ok: true, value: [{ address: '127.0.0.1', family: 4, listed: true, isPublic: false }] };
      },
    });
    expect(await session.post(POST, never())).toMatchObject({ kind: 'unsent' });
    expect(await session.post(POST, never())).toMatchObject({ status: 200 });
    await session.close();
  });
});
