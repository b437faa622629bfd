import { createHmac } from 'node:crypto';
import { readSourceRecord } from '@carillon/stages';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { post, prepareFixture, rawConnection, type Answer, type Fixture } from './gateway-fixture.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await prepareFixture();
});
afterEach(() => fixture.stopGateways());

const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

/** Each test has rows of its own, because the log is shared. */
const envelope = (id: number, more: Readonly<Record<string, unknown>> = {}): string =>
  JSON.stringify({
    before: { id, status: 'open' },
    after: { id, status: 'paid' },
    source: {
      connector: 'postgresql',
      name: 'app',
      ts_ms: 1_795_226_637_186,
      schema: 'public',
      table: 'orders',
      txId: 7,
      lsn: 1,
    },
    op: 'u',
    ...more,
  });

type Signing = { readonly at?: number; readonly id?: string; readonly over?: string };

/** Headers as Debezium Server sends them. */
function signed(body: string, { at = Date.now(), id = 'msg_1', over = body }: Signing = {}): Record<string, string> {
  const timestamp = String(Math.floor(at / 1000));
  const signature = createHmac('sha256', Buffer.alloc(24, 7)).update(`${id}.${timestamp}.${over}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}

const send = async (body: string, signing?: Signing, path = 'shop/signed'): Promise<Answer> =>
  post(await fixture.start(), path, null, body, { traceparent: TRACE, ...signed(body, signing) });

async function changeOf(id: unknown): Promise<unknown> {
  const records = (await fixture.records()).filter((record) => record.headers['event_id'] === id);
  const [record] = records;
  const read = record && readSourceRecord(record, fixture.backend.log.logId);
  return { times: records.length, headers: record?.headers, read };
}

/** A change of more than 1 MiB, in fields that are each taken. */
const largeRow = (id: number): string =>
  envelope(id, {
    after: { id, ...Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`f${n}`, 'x'.repeat(60_000)])) },
  });

describe('signed envelopes', () => {
  it('above the limit of a change become dead letters with their reason, and no event has been accepted', async () => {
    const accepted: string[] = [];
    const telemetry = { ...fixture.telemetry, accepted: (stream: string) => void accepted.push(stream) };
    const body = largeRow(30);
    const answer = await post(await fixture.start({}, { telemetry }), 'shop/signed', null, body, signed(body));
    expect(answer).toMatchObject({ status: 202, body: { dead_letter: 'change_too_large' } });
    expect(answer.body).not.toHaveProperty('id');
    expect(answer.body['detail']).toContain('column.exclude.list');
    expect(accepted).toEqual([]);
  });

  it('become changes, with sender and trace', async () => {
    const answer = await send(envelope(1));
    expect(answer.status).toBe(202);
    expect(await changeOf(answer.body['id'])).toMatchObject({
      times: 1,
      headers: {
        shape: 'change',
        principal: 'webhook_secret:DEBEZIUM',
        traceparent: TRACE,
        key: '1',
        stream: 'shop/signed',
      },
      read: {
        ok: true,
        value: {
          event: {
            change: {
              op: 'update',
              event: { id: 1, status: 'paid' },
              previous: { id: 1, status: 'open' },
              source: { integration: 'app', table: 'public.orders' },
            },
          },
        },
      },
    });
  });

  it('have the same event id when repeated, with any message id', async () => {
    const first = await send(envelope(2));
    const again = await send(envelope(2, { ts_ms: 5 }), { id: 'msg_2' });
    expect(again.body['id']).toBe(first.body['id']);
    expect((await send(envelope(3))).body['id']).not.toBe(first.body['id']);
  });

  it('are refused if they are signed over another body, or more than 5 minutes ago', async () => {
    const wrong = await send(envelope(4), { over: envelope(5) });
    expect(wrong).toMatchObject({ status: 401, body: { code: 'unauthorized' } });
    const old = await send(envelope(4), { at: Date.now() - 301_000 });
    expect(old).toMatchObject({
      status: 401,
      body: { detail: expect.stringContaining('older than 5 minutes') as string },
    });
  });

  it('get the same answer wherever no stream takes a signature', async () => {
    const answers = await Promise.all(
      ['shop/nothing', 'nobody/signed', 'shop/orders', 'shop/changes'].map((path) => send(envelope(6), {}, path)),
    );
    const wrong = await send(envelope(6), { over: 'x' });
    for (const { status, body } of answers) {
      expect({ status, detail: body['detail'] }).toEqual({ status: 401, detail: wrong.body['detail'] });
    }
  });

  it('are to be sent again if the secret is not set, or is none', async () => {
    const unset = await send(envelope(7), {}, 'shop/unset');
    expect(unset).toMatchObject({ status: 503, body: { code: 'secret_missing' } });
    expect(unset.text).not.toContain('UNSET');
    expect(await send(envelope(7), {}, 'shop/short')).toMatchObject({ status: 503, body: { code: 'secret_missing' } });
  });

  it('become dead letters with 202 if they are unreadable, so that Debezium Server continues', async () => {
    const body = envelope(8, { source: null });
    const answer = await send(body);
    expect(answer).toMatchObject({ status: 202, body: { dead_letter: 'no_source' } });
    await send(body);
    await send('no JSON');
    const letters = (await fixture.records('carillon.dead-letters')).map(({ value }) => {
      const letter = fixture.backend.codecs.deadLetter.decode(value);
      if (!letter.ok) throw new Error(letter.error.detail);
      return letter.value;
    });
    const [first, again] = letters.filter(({ reason }) => reason === 'no_source');
    expect(first).toMatchObject({
      workspace: 'shop',
      topic: 'events/shop/signed',
      stage: 'append',
      reason: 'no_source',
    });
    expect(new TextDecoder().decode(first?.value)).toBe(body);
    expect(again?.id).toBe(first?.id);
    expect(letters.filter(({ reason }) => reason === 'invalid_json')).toHaveLength(1);
  });

  it('of strangers are refused before their body if a header of the signature is missing', async () => {
    const gateway = await fixture.start();
    const head = [
      'POST /events/shop/signed HTTP/1.1',
      'host: x',
      'content-type: application/json',
      'content-length: 9',
    ];
    for (const headers of [
      ['webhook-signature: v1,x', 'webhook-id: m'],
      ['webhook-signature: v1,x', 'webhook-timestamp: 1'],
    ]) {
      const connection = rawConnection(gateway.port);
      connection.send(`${[...head, 'connection: close', ...headers].join('\r\n')}\r\n\r\n{`);
      expect((await connection.answer).slice(0, 12)).toBe('HTTP/1.1 401');
    }
  });

  it('get 401 before 415', async () => {
    const gateway = await fixture.start();
    const type = { 'content-type': 'text/plain' };
    const sendText = (over: string) =>
      post(gateway, 'shop/signed', null, 'text', { ...signed('text', { over }), ...type });
    expect((await sendText('other')).status).toBe(401);
    expect((await sendText('text')).status).toBe(415);
  });

  it('of strangers log an unset secret once a minute', async () => {
    const gateway = await fixture.start();
    fixture.alerts.length = 0;
    for (let n = 0; n < 3; n += 1) await post(gateway, 'shop/unset', null, '{}', signed('{}'));
    expect(fixture.alerts).toHaveLength(1);
  });

  it('are skipped if they hold no change of a row', async () => {
    expect(await send('{"ts_ms":1795226637186}')).toMatchObject({ status: 202, body: { skipped: 'heartbeat' } });
  });
});

it('counts envelopes by result, and only changes as events', async () => {
  const counted: string[] = [];
  const telemetry = {
    ...fixture.telemetry,
    accepted: (stream: string, count: number) => void counted.push(`accepted ${stream} ${count}`),
    envelope: (stream: string, result: string) => void counted.push(`${stream} ${result}`),
  };
  const gateway = await fixture.start({}, { telemetry });
  const withoutKey = envelope(40, { before: null, after: { status: 'paid' } });
  for (const body of [envelope(40), withoutKey, '{"ts_ms":1795226637186}', envelope(40, { source: null })]) {
    expect((await post(gateway, 'shop/signed', null, body, signed(body))).status).toBe(202);
  }
  expect(counted).toEqual([
    'accepted shop/signed 1',
    'shop/signed appended',
    'accepted shop/signed 1',
    'shop/signed without_key',
    'shop/signed skipped',
    'shop/signed dead_letter',
  ]);
});

describe('envelopes by API key', () => {
  it('become changes', async () => {
    const answer = await post(await fixture.start(), 'shop/envelopes', fixture.keys.backend, envelope(20));
    expect(answer.status).toBe(202);
    expect(await changeOf(answer.body['id'])).toMatchObject({
      headers: { principal: expect.stringMatching(/^api_key:backend\//) as string, key: '20' },
    });
  });

  it('are refused if they can never be read', async () => {
    const gateway = await fixture.start();
    const refused = (body: string): Promise<Answer> => post(gateway, 'shop/envelopes', fixture.keys.backend, body);
    expect(await refused('{"id":1}')).toMatchObject({ status: 400, body: { code: 'invalid_envelope' } });
    expect(await refused('{')).toMatchObject({ status: 400, body: { code: 'invalid_json' } });
  });

  it('may have more bytes than an event', async () => {
    const gateway = await fixture.start();
    const long = (bytes: number): string => envelope(21, { note: 'x'.repeat(bytes) });
    const answers = [300 * 1024, 4 * 1024 * 1024].map((bytes) =>
      post(gateway, 'shop/envelopes', fixture.keys.backend, long(bytes)),
    );
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([202, 413]);
  });

  it('are refused if their change is above its limit, and leave no dead letter', async () => {
    const before = await fixture.records('carillon.dead-letters');
    const answer = await post(await fixture.start(), 'shop/envelopes', fixture.keys.backend, largeRow(31));
    expect(answer).toMatchObject({ status: 413, body: { code: 'body_too_large' } });
    expect(await fixture.records('carillon.dead-letters')).toHaveLength(before.length);
  });

  it('are not taken by a stream of signed requests', async () => {
    const answer = await post(await fixture.start(), 'shop/signed', fixture.keys.backend, envelope(22));
    expect(answer).toMatchObject({
      status: 403,
      body: { detail: expect.stringContaining('webhook_secret') as string },
    });
  });
});
