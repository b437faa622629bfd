import { CarillonError } from '@carillon/kernel';
import type { NewRecord } from '@carillon/ports';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { GatewayPorts } from '../src/index.ts';
import { post, prepareFixture, rawConnection, SILENT_TELEMETRY, type Answer, type Fixture } from './gateway-fixture.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await prepareFixture();
});
afterEach(async () => {
  await fixture.stopGateways();
  fixture.configuration.readToEndAt = () => Date.now();
  fixture.configuration.refresh = async () => undefined;
  fixture.logged.length = 0;
});

type Append = (records: readonly NewRecord[]) => Promise<readonly number[]>;
const logThat = (append: Append): Partial<GatewayPorts> => ({
  log: { logId: fixture.backend.log.logId, partitions: () => 8, append },
});
const never = <T>(): Promise<T> => new Promise(() => undefined);
const pause = (span: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, span));
const codeOf = ({ status, body }: Answer): string => `${status} ${String(body['code'])}`;
const head = (key: string, ...more: readonly string[]): string =>
  [
    `POST /events/shop/orders HTTP/1.1`,
    'host: x',
    `authorization: Bearer ${key}`,
    'content-type: application/json',
    ...more,
  ].join('\r\n') + '\r\n\r\n';

describe('the log', () => {
  test('rejects: 503, the outcome is unknown, come again with the same key', async () => {
    const gateway = await fixture.start(
      {},
      logThat(() => Promise.reject(new CarillonError('log_unavailable', 'disk of node 3 is gone'))),
    );
    const answer = await post(gateway, 'shop/orders', fixture.keys.backend);
    expect(codeOf(answer)).toBe('503 log_unavailable');
    expect(answer.headers.get('retry-after')).toBe('1');
    expect(answer.body['detail']).toMatch(/unknown.*same Idempotency-Key/);
    expect(answer.text).not.toContain('node 3');
    expect(fixture.logged.join()).toContain('node 3');
  });

  test('is overloaded and says until when: 503 with that Retry-After', async () => {
    const gateway = await fixture.start(
      {},
      logThat(() => Promise.reject(new CarillonError('overloaded', 'full', { retryAfter: 4200 }))),
    );
    const answer = await post(gateway, 'shop/orders', fixture.keys.backend);
    expect([codeOf(answer), answer.headers.get('retry-after')]).toEqual(['503 overloaded', '5']);
  });

  test('throws something unexpected: 503 too, and its message stays inside', async () => {
    const gateway = await fixture.start(
      {},
      logThat(() => {
        throw new TypeError('cannot read hunter2');
      }),
    );
    const answer = await post(gateway, 'shop/orders', fixture.keys.backend);
    expect(codeOf(answer)).toBe('503 log_unavailable');
    expect(answer.text).not.toContain('hunter2');
  });

  test('never answers: 503 at the deadline, and a late rejection harms nobody', async () => {
    let reject: (error: Error) => void = () => undefined;
    const append: Append = () => new Promise((_resolve, fail) => (reject = fail));
    const gateway = await fixture.start({ appendDeadline: 60 }, logThat(append));
    const answer = await post(gateway, 'shop/orders', fixture.keys.backend);
    expect(codeOf(answer)).toBe('503 log_unavailable');
    expect(answer.body['detail']).toMatch(/unknown/);
    reject(new Error('too late'));
    await pause(10);
    expect((await fetch(`${gateway.address}/livez`)).status).toBe(200);
  });
});

