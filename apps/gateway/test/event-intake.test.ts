import { isId } from '@carillon/kernel';
import type { NewRecord } from '@carillon/ports';
import { readSourceRecord } from '@carillon/stages';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { post, prepareFixture, rawConnection, type Answer, type Fixture } from './gateway-fixture.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await prepareFixture();
});
afterEach(async () => {
  await fixture.stopGateways();
  fixture.configuration.readToEndAt = () => Date.now();
});

const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const codeOf = ({ status, body }: Answer): string => `${status} ${String(body['code'])}`;
/** All of a problem but the id of its request. */
const comparable = ({ status, body, headers }: Answer): unknown => [
  status,
  { ...body, request_id: null },
  headers.get('www-authenticate'),
  headers.get('content-type'),
];

async function recordOf(id: unknown): Promise<NewRecord> {
  const record = (await fixture.records()).find((one) => one.headers['event_id'] === id);
  if (!record) throw new Error(`no record of ${String(id)}`);
  return record;
}

describe('202', () => {
  test('an event is on the log when its id is answered, byte for byte, with its routing facts in headers', async () => {
    const gateway = await fixture.start();
    const text = '{ "order_id":"A-1001",  "total": 9007199254740993, "name":"Zoë" }';
    const answer = await post(gateway, 'shop/orders', fixture.keys.backend, text, { traceparent: TRACE });
    expect(answer.status).toBe(202);
    expect(Object.keys(answer.body)).toEqual(['id']);
    expect(isId('event', String(answer.body['id']))).toBe(true);
    const record = await recordOf(answer.body['id']);
    expect(new TextDecoder().decode(record.value)).toBe(text);
    expect(record.headers).toEqual({
      kind: 'event',
      enc: '0',
      event_id: answer.body['id'],
      workspace: 'shop',
      stream: 'shop/orders',
      principal: expect.stringMatching(/^api_key:backend\/[0-9A-Za-z]{8}$/) as string,
      traceparent: TRACE,
    });
    expect(JSON.stringify(record.headers) + record.key).not.toContain(fixture.keys.backend);
  });

  test('what the gateway appended, the engine reads', async () => {
    const gateway = await fixture.start();
    const body = '{"customer":{"id":"K 1"},"at":"2026-11-01T00:00:00Z"}';
    const { body: answer } = await post(gateway, 'shop/keyed', fixture.keys.backend, body);
    const record = (await fixture.records()).find((one) => one.headers['event_id'] === answer['id']);
    const read = record && readSourceRecord(record, fixture.backend.log.logId);
    expect(read).toMatchObject({
      ok: true,
      value: {
        kind: 'event',
        event: { id: answer['id'], key: 'K 1', time: Date.UTC(2026, 10, 1), body: { at: '2026-11-01T00:00:00Z' } },
      },
    });
  });

  test('a repeated Idempotency-Key on the same stream gives the same id, and both bodies are logged', async () => {
    const gateway = await fixture.start();
    const send = (path: string, body: string) =>
      post(gateway, path, fixture.keys.backend, body, { 'idempotency-key': 'order-7/paid' });
    const first = await send('shop/orders', '{"n":1}');
    const again = await send('shop/orders', '{"n":2}');
    const elsewhere = await send('shop/pages', '{"n":1}');
    expect(again.body).toEqual(first.body);
    expect(elsewhere.body).not.toEqual(first.body);
    expect((await fixture.records()).filter((one) => one.headers['event_id'] === first.body['id'])).toHaveLength(2);
  });

  test('without an Idempotency-Key a repeat is a new event', async () => {
    const gateway = await fixture.start();
    const [one, two] = [
      await post(gateway, 'shop/orders', fixture.keys.backend),
      await post(gateway, 'shop/orders', fixture.keys.backend),
    ];
    expect(one.body['id']).not.toBe(two.body['id']);
  });

  test.each(['bearer', 'BEARER', 'Bearer  '])('the scheme %j is as good as Bearer', async (scheme) => {
    const gateway = await fixture.start();
    const answer = await post(gateway, 'shop/orders', null, '{}', {
      authorization: `${scheme} ${fixture.keys.backend}`,
    });
    expect(answer.status).toBe(202);
  });

  test('a key before its expiry, a chunked body, and a type with charset are taken', async () => {
    const gateway = await fixture.start();
    expect((await post(gateway, 'shop/orders', fixture.keys.future)).status).toBe(202);
    const connection = rawConnection(gateway.port);
    connection.send(
      `POST /events/shop/orders HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer ${fixture.keys.backend}\r\n` +
        'content-type: application/json; charset="UTF-8"\r\ntransfer-encoding: chunked\r\n\r\n3\r\n{"a\r\n4\r\n":1}\r\n0\r\n\r\n',
    );
    expect(await connection.answer).toMatch(/^HTTP\/1\.1 202 /);
  });

  test('concurrent requests do not wait for each other', async () => {
    const held: (() => void)[] = [];
    const log = {
      logId: fixture.backend.log.logId,
      partitions: () => 8,
      append: () => new Promise<readonly number[]>((resolve) => held.push(() => resolve([0]))),
    };
    const gateway = await fixture.start({}, { log });
    const answers = Array.from({ length: 20 }, () => post(gateway, 'shop/orders', fixture.keys.backend));
    await expect.poll(() => held.length).toBe(20);
    held.forEach((release) => release());
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(answers.map(() => 202));
  });
});

