import type { NewRecord } from '@carillon/ports';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { post, prepareFixture, type Answer, type Fixture } from './gateway-fixture.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await prepareFixture();
});
afterEach(() => fixture.stopGateways());

const OURS = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const THEIRS = '00-11111111111111111111111111111111-2222222222222222-01';
const STRUCTURED = { 'content-type': 'application/cloudevents+json' };
const BATCH = { 'content-type': 'application/cloudevents-batch+json' };

/** A CloudEvent whose data stands in it as it is written. */
const cloudEvent = (id: string, data: string, more = ''): string =>
  `{"specversion":"1.0","type":"order.paid","source":"/shop","id":"${id}"${more},"data":${data}}`;
const binary = (id: string, more: Readonly<Record<string, string>> = {}) => ({
  'ce-specversion': '1.0',
  'ce-type': 'order.paid',
  'ce-source': '/shop',
  'ce-id': id,
  ...more,
});

async function send(body: string, headers: Readonly<Record<string, string>>, path = 'shop/orders'): Promise<Answer> {
  return post(await fixture.start(), path, fixture.keys.backend, body, headers);
}

async function recordOf(id: unknown): Promise<NewRecord> {
  const record = (await fixture.records()).find((one) => one.headers['event_id'] === id);
  if (!record) throw new Error(`no record of ${String(id)}`);
  return record;
}

const textOf = ({ value }: NewRecord): string => new TextDecoder().decode(value);

describe('a CloudEvent', () => {
  it('puts its data on the log byte for byte, whatever the mode', async () => {
    const data = '{ "total": 1.50, "n": 9007199254740993 }';
    for (const [body, headers] of [
      [cloudEvent('bytes-1', data), STRUCTURED],
      [data, binary('bytes-2')],
    ] as const) {
      const answer = await send(body, headers);
      expect(answer.status).toBe(202);
      expect(textOf(await recordOf(answer.body['id']))).toBe(data);
    }
  });

  it('may come from a page of an allowed origin in binary mode', async () => {
    const { address } = await fixture.start();
    const headers = { origin: 'https://shop.example', 'access-control-request-method': 'POST' };
    const answer = await fetch(`${address}/events/shop/pages`, { method: 'OPTIONS', headers });
    const allowed = answer.headers.get('access-control-allow-headers')?.split(', ');
    expect(allowed).toEqual(expect.arrayContaining(['authorization', ...Object.keys(binary('any')), 'ce-time']));
  });

  it('has the same id in each mode and repeat, with any Idempotency-Key', async () => {
    const answers = [
      await send(cloudEvent('same', '{}'), STRUCTURED),
      await send('{"a":1}', binary('same', { 'idempotency-key': 'k' })),
      await send(cloudEvent('same', '{}'), { ...STRUCTURED, 'idempotency-key': 'l' }),
    ];
    const batch = await send(`[${cloudEvent('same', '{}')}]`, BATCH);
    const ids = [...answers.map(({ body }) => body['id']), (batch.body['items'] as { id: string }[])[0]?.id];
    expect(new Set(ids).size).toBe(1);
    const others = [await send('{}', binary('other')), await send('{}', binary('same', { 'ce-source': '/blog' }))];
    for (const { body } of others) expect(ids).not.toContain(body['id']);
  });

  it('keeps its own traceparent before that of the request', async () => {
    const own = `,"traceparent":"${THEIRS}"`;
    const traces = [
      await send(cloudEvent('trace-1', '{}', own), { ...STRUCTURED, traceparent: OURS }),
      await send('{}', binary('trace-2', { 'ce-traceparent': THEIRS, traceparent: OURS })),
      await send(cloudEvent('trace-3', '{}'), { ...STRUCTURED, traceparent: OURS }),
    ].map(async ({ body }) => (await recordOf(body['id'])).headers['traceparent']);
    expect(await Promise.all(traces)).toEqual([THEIRS, THEIRS, OURS]);
  });

  it('takes key and time from the paths of the stream', async () => {
    const data = '{"customer":{"id":7},"at":"2026-11-01T00:00:00Z"}';
    const time = ',"time":"2020-01-01T00:00:00Z"';
    const { body } = await send(cloudEvent('keyed', data, time), STRUCTURED, 'shop/keyed');
    expect((await recordOf(body['id'])).headers).toMatchObject({ key: '7', time: String(Date.UTC(2026, 10, 1)) });
  });

  it.each([
    ['invalid_json', '{', { line: 1, column: 2 }],
    ['invalid_json', cloudEvent('x', '{"a":}'), { line: 1, column: 80 }],
    ['invalid_json', cloudEvent('x', '{} x'), { line: 1 }],
    ['not_an_object', cloudEvent('x', '[1]'), { pointer: '/data' }],
    ['duplicate_key', cloudEvent('x', '{"a":1,"a":2}'), { pointer: '/data/a' }],
    ['invalid_cloudevent', '{"specversion":"1.0","source":"/shop","type":"t","data":{}}', { pointer: '/id' }],
  ])('is refused as %s: %s', async (code, body, facts) => {
    const answer = await send(body, STRUCTURED);
    expect([answer.status, answer.body['code']]).toEqual([400, code]);
    expect(answer.body).toMatchObject(facts);
  });

  it.each(['ce-specversion', 'ce-id', 'ce-source', 'ce-type'])(
    'is refused in binary mode with %s alone',
    async (name) => {
      const answer = await send('{}', { [name]: '1.0' });
      expect([answer.status, answer.body['code']]).toEqual([400, 'invalid_cloudevent']);
    },
  );

  it('is refused in binary mode if an attribute is missing', async () => {
    const answer = await send('{}', { 'ce-specversion': '1.0', 'ce-id': '1', 'ce-source': '/shop' });
    expect([answer.status, answer.body['code']]).toEqual([400, 'invalid_cloudevent']);
    expect(answer.body['detail']).toContain('ce-type');
  });

  it('names the field of data that a stream misses', async () => {
    const answer = await send(cloudEvent('no-key', '{}'), STRUCTURED, 'shop/keyed');
    expect(answer.body).toMatchObject({ code: 'missing_entity_key', pointer: '/data/customer/id' });
  });
});