describe('requests under way and their bytes are bounded', () => {
  const body = `{"a":"${'x'.repeat(600)}"}`;

  test('what does not fit gets 503 overloaded, and fits again when the log has let go', async () => {
    const release: (() => void)[] = [];
    // Only the first one is held, so that nothing but that one meets its deadline.
    const append: Append = () =>
      new Promise((resolve) => {
        if (release.push(() => resolve([0])) > 1) resolve([0]);
      });
    const gateway = await fixture.start({ maxInFlightBytes: 2400, appendDeadline: 60 }, logThat(append));
    const unknown = await post(gateway, 'shop/orders', fixture.keys.backend, body);
    expect(codeOf(unknown)).toBe('503 log_unavailable');
    const refused = await post(gateway, 'shop/orders', fixture.keys.backend, body);
    expect([codeOf(refused), refused.headers.get('retry-after')]).toEqual(['503 overloaded', '1']);
    release.forEach((letGo) => letGo());
    expect((await post(gateway, 'shop/orders', fixture.keys.backend, body)).status).toBe(202);
  });

  test('a request above the maximum gets 503 overloaded at once, and is accepted when another has finished', async () => {
    const release: (() => void)[] = [];
    const append: Append = () => new Promise((resolve) => release.push(() => resolve([0])));
    const gateway = await fixture.start({ maxInFlightRequests: 2 }, logThat(append));
    const [first, second] = [1, 2].map(() => post(gateway, 'shop/orders', fixture.keys.backend, body));
    await expect.poll(() => release.length).toBe(2);
    const refused = await post(gateway, 'shop/orders', fixture.keys.backend, body);
    expect([codeOf(refused), refused.headers.get('retry-after')]).toEqual(['503 overloaded', '1']);
    release[0]?.();
    expect((await first)?.status).toBe(202);
    const third = post(gateway, 'shop/orders', fixture.keys.backend, body);
    await expect.poll(() => release.length).toBe(3);
    release.forEach((letGo) => letGo());
    expect([(await second)?.status, (await third).status]).toEqual([202, 202]);
  });

  test('refused and broken-off requests give their share back', async () => {
    const gateway = await fixture.start({ maxInFlightBytes: 2400, maxInFlightRequests: 2 });
    for (let round = 0; round < 5; round += 1) {
      expect((await post(gateway, 'shop/orders', fixture.keys.backend, `${body}x`)).status).toBe(400);
    }
    const controller = new AbortController();
    const broken = fetch(`${gateway.address}/events/shop/orders`, {
      method: 'POST',
      signal: controller.signal,
      duplex: 'half',
      body: new ReadableStream({ start: (stream) => stream.enqueue(new TextEncoder().encode(body)) }),
      headers: { 'content-type': 'application/json', authorization: `Bearer ${fixture.keys.backend}` },
    }).catch(() => 'broken off');
    await pause(50);
    controller.abort();
    expect(await broken).toBe('broken off');
    await expect.poll(async () => (await post(gateway, 'shop/orders', fixture.keys.backend, body)).status).toBe(202);
  });
});

describe('the configuration', () => {
  test('that was not read to its end for 2 s stops everything with 503', async () => {
    fixture.configuration.readToEndAt = () => Date.now() - 2500;
    const gateway = await fixture.start();
    const answer = await post(gateway, 'shop/orders', fixture.keys.backend);
    expect([codeOf(answer), answer.headers.get('retry-after')]).toEqual(['503 configuration_stale', '1']);
    const ready = await fetch(`${gateway.address}/readyz`);
    expect([ready.status, await ready.text()]).toEqual([503, '{"status":"not_ready"}']);
  });

  test('that is stale is refreshed once for all waiting requests, which are then accepted', async () => {
    let readings = 0;
    fixture.configuration.readToEndAt = () => 0;
    fixture.configuration.refresh = async () => {
      readings += 1;
      await pause(30);
      fixture.configuration.readToEndAt = () => Date.now();
    };
    const gateway = await fixture.start({ refreshDeadline: 60_000 });
    const answers = await Promise.all([1, 2, 3].map(() => post(gateway, 'shop/orders', fixture.keys.backend)));
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202]);
    expect(readings).toBe(1);
  });

  test('that cannot be read or is read too slowly is stale', async () => {
    fixture.configuration.readToEndAt = () => 0;
    const gateway = await fixture.start({ refreshDeadline: 30 });
    for (const refresh of [() => never<void>(), () => Promise.reject(new Error('away'))]) {
      fixture.configuration.refresh = refresh;
      expect(codeOf(await post(gateway, 'shop/orders', fixture.keys.backend))).toBe('503 configuration_stale');
    }
  });

  test('is followed live: a key taken away ends with the next request', async () => {
    const gateway = await fixture.start();
    const before = fixture.configuration.current;
    expect((await post(gateway, 'shop/orders', fixture.keys.backend)).status).toBe(202);
    const resources = new Map(before.resources);
    resources.delete('api_key:shop/backend');
    fixture.configuration.current = { number: before.number + 1, resources };
    expect((await post(gateway, 'shop/orders', fixture.keys.backend)).status).toBe(401);
    fixture.configuration.current = before;
  });
});

