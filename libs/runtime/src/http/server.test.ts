import { connect } from 'node:net';
import { CarillonError, isCarillonError, messageOf } from '@carillon/kernel';
import { afterEach, describe, expect, test } from 'vitest';
import type { HttpLogFacts } from './http-log.ts';
import { createHttpServer, type AnsweredRequest, type HttpServer, type HttpServerOptions } from './server.ts';

const running: HttpServer[] = [];
afterEach(async () => {
  for (const server of running.splice(0)) await server.close(0);
});

type Problem = { readonly code: string; readonly status: number; readonly detail: string; readonly request_id: string };

function make(options: Partial<HttpServerOptions> = {}): HttpServer {
  let count = 0;
  const server = createHttpServer({
    host: '127.0.0.1',
    port: 0,
    portSetting: '--test-port',
    newRequestId: () => `req_${(count += 1)}`,
    ...options,
  });
  running.push(server);
  return server;
}

/** Sends bytes as they are and answers with everything that came back until the connection closed. */
function raw(port: number, ...pieces: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => pieces.forEach((piece) => socket.write(piece, 'latin1')));
    let answer = '';
    socket.setEncoding('utf8').on('data', (text) => (answer += text));
    socket.on('close', () => resolve(answer)).on('error', (error) => (answer === '' ? reject(error) : resolve(answer)));
  });
}

const problemIn = (answer: string): Problem => JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))) as Problem;

test('an unknown Expect header is ignored instead of refused without explanation', async () => {
  const { port } = await make().listen();
  const answer = await raw(port, 'GET /livez HTTP/1.1\r\nhost: x\r\nexpect: nonsense\r\nconnection: close\r\n\r\n');
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
});