describe('a batch of CloudEvents', () => {
  const codesOf = ({ body }: Answer): readonly unknown[] =>
    (body['items'] as readonly { problem?: { code: string } }[]).map(({ problem }) => problem?.code ?? 'ok');

  it('answers each in order, and takes the others if some are refused', async () => {
    const large = cloudEvent('l', `{"a":"${'x'.repeat(300 * 1024)}"}`);
    const items = [cloudEvent('b1', '{"n":1}'), '7', large, cloudEvent('b2', '[]'), cloudEvent('b3', '{"n":3}')];
    const answer = await send(`[${items.join(' ,\n')}]`, BATCH);
    expect(answer.status).toBe(207);
    expect(codesOf(answer)).toEqual(['ok', 'not_an_object', 'body_too_large', 'not_an_object', 'ok']);
    expect(answer.body['items']).toMatchObject([{}, {}, {}, { problem: { pointer: '/data' } }, {}]);
    expect(JSON.stringify(answer.body['items'])).not.toContain('"line"');
  });

  it('takes an empty list', async () => {
    const answer = await send(' [ ] ', BATCH);
    expect([answer.status, answer.body]).toEqual([202, { items: [] }]);
  });

  it.each([
    ['', 'invalid_json'],
    ['[,]', 'invalid_json'],
    ['[] []', 'invalid_json'],
    // Valid JSON, but no list.
    ['{}', 'invalid_request'],
    [cloudEvent('x', '{}'), 'invalid_request'],
  ])('refuses %j whole as %s', async (body, code) => {
    const answer = await send(body, BATCH);
    expect([answer.status, answer.body['code']]).toEqual([400, code]);
  });

  it('says where it stopped if the list breaks off', async () => {
    const answer = await send(`[${cloudEvent('stop', '{}')},{"specversion":`, BATCH);
    expect(answer.status).toBe(207);
    expect(codesOf(answer)).toEqual(['ok', 'invalid_json']);
  });
});
