import { createHttp1Client } from '@carillon/one-request';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const SWITCHED = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';

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
  ] as const)('ends as one that nobody can say anything of: %s', async (method, body) => {
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
