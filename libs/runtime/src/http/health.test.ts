import { request } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { createHttpServer, type HttpServer, type HttpServerOptions } from './server.ts';

const running: HttpServer[] = [];
afterEach(async () => {
  for (const server of running.splice(0)) await server.close(0);
});

const CHECKS = [{ name: 'Kafka', ok: false, detail: 'broker 3 does not answer' }];
const TOKEN = 'a-token-of-thirty-two-characters';

async function listen(options: Partial<HttpServerOptions> = {}) {
  const server = createHttpServer({
    host: '127.0.0.1',
    port: 0,
    portSetting: '--test-port',
    newRequestId: () => 'req_1',
    checks: () => CHECKS,
    metrics: () => 'carillon_events_accepted_total{stream="shop/orders"} 1\n',
    ...options,
  });
  running.push(server);
  const { port } = await server.listen();
  /** Status and body; unlike `fetch` it lets a test choose the Host. */
  return (path: string, headers: Readonly<Record<string, string>> = {}): Promise<string> =>
    new Promise((resolve, reject) => {
      const asked = request({ port, host: '127.0.0.1', path, headers, agent: false }, (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        answer.on('end', () => resolve(`${answer.statusCode} ${text}`));
      });
      asked.on('error', reject).end();
    });
}

describe('metrics and readiness details', () => {
  test('are readable from this machine if no token is set', async () => {
    const get = await listen();
    expect(await get('/metrics')).toMatch(/^200 .*shop\/orders/);
    expect(await get('/metrics', { host: 'localhost:7401' })).toMatch(/^200 /);
    expect(await get('/metrics', { host: '[::1]:7401' })).toMatch(/^200 /);
    expect(await get('/readyz')).toMatch(/^503 .*broker 3/);
  });

  test.each([
    ['a request that came through a proxy on this machine', { 'x-forwarded-for': '203.0.113.9' }],
    ['one that says so in the words of the standard', { forwarded: 'for=203.0.113.9' }],
    ['a page whose name was made to point here', { host: 'evil.example:7401' }],
  ])('are not readable by %s', async (_who, headers) => {
    const get = await listen();
    const metrics = await get('/metrics', headers);
    expect(metrics).toMatch(/^401 .*\/docs\/errors#unauthorized/);
    expect(metrics).not.toContain('shop/orders');
    expect(await get('/readyz', headers)).toBe('503 {"status":"not_ready"}');
    expect(await get('/livez', headers)).toMatch(/^200 /);
  });

  test('are readable only with the token if one is set', async () => {
    const get = await listen({ healthToken: TOKEN });
    const shown = { authorization: `Bearer ${TOKEN}`, 'x-forwarded-for': '203.0.113.9', host: 'carillon.example' };
    expect(await get('/metrics', shown)).toMatch(/^200 .*shop\/orders/);
    expect(await get('/readyz', shown)).toMatch(/^503 .*broker 3/);
    for (const authorization of ['', TOKEN, `Bearer ${TOKEN}x`, 'Bearer ', `Basic ${TOKEN}`]) {
      expect(await get('/metrics', { authorization })).toMatch(/^401 /);
      expect(await get('/readyz', { authorization })).toBe('503 {"status":"not_ready"}');
    }
  });

  test('are never readable on a port for strangers', async () => {
    const get = await listen({ bareHealth: true, healthToken: TOKEN });
    const shown = { authorization: `Bearer ${TOKEN}` };
    expect(await get('/metrics', shown)).toMatch(/^404 /);
    expect(await get('/readyz', shown)).toBe('503 {"status":"not_ready"}');
    expect(await get('/livez')).toBe('200 {"status":"ok"}');
  });
});

test('metrics are rendered at most once a second, however many clients request them', async () => {
  let rendered = 0;
  const get = await listen({
    metrics: async () => {
      rendered += 1;
      return `rendered ${rendered}\n`;
    },
  });
  const began = performance.now();
  while (rendered < 2) await Promise.all(Array.from({ length: 20 }, () => get('/metrics')));
  // On a slow machine it may be more than two by now, but never more than the time allows.
  expect(performance.now() - began).toBeGreaterThanOrEqual((rendered - 1) * 1000);
});

test('metrics that failed to render are rendered again at once', async () => {
  let tries = 0;
  const get = await listen({
    metrics: () => {
      tries += 1;
      if (tries === 1) throw new Error('the gauge is gone');
      return 'up 1\n';
    },
  });
  expect(await get('/metrics')).toMatch(/^500 /);
  expect(await get('/metrics')).toBe('200 up 1\n');
});