describe('401', () => {
  test('is identical for a wrong, revoked, expired or foreign credential, also on paths that do not exist', async () => {
    const gateway = await fixture.start();
    const { backend, revoked, expired, blog } = fixture.keys;
    const wrong = `${backend.slice(0, 20)}${backend.slice(20).split('').toReversed().join('')}`;
    const refused = await post(gateway, 'shop/orders', wrong);
    expect(codeOf(refused)).toBe('401 unauthorized');
    expect(refused.headers.get('www-authenticate')).toMatch(/^Bearer/);
    const others = [
      await post(gateway, 'shop/orders', revoked),
      await post(gateway, 'shop/orders', expired),
      await post(gateway, 'shop/orders', blog),
      await post(gateway, 'shop/orders', 'hunter2'),
      await post(gateway, 'shop/nowhere', revoked),
      await post(gateway, 'shop/nowhere', blog),
      await post(gateway, 'shop/changes', revoked),
      await post(gateway, 'shop/changes', blog),
      await post(gateway, 'nobody/nowhere', backend),
      await post(gateway, '', wrong),
      await post(gateway, 'x'.repeat(1500), wrong),
      await post(gateway, '__proto__/constructor', wrong),
    ];
    for (const other of others) expect(comparable(other)).toEqual(comparable(refused));
  });

  test.each([
    ['no Authorization header', {}, 'The request has no Authorization header'],
    ['an empty one', { authorization: ' ' }, 'The request has no Authorization header'],
    ['another scheme', { authorization: 'Basic c2hvcA==' }, 'does not begin with Bearer'],
    ['a key alone', { authorization: 'cln_0123' }, 'does not begin with Bearer'],
  ] as const)('says that there is %s, the same on each path', async (_case, headers, words) => {
    const gateway = await fixture.start();
    const refused = await post(gateway, 'shop/orders', null, '{}', headers);
    expect(codeOf(refused)).toBe('401 unauthorized');
    expect(refused.body['detail']).toContain(words);
    for (const path of ['shop/nowhere', 'shop/changes', 'nobody/nowhere', '', '__proto__/constructor'])
      expect(comparable(await post(gateway, path, null, '{}', headers))).toEqual(comparable(refused));
  });

  test('a key that looks right but has another secret is refused', async () => {
    const gateway = await fixture.start(
      {},
      {
        apiKeys: {
          parse: () => fixture.backend.apiKeys.parse(fixture.keys.backend),
          verify: (key, digest) => fixture.backend.apiKeys.verify(key, digest),
        },
      },
    );
    expect((await post(gateway, 'shop/orders', fixture.keys.revoked)).status).toBe(401);
  });

  test('also where there is no key to compare with, one comparison is made', async () => {
    const digests: string[] = [];
    const gateway = await fixture.start(
      {},
      {
        apiKeys: {
          parse: (text) => fixture.backend.apiKeys.parse(text),
          verify: (_key, digest) => (digests.push(digest), false),
        },
      },
    );
    await post(gateway, 'shop/orders', fixture.keys.revoked);
    await post(gateway, 'shop/orders', null);
    expect(digests).toEqual(['0'.repeat(64), '0'.repeat(64)]);
  });
});

describe('404 and 403', () => {
  test('a valid key of this workspace on a path that is not there: 404', async () => {
    const gateway = await fixture.start();
    expect(codeOf(await post(gateway, 'shop/nowhere', fixture.keys.backend))).toBe('404 not_found');
    expect(codeOf(await post(gateway, 'shop/orders/', fixture.keys.backend))).toBe('404 not_found');
    const near = await post(gateway, 'shop/ordres', fixture.keys.backend);
    expect(near.body['detail']).toContain('Did you mean shop/orders?');
    const far = await post(gateway, 'shop/nowhere', fixture.keys.backend);
    expect(far.body['detail']).not.toContain('Did you mean');
  });

  test('a valid key on a database stream gets 404, as on an unknown path', async () => {
    const gateway = await fixture.start();
    const { backend } = fixture.keys;
    const nowhere = await post(gateway, 'shop/nowhere', backend);
    expect(comparable(await post(gateway, 'shop/changes', backend))).toEqual(comparable(nowhere));
    expect(comparable(await post(gateway, 'shop/chnges', backend))).toEqual(comparable(nowhere));
  });

  test('a valid key of this workspace that this stream does not name: 403', async () => {
    const gateway = await fixture.start();
    expect(codeOf(await post(gateway, 'shop/private', fixture.keys.backend))).toBe('403 forbidden');
    expect(codeOf(await post(gateway, 'shop/orders', fixture.keys.other))).toBe('403 forbidden');
  });
});