describe('clients that are slow or wrong', () => {
  test('a body that does not arrive in time: 408, and nothing is appended', async () => {
    let appends = 0;
    const gateway = await fixture.start(
      { http: { handlerTimeout: 80 } },
      logThat(() => Promise.resolve([(appends += 1)])),
    );
    const slow = rawConnection(gateway.port);
    slow.send(`${head(fixture.keys.backend, 'connection: close', 'content-length: 7')}{"a"`);
    await expect.poll(async () => slow.answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(await slow.answer).toContain('request_timeout');
    expect(appends).toBe(0);
  });

  test('the rest of a body that arrives after the 408 is discarded', async () => {
    let appends = 0;
    const refused = Promise.withResolvers<void>();
    const gateway = await fixture.start(
      { http: { handlerTimeout: 80 } },
      {
        ...logThat(() => Promise.resolve([(appends += 1)])),
        telemetry: { ...SILENT_TELEMETRY, answered: () => refused.resolve() },
      },
    );
    const slow = rawConnection(gateway.port);
    slow.send(`${head(fixture.keys.backend, 'content-length: 7')}{"a"`);
    await refused.promise;
    slow.send(':1}GET /livez HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
    expect(await slow.answer).toMatch(/^HTTP\/1\.1 408 [^]*HTTP\/1\.1 200 /);
    expect(appends).toBe(0);
  });

  test.each([
    ['Transfer-Encoding with Content-Length', ['content-length: 2', 'transfer-encoding: chunked'], '0\r\n\r\n'],
    ['a Content-Length that is no number', ['content-length: 2x'], '{}'],
    ['a chunk without size', ['transfer-encoding: chunked'], 'zz\r\n{}\r\n0\r\n\r\n'],
  ])('%s: 400 and no append', async (_what, headers, body) => {
    let appends = 0;
    const gateway = await fixture.start(
      {},
      logThat(() => Promise.resolve([(appends += 1)])),
    );
    const wrong = rawConnection(gateway.port);
    wrong.send(head(fixture.keys.backend, ...headers) + body);
    expect(await wrong.answer).toMatch(/^HTTP\/1\.1 400 [^]*\/docs\/errors#invalid_request/);
    expect(appends).toBe(0);
  });

  test('a body that is shorter than announced is not appended', async () => {
    let appends = 0;
    const gateway = await fixture.start(
      { http: { handlerTimeout: 80 } },
      logThat(() => Promise.resolve([(appends += 1)])),
    );
    const short = rawConnection(gateway.port);
    short.send(`${head(fixture.keys.backend, 'connection: close', 'content-length: 9')}{}`);
    await short.answer;
    expect(appends).toBe(0);
  });

  test('two requests on one connection are two events', async () => {
    const gateway = await fixture.start();
    const both = rawConnection(gateway.port);
    both.send(
      `${head(fixture.keys.backend, 'content-length: 2')}{}${head(fixture.keys.backend, 'connection: close', 'content-length: 2')}{}`,
    );
    expect((await both.answer).match(/HTTP\/1\.1 202 /g)).toHaveLength(2);
  });

  test('the connection of an unauthenticated endless sender is closed', async () => {
    const gateway = await fixture.start();
    const endless = rawConnection(gateway.port);
    endless.send('POST /events/shop/orders HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n');
    const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
    for (let sent = 0; sent < 80; sent += 1) endless.send(chunk);
    expect(await endless.answer).toMatch(/^HTTP\/1\.1 401 /);
  });
});

test('no secret is in any problem or log line, whatever goes wrong', async () => {
  const canary = 'hunter2-canary';
  const gateway = await fixture.start(
    {},
    logThat(() => Promise.reject(new Error('away'))),
  );
  const answers = [
    await post(gateway, 'shop/orders', fixture.keys.backend, '{}', { 'idempotency-key': canary }),
    await post(gateway, 'shop/orders', fixture.keys.revoked),
    await post(gateway, `shop/${canary}?token=${canary}`, fixture.keys.backend),
    await post(gateway, 'shop/orders', fixture.keys.backend, `{"password":"${canary}" "x"}`),
    await post(gateway, 'shop/orders', fixture.keys.backend, `{"password":"${canary}"}`),
    await post(gateway, 'shop/orders', canary, '{}', { cookie: canary }),
  ];
  const told = answers.map(({ text, headers }) => text + JSON.stringify([...headers])).join() + fixture.logged.join();
  expect(fixture.logged.length).toBeGreaterThan(0);
  for (const secret of [canary, fixture.keys.backend, fixture.keys.revoked]) expect(told).not.toContain(secret);
});

test('while the gateway stops, new requests get 503 stopping and those under way their 202', async () => {
  const appending = Promise.withResolvers<(offsets: readonly number[]) => void>();
  const gateway = await fixture.start(
    { closeDeadline: 60_000 },
    logThat(() => new Promise((resolve) => appending.resolve(resolve))),
  );
  const underWay = post(gateway, 'shop/orders', fixture.keys.backend);
  const release = await appending.promise;
  const closed = gateway.close();
  expect(codeOf(await post(gateway, 'shop/orders', fixture.keys.backend))).toBe('503 stopping');
  release([0]);
  expect((await underWay).status).toBe(202);
  await closed;
  await expect(fetch(`${gateway.address}/livez`)).rejects.toThrow();
});

test('a port in use names the setting that changes it', async () => {
  const { port } = await fixture.start();
  await expect(fixture.start({ port })).rejects.toMatchObject({
    code: 'port_in_use',
    detail: expect.stringContaining('--gateway-port') as string,
  });
});

test('telemetry continues the trace and counts; what it started ends', async () => {
  const seen: string[] = [];
  const mine = '00-0af7651916cd43dd8448eb211c80319c-1111111111111111-01';
  const records: NewRecord[] = [];
  const append: Append = (appended) => Promise.resolve(appended.map((record) => records.push(record)));
  const gateway = await fixture.start(
    {},
    {
      ...logThat(append),
      telemetry: {
        ...SILENT_TELEMETRY,
        startRequest: (given) => {
          seen.push(`start ${given}`);
          return {
            traceparent: mine,
            event: ({ workspace, stream }) => void seen.push(`event ${workspace} ${stream}`),
            end: (status) => void seen.push(`end ${status}`),
          };
        },
        accepted: (stream, count) => void seen.push(`accepted ${stream} ${count}`),
        envelope: (stream, result) => void seen.push(`envelope ${stream} ${result}`),
        refused: (code) => void seen.push(`refused ${code}`),
        appended: () => void seen.push('appended'),
        trouble: (where) => void seen.push(`trouble ${where}`),
        cutOff: (why) => void seen.push(`cut off ${why}`),
        answered: ({ route, status, problem }) => void seen.push(`answered ${route} ${status} ${problem}`),
      },
    },
  );
  const theirs = mine.replace('1111111111111111', '2222222222222222');
  await post(gateway, 'shop/orders', fixture.keys.backend, '{}', { traceparent: theirs });
  await post(gateway, 'shop/orders', null);
  await expect.poll(() => seen).toHaveLength(7);
  expect(seen).toEqual(
    expect.arrayContaining([
      `start ${theirs}`,
      'event shop shop/orders',
      'appended',
      'accepted shop/orders 1',
      'end 202',
      'answered /events/* 202 null',
      'answered /events/* 401 unauthorized',
    ]),
  );
  expect(records[0]?.headers['traceparent']).toBe(mine);
});
