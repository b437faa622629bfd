import { createHttp1Client } from '@carillon/one-request';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const SWITCHED = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';

const ANSWER = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

it('A process that was stalled beyond the timeout reads the response that arrived meanwhile instead of timing out', async () => {
  const limit = 100;
  const stillness = new Int32Array(new SharedArrayBuffer(4));
  const server = createServer((socket) => {
    socket.once('data', () => {
      // From here on nothing runs in this process until the limit is over; then come its timers, before it reads anything.
      socket.write(ANSWER, () => setImmediate(() => Atomics.wait(stillness, 0, 0, 3 * limit)));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const limits = { connect: 10_000, answer: limit, bytes: 1_000 };
  const client = createHttp1Client({ limits, connections: 1, guard: null, trusted: [] });
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  const request = { method: 'GET', url, headers: {}, body: null } as const;
  expect(await client.send(request, new AbortController().signal)).toMatchObject({ kind: 'answered', body: 'ok' });
  client.close();
  await new Promise((done) => server.close(done));
});

describe('a request that is answered with 101 Switching Protocols', () => {
  let server: Server;
  const sockets: Socket[] = [];
  beforeEach(async () => {
    server = createServer((socket) => {
      sockets.push(socket);
      socket.on('error', () => undefined);
      socket.once('data', () => socket.write(SWITCHED));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await new Promise((done) => server.close(done));
  });

  it.each([
    ['POST', 'a=1'],
    ['GET', null],
  ] as const)('ends with an unknown outcome: %s', async (method, body) => {
    const limits = { connect: 10_000, answer: 30_000, bytes: 1_000 };
    const client = createHttp1Client({ limits, connections: 1, guard: null, trusted: [] });
    const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    const length: Record<string, string> = body === null ? {} : { 'content-length': String(body.length) };
    const request = { method, url, headers: length, body };
    expect(await client.send(request, new AbortController().signal)).toMatchObject({ kind: 'unknown' });
    // The one place of the account is free again.
    expect(await client.send(request, new AbortController().signal)).toMatchObject({ kind: 'unknown' });
    client.close();
  });
});