describe('every failure is a problem response', () => {
  test('an unknown path: 404', async () => {
    const { address } = await make().listen();
    const answer = await fetch(`${address}/nowhere?token=hunter2`, {
      method: 'POST',
      body: 'x',
      headers: { 'content-type': 'text/plain' },
    });
    const problem = (await answer.json()) as Problem;
    expect(answer.status).toBe(404);
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    expect(answer.headers.get('x-request-id')).toBe(problem.request_id);
    expect(problem).toMatchObject({ code: 'not_found', type: '/docs/errors#not_found' });
    expect(JSON.stringify(problem)).not.toContain('hunter2');
  });

  test('another method of a known path: 405 with Allow, also for TRACE', async () => {
    const server = make();
    server.app.post('/things/:id/parts/*', async () => 'made');
    const { address, port } = await server.listen();
    const answer = await fetch(`${address}/things/1/parts/2/3`, { method: 'PUT' });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('POST');
    expect(((await answer.json()) as Problem).code).toBe('method_not_allowed');
    const trace = await raw(port, 'TRACE /things/1/parts/2 HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
    expect(trace).toMatch(/^HTTP\/1\.1 405 /);
    expect(problemIn(trace).code).toBe('method_not_allowed');
    expect((await fetch(`${address}/livez`, { method: 'DELETE' })).headers.get('allow')).toBe('GET, HEAD');
  });

  test.each([
    ['no HTTP at all', 'hello\r\n\r\n'],
    ['an unknown method', 'BREW /livez HTTP/1.1\r\nhost: x\r\n\r\n'],
    [
      'both Transfer-Encoding and Content-Length',
      'POST /livez HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['two Content-Lengths', 'POST /livez HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello'],
    ['a header with a line feed in it', 'GET /livez HTTP/1.1\r\nhost: x\r\nbad\nheader: 1\r\n\r\n'],
    ['no Host', 'GET /livez HTTP/1.1\r\nconnection: close\r\n\r\n'],
    ['two Hosts', 'GET /livez HTTP/1.1\r\nhost: x\r\nHost: y\r\nconnection: close\r\n\r\n'],
    ['headers without end', `GET /livez HTTP/1.1\r\nhost: x\r\nlong: ${'x'.repeat(20_000)}\r\n\r\n`],
    ['a path that is no UTF-8', 'GET /%ff HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'],
  ])('%s: 400', async (_what, request) => {
    const { port } = await make().listen();
    const answer = await raw(port, request);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(problemIn(answer)).toMatchObject({ status: 400, code: 'invalid_request' });
  });

  test('a CarillonError with its own status; any other error: 500 without its message, which is logged', async () => {
    const logged: string[] = [];
    const log = {
      warn: () => undefined,
      error: (facts: HttpLogFacts) => void logged.push(JSON.stringify({ ...facts, error: messageOf(facts.error) })),
    };
    const server = make({ log });
    server.app.get('/known', async () => Promise.reject(new CarillonError('wrong_state', 'It is sent already.')));
    server.app.get('/unknown/:id', async () => Promise.reject(new Error('row 17 is odd')));
    const { address } = await server.listen();
    const known = await fetch(`${address}/known`);
    expect([known.status, ((await known.json()) as Problem).detail]).toEqual([409, 'It is sent already.']);
    const unknown = await fetch(`${address}/unknown/hunter2?key=hunter2`);
    const text = await unknown.text();
    expect(unknown.status).toBe(500);
    expect(text).not.toContain('row 17');
    expect(logged.join()).toContain('row 17 is odd');
    expect(logged.join()).toContain((JSON.parse(text) as Problem).request_id);
    expect(logged.join()).not.toContain('hunter2');
  });

  test('refusals without cause share log lines; those with a cause and internal errors have their own', async () => {
    const logged: HttpLogFacts[] = [];
    const log = {
      warn: (facts: HttpLogFacts) => void logged.push(facts),
      error: (facts: HttpLogFacts) => void logged.push(facts),
    };
    const server = make({ log });
    const full = new CarillonError('overloaded', 'It is full.');
    server.app.get('/full', () => {
      throw full;
    });
    server.app.get('/cut', () => {
      throw new CarillonError('log_unavailable', 'It is away.', {}, { cause: new Error('no broker') });
    });
    server.app.get('/odd', () => {
      throw new Error('row 17 is odd');
    });
    const { address } = await server.listen();
    const ids: string[] = [];
    for (const path of ['/full', '/full', '/full', '/cut', '/cut', '/odd', '/odd']) {
      const problem = (await (await fetch(`${address}${path}`)).json()) as Problem;
      ids.push(problem.request_id);
    }
    // Each response has its own request id, although the errors are equal.
    expect(new Set(ids).size).toBe(ids.length);
    await server.close();
    const told = (code: string): number[] =>
      logged.filter((facts) => facts.code === code).map(({ count }) => count ?? 1);
    // How many lines depends on how long it took.
    expect(told('overloaded').reduce((sum, count) => sum + count, 0)).toBe(3);
    expect(told('log_unavailable')).toEqual([1, 1]);
    expect(told('internal')).toEqual([1, 1]);
  });

  test('bodies parsed by fastify: too large 413, not JSON 400, another type 415', async () => {
    const server = make({ limits: { maxBodyBytes: 1024 } });
    server.app.post('/read', async () => 'ok');
    const { address } = await server.listen();
    const details: string[] = [];
    const post = async (body: string, type = 'application/json') => {
      const answer = await fetch(`${address}/read`, { method: 'POST', body, headers: { 'content-type': type } });
      const { code, detail } = (await answer.json()) as Problem;
      details.push(detail);
      return [answer.status, code];
    };
    expect(await post(JSON.stringify('x'.repeat(2000)))).toEqual([413, 'body_too_large']);
    expect(await post('{')).toEqual([400, 'invalid_json']);
    // The body is valid JSON, so the detail must name another cause.
    expect(await post('{"a":{"__proto__":{}}}')).toEqual([400, 'invalid_json']);
    expect(details.at(-1)).toContain('a field in it is named __proto__');
    expect(await post('<a/>', 'application/xml')).toEqual([415, 'unsupported_media_type']);
  });

  test('a response that takes too long: 503', async () => {
    const server = make({ limits: { handlerTimeout: 50 } });
    const underWay = Promise.withResolvers<void>();
    server.app.get('/slow', () => {
      underWay.resolve();
      return new Promise(() => undefined);
    });
    const { address } = await server.listen();
    const answer = await fetch(`${address}/slow`);
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('1');
    expect(((await answer.json()) as Problem).code).toBe('overloaded');
  });

  test('the rest of a refused body is discarded up to a limit, and the connection continues', async () => {
    const server = make();
    server.app.addContentTypeParser('*', (_request, _payload, done) => done(null));
    server.app.post('/refuse', () => {
      throw new CarillonError('overloaded', 'It is full.');
    });
    const { port } = await server.listen();
    const head = (bytes: number) =>
      `POST /refuse HTTP/1.1\r\nhost: x\r\ncontent-type: a/b\r\ncontent-length: ${bytes}\r\n\r\n`;
    const next = 'GET /livez HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n';
    // With its head, and after it in pieces that no buffer holds together.
    for (const bytes of [10, 100_000, 1024 * 1024]) {
      const answer = await raw(port, `${head(bytes)}${'x'.repeat(bytes)}${next}`);
      expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 503', 'HTTP/1.1 200']);
    }
    const large = 64 * 1024 * 1024;
    const cut = await raw(port, head(large), 'x'.repeat(large), next).catch(() => '');
    expect(cut).not.toContain('HTTP/1.1 200');
  });

  test('headers or a body that arrive too late: 408', async () => {
    const server = make({ limits: { headersTimeout: 100, requestTimeout: 200, checkInterval: 20 } });
    server.app.post('/read', async () => 'ok');
    const { port } = await server.listen();
    const head = await raw(port, 'GET /livez HTTP/1.1\r\nhos');
    expect(problemIn(head)).toMatchObject({ status: 408, code: 'request_timeout' });
    const body = await raw(
      port,
      'POST /read HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{"a"',
    );
    expect(problemIn(body)).toMatchObject({ status: 408, code: 'request_timeout' });
  });
});

describe('health', () => {
  test('livez always succeeds; readyz names what is not ready; metrics are text', async () => {
    let ok = false;
    const server = make({ checks: () => [{ name: 'log', ok, detail: 'opening' }], metrics: () => 'up 1\n' });
    const { address } = await server.listen();
    expect((await fetch(`${address}/livez`)).status).toBe(200);
    const before = await fetch(`${address}/readyz`);
    expect([before.status, await before.json()]).toEqual([
      503,
      { status: 'not_ready', checks: [{ name: 'log', ok: false, detail: 'opening' }] },
    ]);
    ok = true;
    expect((await fetch(`${address}/readyz`)).status).toBe(200);
    const metrics = await fetch(`${address}/metrics`);
    expect(metrics.headers.get('content-type')).toContain('text/plain');
    expect(await metrics.text()).toBe('up 1\n');
  });

  test('an informational check is shown without affecting readiness', async () => {
    const away = { name: 'database', ok: false, detail: 'no answer', decides: false };
    const { address } = await make({ checks: () => [away] }).listen();
    const answer = await fetch(`${address}/readyz`);
    expect([answer.status, await answer.json()]).toEqual([200, { status: 'ready', checks: [away] }]);
  });

  test('responses are counted by route, not by path', async () => {
    const seen: AnsweredRequest[] = [];
    const server = make({ answered: (request) => void seen.push(request) });
    server.app.get('/things/:id', async () => 'one');
    const { address } = await server.listen();
    await (await fetch(`${address}/things/42`)).text();
    await expect.poll(() => seen).toMatchObject([{ route: '/things/:id', method: 'GET', status: 200, problem: null }]);
  });
});

describe('stopping', () => {
  test('running requests finish, new ones get 503 stopping, then the port is free', async () => {
    const server = make();
    const underWay = Promise.withResolvers<(text: string) => void>();
    server.app.get('/slow', () => new Promise<string>((resolve) => underWay.resolve(resolve)));
    const { address, port } = await server.listen();
    const slow = fetch(`${address}/slow`);
    const release = await underWay.promise;
    const closed = server.close();
    const refused = await fetch(`${address}/nowhere`);
    expect([refused.status, ((await refused.json()) as Problem).code]).toEqual([503, 'stopping']);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect((await fetch(`${address}/livez`)).status).toBe(200);
    expect((await fetch(`${address}/readyz`)).status).toBe(503);
    release('done');
    expect(await (await slow).text()).toBe('done');
    await closed;
    await expect(fetch(`http://127.0.0.1:${port}/livez`)).rejects.toThrow();
  });

  test('unfinished requests are cut at the deadline', async () => {
    const server = make();
    const underWay = Promise.withResolvers<void>();
    server.app.get('/slow', () => {
      underWay.resolve();
      return new Promise(() => undefined);
    });
    const { address } = await server.listen();
    const cut = fetch(`${address}/slow`).then(
      () => 'answered',
      () => 'cut',
    );
    await underWay.promise;
    await Promise.all([server.close(50), server.close(50)]);
    expect(await cut).toBe('cut');
  });
});

test('a used port is reported with its process and the setting to change', async () => {
  const { port } = await make().listen();
  const error: unknown = await make({ port })
    .listen()
    .catch((reason: unknown) => reason);
  if (!isCarillonError(error)) throw error;
  expect(error.code).toBe('port_in_use');
  expect(error.detail).toContain(`127.0.0.1:${port}`);
  expect(error.detail).toContain('--test-port');
  if (process.platform === 'linux') expect(error.detail).toContain(`process ${process.pid} (`);
});