test('429 over the rate of the stream, with the time after which there is room', async () => {
  let now = Date.now();
  fixture.configuration.readToEndAt = () => now;
  const gateway = await fixture.start({}, { clock: { now: () => now } });
  const send = () => post(gateway, 'shop/slow', fixture.keys.backend);
  expect([(await send()).status, (await send()).status]).toEqual([202, 202]);
  const refused = await send();
  expect(codeOf(refused)).toBe('429 rate_limited');
  expect(refused.headers.get('retry-after')).toBe('2');
  expect(refused.body['limit']).toBe('0.5 events per second');
  now += 2000;
  expect([(await send()).status, (await send()).status]).toEqual([202, 429]);
  fixture.configuration.readToEndAt = () => Date.now();
});

describe('415 and 413', () => {
  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/jsonp',
    'application/json; charset=latin1',
    '',
  ])('Content-Type %j is refused', async (type) => {
    const gateway = await fixture.start();
    expect(codeOf(await post(gateway, 'shop/orders', fixture.keys.backend, '{}', { 'content-type': type }))).toBe(
      '415 unsupported_media_type',
    );
  });

  test('a compressed body is refused', async () => {
    const gateway = await fixture.start();
    const answer = await post(gateway, 'shop/orders', fixture.keys.backend, '{}', { 'content-encoding': 'gzip' });
    expect(codeOf(answer)).toBe('415 unsupported_media_type');
  });

  test('256 KiB are taken, a byte more is refused and names the limit', async () => {
    const gateway = await fixture.start();
    const sized = (bytes: number) => `{"a":"${'x'.repeat(bytes - 8)}"}`;
    expect((await post(gateway, 'shop/orders', fixture.keys.backend, sized(256 * 1024))).status).toBe(202);
    const over = await post(gateway, 'shop/orders', fixture.keys.backend, sized(256 * 1024 + 1));
    expect(codeOf(over)).toBe('413 body_too_large');
    expect(over.body['limit']).toBe('256 KiB');
  });

  test('a huge body that does not say its size is refused while it streams', async () => {
    const gateway = await fixture.start({ maxBodyBytes: 1024 });
    let sent = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 65_536;
        if (sent > 3 * 1024 * 1024) controller.close();
        else controller.enqueue(new Uint8Array(65_536).fill(0x20));
      },
    });
    const answer = await fetch(`${gateway.address}/events/shop/orders`, {
      method: 'POST',
      body: endless,
      duplex: 'half',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${fixture.keys.backend}` },
    });
    expect(answer.status).toBe(413);
    expect(((await answer.json()) as { limit: string }).limit).toBe('1 KiB');
  });
});

describe('400', () => {
  test.each([
    ['invalid_json', '{"a":1,\n "b" 2}', { line: 2, column: 6 }],
    ['invalid_json', '', { line: 1, column: 1 }],
    ['not_an_object', '[1]', { line: 1, column: 1 }],
    ['duplicate_key', '{"a":{"b":1,"b":2}}', { pointer: '/a/b' }],
    ['number_out_of_range', '{"a":[18446744073709551616]}', { pointer: '/a/0' }],
    ['number_out_of_range', '{"a":1e400}', { pointer: '/a' }],
    ['too_deep', `{"a":${'['.repeat(40)}`, { line: 1 }],
    ['forbidden_key', '{"__proto__":{}}', { pointer: '/__proto__' }],
  ])('%s: %j', async (code, text, facts) => {
    const gateway = await fixture.start();
    const answer = await post(gateway, 'shop/orders', fixture.keys.backend, text);
    expect(codeOf(answer)).toBe(`400 ${code}`);
    expect(answer.body).toMatchObject(facts);
  });

  test('bytes that are not UTF-8', async () => {
    const gateway = await fixture.start();
    const answer = await post(gateway, 'shop/orders', fixture.keys.backend, new Uint8Array([0x7b, 0xff, 0x7d]));
    expect(codeOf(answer)).toBe('400 invalid_json');
  });

  test('no value at the key of the stream, or no timestamp at its time', async () => {
    const gateway = await fixture.start();
    const send = (text: string) => post(gateway, 'shop/keyed', fixture.keys.backend, text);
    const keyless = await send('{"at":"2026-11-01T00:00:00Z"}');
    expect([codeOf(keyless), keyless.body['pointer']]).toEqual(['400 missing_entity_key', '/customer/id']);
    const timeless = await send('{"customer":{"id":1},"at":"soon"}');
    expect([codeOf(timeless), timeless.body['pointer']]).toEqual(['400 missing_event_time', '/at']);
  });

  test('an Idempotency-Key that cannot be used', async () => {
    const gateway = await fixture.start();
    const answer = await post(gateway, 'shop/orders', fixture.keys.backend, '{}', { 'idempotency-key': 'a b' });
    expect(codeOf(answer)).toBe('400 invalid_idempotency_key');
  });
});

test('405 for every other method, also without a credential and where no stream is', async () => {
  const gateway = await fixture.start();
  for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
    const answer = await fetch(`${gateway.address}/events/shop/nowhere`, { method });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('OPTIONS, POST');
  }
});

describe('browsers', () => {
  const preflight = async (address: string, path: string, origin: string) => {
    const headers = { origin, 'access-control-request-method': 'POST' };
    const answer = await fetch(`${address}/events/${path}`, { method: 'OPTIONS', headers });
    return [
      answer.status,
      answer.headers.get('access-control-allow-origin'),
      answer.headers.get('access-control-allow-methods'),
    ];
  };

  test('a preflight is answered per stream and without a credential; no origin is allowed until the stream names some', async () => {
    const { address } = await fixture.start();
    expect(await preflight(address, 'shop/pages', 'https://shop.example')).toEqual([
      204,
      'https://shop.example',
      'POST',
    ]);
    const silent = [204, null, null];
    expect(await preflight(address, 'shop/pages', 'https://evil.example')).toEqual(silent);
    expect(await preflight(address, 'shop/orders', 'https://shop.example')).toEqual(silent);
    expect(await preflight(address, 'shop/nowhere', 'https://shop.example')).toEqual(silent);
  });

  test('a page of a named origin can read the answer, refusals too', async () => {
    const gateway = await fixture.start();
    const origin = { origin: 'https://shop.example' };
    const answers = [
      await post(gateway, 'shop/pages', fixture.keys.backend, '{}', origin),
      await post(gateway, 'shop/pages', null, '{}', origin),
      await post(gateway, 'shop/pages', fixture.keys.backend, '{', origin),
    ];
    expect(answers.map(({ status }) => status)).toEqual([202, 401, 400]);
    for (const { headers } of answers) expect(headers.get('access-control-allow-origin')).toBe(origin.origin);
    const other = await post(gateway, 'shop/orders', fixture.keys.backend, '{}', origin);
    expect(other.headers.get('access-control-allow-origin')).toBeNull();
  });
});

test('the checks come in their order: each refusal hides the ones after it', async () => {
  const now = Date.now();
  const gateway = await fixture.start(
    { maxBodyBytes: 64 },
    {
      log: { logId: fixture.backend.log.logId, partitions: () => 8, append: () => Promise.reject(new Error('away')) },
      // Stands still, so that what the stream was sent too fast stays too fast, and the configuration stays fresh.
      clock: { now: () => now },
    },
  );
  fixture.configuration.readToEndAt = () => now;
  const { backend } = fixture.keys;
  const large = `{"a":"${'x'.repeat(100)}`;
  const plain = { 'content-type': 'text/plain' };
  const broken = { 'content-type': 'application/json;;;=' };
  expect(codeOf(await post(gateway, 'shop/orders', null, large, broken))).toBe('401 unauthorized');
  expect(codeOf(await post(gateway, 'shop/nowhere', backend, large, broken))).toBe('404 not_found');
  expect(codeOf(await post(gateway, 'shop/private', backend, large, broken))).toBe('403 forbidden');
  await post(gateway, 'shop/slow', backend);
  await post(gateway, 'shop/slow', backend);
  expect(codeOf(await post(gateway, 'shop/slow', backend, large, broken))).toBe('429 rate_limited');
  expect(codeOf(await post(gateway, 'shop/orders', backend, large, plain))).toBe('415 unsupported_media_type');
  expect(codeOf(await post(gateway, 'shop/orders', backend, large))).toBe('413 body_too_large');
  expect(codeOf(await post(gateway, 'shop/orders', backend, '{'))).toBe('400 invalid_json');
  expect(codeOf(await post(gateway, 'shop/orders', backend, '{}'))).toBe('503 log_unavailable');
  fixture.configuration.readToEndAt = () => 0;
  expect(codeOf(await post(gateway, 'shop/nowhere', null, large, broken))).toBe('503 configuration_stale');
});
