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
  test('is that of the connection where no proxy is named, whatever a header claims', async () => {
    expect(await addressOf(undefined, '127.0.0.1', '203.0.113.9')).toBe('127.0.0.1');
    expect(await addressOf([], '127.0.0.1', '203.0.113.9')).toBe('127.0.0.1');
  });

  test('is what a named proxy says of whoever came to it', async () => {
    expect(await addressOf(['127.0.0.1'], '127.0.0.1', '203.0.113.9')).toBe('203.0.113.9');
    expect(await addressOf(['127.0.0.1'], '::ffff:127.0.0.1', '203.0.113.9')).toBe('203.0.113.9');
    expect(await addressOf(['127.0.0.1'], '127.0.0.1')).toBe('127.0.0.1');
  });

  test('is that of the connection where somebody reaches us past the proxy', async () => {
    expect(await addressOf(['10.1.0.0/16'], '10.2.0.9', '203.0.113.9')).toBe('10.2.0.9');
  });

  test('is the last one that no named proxy has: what a client wrote itself stands before it', async () => {
    const proxies = ['10.1.0.0/16', '127.0.0.1'];
    expect(await addressOf(proxies, '127.0.0.1', '198.51.100.1, 203.0.113.9, 10.1.4.4')).toBe('203.0.113.9');
  });
});
