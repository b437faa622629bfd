import { describe, expect, test } from 'vitest';
import { createHttpServer } from './server.ts';

/** The address that a server takes a request for, which came from `remoteAddress` with this `X-Forwarded-For`. */
async function addressOf(trustedProxies: readonly string[] | undefined, remoteAddress: string, forwarded?: string) {
  const { app } = createHttpServer({
    host: '127.0.0.1',
    port: 0,
    portSetting: '--test-port',
    newRequestId: () => 'req_1',
    ...(trustedProxies && { trustedProxies }),
  });
  app.get('/who', (request) => Promise.resolve({ ip: request.ip }));
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  const answer = await app.inject({ url: '/who', remoteAddress, headers });
  await app.close();
  return answer.json<{ ip: string }>().ip;
}

describe('The address of a client', () => {
  test('is that of the connection if no proxy is trusted, whatever a header says', async () => {
    expect(await addressOf(undefined, '127.0.0.1', '203.0.113.9')).toBe('127.0.0.1');
    expect(await addressOf([], '127.0.0.1', '203.0.113.9')).toBe('127.0.0.1');
  });

  test('is the client that a trusted proxy names', async () => {
    expect(await addressOf(['127.0.0.1'], '127.0.0.1', '203.0.113.9')).toBe('203.0.113.9');
    expect(await addressOf(['127.0.0.1'], '::ffff:127.0.0.1', '203.0.113.9')).toBe('203.0.113.9');
    expect(await addressOf(['127.0.0.1'], '127.0.0.1')).toBe('127.0.0.1');
  });

  test('is that of the connection if the client bypasses the proxy', async () => {
    expect(await addressOf(['10.1.0.0/16'], '10.2.0.9', '203.0.113.9')).toBe('10.2.0.9');
  });

  test('is the last address that is not a trusted proxy, because a client can write the ones before it', async () => {
    const proxies = ['10.1.0.0/16', '127.0.0.1'];
    expect(await addressOf(proxies, '127.0.0.1', '198.51.100.1, 203.0.113.9, 10.1.4.4')).toBe('203.0.113.9');
  });
});

describe('HSTS', () => {
  async function statusAndHsts(trustedProxies: readonly string[], url: string, proto?: string) {
    const { app } = createHttpServer({
      host: '127.0.0.1',
      port: 0,
      portSetting: '--test-port',
      newRequestId: () => 'req_1',
      trustedProxies,
    });
    app.get('/who', () => Promise.resolve({}));
    const answer = await app.inject({ url, headers: proto === undefined ? {} : { 'x-forwarded-proto': proto } });
    await app.close();
    return [answer.statusCode, answer.headers['strict-transport-security']];
  }

  test('is in every response to a client that speaks TLS with a trusted proxy', async () => {
    const year = 'max-age=31536000';
    expect(await statusAndHsts(['127.0.0.1'], '/who', 'https')).toEqual([200, year]);
    expect(await statusAndHsts(['127.0.0.1'], '/nowhere', 'https')).toEqual([404, year]);
    expect(await statusAndHsts(['127.0.0.1'], '/livez', 'https')).toEqual([200, year]);
  });

  test('is absent over plain HTTP, and when the sender of X-Forwarded-Proto is not trusted', async () => {
    expect(await statusAndHsts(['127.0.0.1'], '/who')).toEqual([200, undefined]);
    expect(await statusAndHsts(['127.0.0.1'], '/who', 'http')).toEqual([200, undefined]);
    expect(await statusAndHsts(['10.1.0.0/16'], '/who', 'https')).toEqual([200, undefined]);
    expect(await statusAndHsts([], '/who', 'https')).toEqual([200, undefined]);
  });
});
