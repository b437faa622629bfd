import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { OutboundHttp } from '@carillon/ports';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { httpWith, listenOn, requestTo, type TestServer } from './canary.ts';

let answer: (request: IncomingMessage, response: ServerResponse) => unknown;
let partner: TestServer;
let http: OutboundHttp;
beforeEach(async () => {
  partner = await listenOn('127.0.0.1', (request, response) => void answer(request, response));
  http = httpWith(['127.0.0.1']);
});
afterEach(async () => {
  await http.close();
  await partner.close();
});
const url = (path = '/recipients'): string => `http://127.0.0.1:${partner.port}${path}`;
const reasonOf = async (more: Parameters<typeof requestTo>[1] = {}): Promise<string> => {
  const answered = await http.request(requestTo(url(), more));
  return answered.ok ? `answered ${answered.value.status}` : answered.error.reason;
};

describe('a guarded HTTP request to a partner', () => {
  it('sends method, path, headers and body, and returns status, headers and bytes', async () => {
    let seen: unknown;
    answer = async (request, response) => {
      const pieces: Buffer[] = [];
      for await (const piece of request) pieces.push(piece as Buffer);
      seen = [request.method, request.url, request.headers['content-type'], Buffer.concat(pieces).toString()];
      response.writeHead(201, { 'X-Seen': 'yes', 'Content-Type': 'application/json' }).end('[1]');
    };
    const answered = await http.request(requestTo(url('/a?b=1')));
    expect(seen).toEqual(['POST', '/a?b=1', 'application/json', '{"user_ids":["1"]}']);
    expect(answered).toMatchObject({
      ok: true,
      value: { status: 201, headers: { 'x-seen': 'yes', 'content-type': 'application/json' } },
    });
    expect(answered.ok && new TextDecoder().decode(answered.value.body)).toBe('[1]');
  });

  it('decompresses the response', async () => {
    answer = (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('[2]'));
    const answered = await http.request(requestTo(url()));
    expect(answered.ok && new TextDecoder().decode(answered.value.body)).toBe('[2]');
  });

  it('stops at the byte limit, whether the length is announced, not announced, or hidden by compression', async () => {
    const MiB = 1024 * 1024;
    answer = (_request, response) =>
      response.writeHead(200, { 'content-length': String(100 * MiB) }).end(Buffer.alloc(MiB));
    expect(await reasonOf({ maxBytes: MiB - 1 })).toBe('too_large');
    let written = 0;
    answer = (_request, response) => {
      const more = (): void => {
        while (written < 100 * MiB && !response.destroyed) {
          written += 65_536;
          if (!response.write(Buffer.alloc(65_536))) return void response.once('drain', more);
        }
        response.end();
      };
      more();
    };
    expect(await reasonOf()).toBe('too_large');
    expect(written).toBeLessThan(50 * MiB);
    const bomb = gzipSync(Buffer.alloc(200 * MiB));
    expect(bomb.length).toBeLessThan(MiB);
    answer = (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb);
    expect(await reasonOf()).toBe('too_large');
  });

  it('refuses encodings that it did not request, and damaged compression', async () => {
    answer = (_request, response) => response.writeHead(200, { 'content-encoding': 'br' }).end('abc');
    expect(await reasonOf()).toBe('broken');
    answer = (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip, gzip' }).end('abc');
    expect(await reasonOf()).toBe('broken');
    answer = (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('abc');
    expect(await reasonOf()).toBe('broken');
  });

  it('times out if the partner is silent, or sends one byte at a time forever', async () => {
    answer = () => undefined;
    expect(await reasonOf({ totalTimeout: 150 })).toBe('timeout');
    answer = (_request, response) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write(' '), 20);
      response.once('close', () => clearInterval(drip));
    };
    expect(await reasonOf({ totalTimeout: 200 })).toBe('timeout');
  });

  it('fails as broken if the connection is cut, or the response is not HTTP', async () => {
    answer = (request) => request.socket.destroy();
    expect(await reasonOf()).toBe('broken');
    answer = (request) => request.socket.end('SSH-2.0-OpenSSH_9.9\r\n');
    expect(await reasonOf()).toBe('broken');
    answer = (_request, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('[');
      setImmediate(() => response.destroy());
    };
    expect(await reasonOf()).toBe('broken');
  });

  it('fails as unreachable if nothing listens, and as unresolved if the name does not exist', async () => {
    expect(await http.request(requestTo('http://127.0.0.1:9/'))).toMatchObject({
      ok: false,
      error: { reason: 'unreachable' },
    });
    const nowhere = httpWith([], async () => {
      throw new Error('ENOTFOUND');
    });
    expect(await nowhere.request(requestTo('https://nowhere.example/'))).toMatchObject({
      ok: false,
      error: { reason: 'unresolved' },
    });
    await nowhere.close();
  });

  it('waits for name resolution no longer than for a connection', async () => {
    const slow = httpWith([], () => new Promise(() => undefined));
    const answered = await slow.request(
      requestTo('https://slow.example/', { connectTimeout: 100, totalTimeout: 5000 }),
    );
    expect(answered).toMatchObject({ ok: false, error: { reason: 'unreachable' } });
    await slow.close();
  });

  it('fails as tls if the partner does not speak TLS', async () => {
    const answered = await http.request(requestTo(url().replace('http:', 'https:')));
    expect(answered).toMatchObject({ ok: false, error: { reason: 'tls' } });
  });

  it('stops when it is aborted, and when no memory is left for the response', async () => {
    answer = () => undefined;
    const stop = new AbortController();
    const waiting = http.request(requestTo(url(), { signal: stop.signal }));
    await expect.poll(() => partner.hits.length).toBe(1);
    stop.abort();
    expect(await waiting).toMatchObject({ ok: false, error: { reason: 'stopped' } });
    answer = (_request, response) => response.end('[]');
    expect(await reasonOf({ room: () => false })).toBe('no_room');
    answer = () => undefined;
    const last = http.request(requestTo(url()));
    await expect.poll(() => partner.hits.length).toBe(3);
    await http.close();
    expect(await last).toMatchObject({ ok: false, error: { reason: 'stopped' } });
  });
});
