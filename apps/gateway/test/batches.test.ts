import type { NewRecord } from '@carillon/ports';
import { CarillonError } from '@carillon/kernel';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { post, prepareFixture, rawConnection, type Answer, type Fixture } from './gateway-fixture.ts';
import type { RunningGateway } from '../src/index.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await prepareFixture();
});
afterEach(async () => {
  await fixture.stopGateways();
  fixture.configuration.readToEndAt = () => Date.now();
});

type Item = { readonly id?: string; readonly problem?: Readonly<Record<string, unknown>> };
const itemsOf = ({ body }: Answer): readonly Item[] => body['items'] as readonly Item[];
/** The line of each problem with its code, and `ok` for each event. */
const told = (answer: Answer): readonly string[] =>
  itemsOf(answer).map(({ problem }) => (problem ? `${String(problem['line'])} ${String(problem['code'])}` : 'ok'));

const sendLines = (
  gateway: RunningGateway,
  body: string,
  { path = 'shop/orders', ...headers }: Readonly<Record<string, string>> = {},
): Promise<Answer> =>
  post(gateway, path, fixture.keys.backend, body, { 'content-type': 'application/x-ndjson', ...headers });

async function valuesOf(answer: Answer): Promise<readonly (string | undefined)[]> {
  const byId = new Map((await fixture.records()).map(({ headers, value }) => [headers['event_id'], value]));
  return itemsOf(answer).map(({ id }) => {
    const value = id === undefined ? undefined : byId.get(id);
    return value && new TextDecoder().decode(value);
  });
}

describe('a batch of lines', () => {
  it('appends each line byte for byte and answers 202 with the ids in order', async () => {
    const gateway = await fixture.start();
    const lines = ['{"n": 1}', '{"n":9007199254740993}', '{"name":"Zoë"}'];
    const answer = await sendLines(gateway, `${lines.join('\n')}\n`);
    expect(answer.status).toBe(202);
    expect(await valuesOf(answer)).toEqual(lines);
  });

  it('accepts CRLF and a last line without line end, and skips blank lines', async () => {
    const gateway = await fixture.start();
    const answer = await sendLines(gateway, '\r\n{"n":1}\r\n\n  \n{"n":2}');
    expect(answer.status).toBe(202);
    expect(await valuesOf(answer)).toEqual(['{"n":1}', '{"n":2}']);
  });

  it.each(['', '\n', ' \r\n\n'])('answers %j with no items', async (body) => {
    const gateway = await fixture.start();
    const answer = await sendLines(gateway, body);
    expect([answer.status, answer.body]).toEqual([202, { items: [] }]);
  });

  it('gives line N the key <key>:<N>, so that a repeat has the same ids and blank lines keep the numbers', async () => {
    const gateway = await fixture.start();
    const key = { 'idempotency-key': 'import-1' };
    const first = await sendLines(gateway, '{"n":1}\n{"n":2}\n{"n":3}', key);
    const again = await sendLines(gateway, '{"n":1}\n{"n":2}\n{"n":3}', key);
    const rest = await sendLines(gateway, '\n\n{"n":3}', key);
    const alone = await post(gateway, 'shop/orders', fixture.keys.backend, '{"n":2}', {
      'idempotency-key': 'import-1:2',
    });
    expect(new Set(itemsOf(first).map(({ id }) => id)).size).toBe(3);
    expect(again.body).toEqual(first.body);
    expect(itemsOf(rest)).toEqual([itemsOf(first)[2]]);
    expect(alone.body['id']).toBe(itemsOf(first)[1]?.id);
  });

  it('gives each item its own problem with its line, and appends the others', async () => {
    const gateway = await fixture.start();
    const body = ['{"n":1}', '{"n":', '', '[1]', `{"a":"${'x'.repeat(300 * 1024)}"}`, '{"a":1,"a":2}', '{"n":2}'];
    const answer = await sendLines(gateway, body.join('\n'));
    expect(answer.status).toBe(207);
    const expected = ['ok', '2 invalid_json', '4 not_an_object', '5 body_too_large', '6 duplicate_key', 'ok'];
    expect(told(answer)).toEqual(expected);
    expect(itemsOf(answer)[3]?.problem).toMatchObject({ status: 413, limit: '256 KiB' });
    expect(itemsOf(answer)[4]?.problem).toMatchObject({
      pointer: '/a',
      request_id: answer.headers.get('x-request-id'),
    });
    expect((await valuesOf(answer)).filter((value) => value !== undefined)).toEqual(['{"n":1}', '{"n":2}']);
  });

  it('answers 207 if no item can be appended', async () => {
    const gateway = await fixture.start();
    expect(told(await sendLines(gateway, '1\nx'))).toEqual(['1 not_an_object', '2 invalid_json']);
  });

  it('checks key and time of the stream for each item', async () => {
    const gateway = await fixture.start();
    const good = '{"customer":{"id":1},"at":"2026-11-01T00:00:00Z"}';
    const answer = await sendLines(gateway, `${good}\n{}\n{"customer":{"id":1}}`, { path: 'shop/keyed' });
    expect(told(answer)).toEqual(['ok', '2 missing_entity_key', '3 missing_event_time']);
  });

  it.each(['[{"n":1},\n{"n":2}]', ' \n[\n{"n":1}\n]'])(
    'refuses the list %j whole and says how to send it',
    async (body) => {
      const gateway = await fixture.start();
      const answer = await sendLines(gateway, body);
      expect([answer.status, answer.body['code']]).toEqual([400, 'not_an_object']);
      expect(answer.body['detail']).toContain('one object on each line');
    },
  );

  it('accepts 1,000 items, and names the first rejected line of a larger batch', async () => {
    const gateway = await fixture.start();
    const most = await sendLines(gateway, '{}\n'.repeat(1000));
    expect([most.status, itemsOf(most).length]).toEqual([202, 1000]);
    const over = await sendLines(gateway, '{}\n'.repeat(2000));
    expect([over.status, itemsOf(over).length]).toEqual([207, 1001]);
    expect(itemsOf(over)[999]).toHaveProperty('id');
    expect(itemsOf(over)[1000]?.problem).toMatchObject({ code: 'body_too_large', limit: '1,000 events', line: 1001 });
  });

  it('counts blank lines in the line at which reading ended', async () => {
    const gateway = await fixture.start();
    const connection = rawConnection(gateway.port);
    connection.send(headOf({ 'transfer-encoding': 'chunked' }));
    for (const text of ['{}\n', '\n\n\n', 'x'.repeat(6 * 1024 * 1024)]) {
      connection.send(`${text.length.toString(16)}\r\n${text}\r\n`);
    }
    const answer = await connection.answer;
    const { items } = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))) as { items: readonly Item[] };
    expect(items[1]?.problem).toMatchObject({ limit: '5 MiB', line: 5 });
  });

  it('accepts the lines received before the deadline, and returns 408 for the rest', async () => {
    const gateway = await fixture.start({ batchDeadline: 400 });
    const connection = rawConnection(gateway.port);
    connection.send(`${headOf({ 'content-length': '1000' })}{"n":1}\n{"n":2}\n{"n":`);
    const answer = await connection.answer;
    expect(answer.slice(0, 12)).toBe('HTTP/1.1 207');
    const { items } = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))) as { items: readonly Item[] };
    expect(items.map(({ id, problem }) => (id ? 'ok' : problem))).toMatchObject([
      'ok',
      'ok',
      { status: 408, code: 'request_timeout', limit: '0.4 s', line: 3 },
    ]);
    const silent = rawConnection(gateway.port);
    silent.send(`${headOf({ 'content-length': '1000' })}{"n":`);
    expect((await silent.answer).slice(0, 12)).toBe('HTTP/1.1 408');
  });

  it('says how lines have to be sent if several objects are on one line', async () => {
    const gateway = await fixture.start();
    const answer = await sendLines(gateway, '{"n":1}{"n":2}');
    expect(itemsOf(answer)[0]?.problem?.['detail']).toContain('with curl use --data-binary');
  });

  it('refuses more than 5 MiB: at once if the size is declared, else where the limit is passed', async () => {
    const gateway = await fixture.start();
    const line = `{"a":"${'x'.repeat(200 * 1024)}"}\n`;
    const declared = await sendLines(gateway, line.repeat(30));
    expect([declared.status, declared.body['limit']]).toEqual([413, '5 MiB']);
    const connection = rawConnection(gateway.port);
    connection.send(headOf({ 'transfer-encoding': 'chunked' }));
    for (let n = 0; n < 30; n += 1) connection.send(`${line.length.toString(16)}\r\n${line}\r\n`);
    connection.send('0\r\n\r\n');
    const streamed = await connection.answer;
    expect(streamed).toMatch(/^HTTP\/1\.1 207 /);
    expect(streamed).toContain('"limit":"5 MiB"');
  });

  it.each([
    ['gzip', { 'content-encoding': 'gzip' }, 'unsupported_media_type'],
    ['a key with a space', { 'idempotency-key': 'a b' }, 'invalid_idempotency_key'],
    ['another charset', { 'content-type': 'application/x-ndjson; charset=latin1' }, 'unsupported_media_type'],
  ])('refuses %s whole', async (_case, headers, code) => {
    const gateway = await fixture.start();
    expect((await sendLines(gateway, '{}', headers)).body['code']).toBe(code);
  });
});

describe('rates', () => {
  it('count each item; those beyond the rate get 429 with the time after which there is room', async () => {
    let now = Date.now();
    fixture.configuration.readToEndAt = () => now;
    const gateway = await fixture.start({}, { clock: { now: () => now } });
    const send = () => sendLines(gateway, '{}\n{}\n{}', { path: 'shop/slow' });
    const partly = await send();
    expect([partly.status, partly.headers.get('retry-after')]).toEqual([207, '2']);
    expect(told(partly)).toEqual(['ok', 'ok', '3 rate_limited']);
    expect(itemsOf(partly)[2]?.problem).toMatchObject({ status: 429, retry_after: 2 });
    const refused = await send();
    expect([refused.status, refused.body['code']]).toEqual([429, 'rate_limited']);
    now += 4000;
    expect(told(await send())).toEqual(['ok', 'ok', '3 rate_limited']);
  });
});

type Append = (records: readonly NewRecord[]) => Promise<readonly number[]>;
const logThat = (append: Append) => ({ log: { logId: fixture.backend.log.logId, partitions: () => 8, append } });

it('counts each event of a batch, appended or refused', async () => {
  const counted: string[] = [];
  const telemetry = {
    ...fixture.telemetry,
    accepted: (stream: string, count: number) => void counted.push(`accepted ${stream} ${count}`),
    refused: (code: string) => void counted.push(`refused ${code}`),
  };
  const gateway = await fixture.start({}, { telemetry });
  await sendLines(gateway, '{}\nx\n{}\n');
  expect(counted).toEqual(['accepted shop/orders 2', 'refused invalid_json']);
});

describe('the log', () => {
  it('answers 503 if no item was appended', async () => {
    const gone = new CarillonError('log_unavailable', 'the disk is full', { retryAfter: 3000 });
    const gateway = await fixture.start(
      {},
      logThat(() => Promise.reject(gone)),
    );
    const answer = await sendLines(gateway, '{}\nx\n{}');
    expect([answer.status, answer.body['code'], answer.headers.get('retry-after')]).toEqual([
      503,
      'log_unavailable',
      '3',
    ]);
  });

  it('tells the items behind a failed append, and reads no further', async () => {
    const appended: number[] = [];
    const append: Append = (records) => {
      appended.push(records.length);
      if (appended.length > 1) return Promise.reject(new CarillonError('overloaded', 'later'));
      return Promise.resolve(records.map((_, at) => at));
    };
    const gateway = await fixture.start({}, logThat(append));
    const connection = rawConnection(gateway.port);
    connection.send(`${headOf({ 'transfer-encoding': 'chunked' })}3\r\n{}\n\r\n`);
    await expect.poll(() => appended).toEqual([1]);
    connection.send('6\r\n{}\n{}\n\r\n');
    const answer = await connection.answer;
    expect(answer).toMatch(/^HTTP\/1\.1 207 /);
    const { items } = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))) as { items: readonly Item[] };
    expect(items.map(({ id, problem }) => (id ? 'ok' : problem?.['code']))).toEqual([
      'ok',
      'overloaded',
      'overloaded',
      'overloaded',
    ]);
    expect(appended).toEqual([1, 2]);
  });

  it('is named by a 503 behind the events that it took, if it is too slow for the others', async () => {
    const slow: Append = (records) =>
      new Promise((resolve) => void setTimeout(() => resolve(records.map((_, at) => at)), 400));
    const gateway = await fixture.start({ batchDeadline: 200 }, logThat(slow));
    const answer = await sendLines(gateway, `{"a":"${'x'.repeat(64 * 1024)}"}\n`.repeat(60));
    expect(answer.status).toBe(207);
    const items = itemsOf(answer);
    expect(items.slice(0, -1).every(({ id }) => id !== undefined)).toBe(true);
    expect(items.length).toBeLessThan(60);
    expect(items.at(-1)?.problem).toMatchObject({ status: 503, code: 'log_unavailable', line: items.length });
  });

  it('gets the lines that came before the connection broke, and never half a line', async () => {
    const appended: string[] = [];
    const append: Append = async (records) =>
      records.map(({ value }) => appended.push(new TextDecoder().decode(value)));
    const gateway = await fixture.start({}, logThat(append));
    const connection = rawConnection(gateway.port);
    connection.send(`${headOf({ 'content-length': '100' })}{"n":1}\n{"n":2}\n{"n":3}`);
    await expect.poll(() => appended).toEqual(['{"n":1}', '{"n":2}']);
    connection.end();
    await connection.answer;
    await fixture.stopGateways();
    expect(appended).toEqual(['{"n":1}', '{"n":2}']);
  });

  it('appends lines that arrive during an append as one group in order, and applies backpressure beyond 256 KiB', async () => {
    const held: { values: number[]; release: () => void }[] = [];
    const append: Append = (records) =>
      new Promise((resolve) => {
        const values = records.map(({ value }) => value.length);
        held.push({ values, release: () => resolve(values) });
      });
    const gateway = await fixture.start({}, logThat(append));
    const line = `{"a":"${'x'.repeat(64 * 1024)}"}\n`;
    const sending = sendLines(gateway, line.repeat(60));
    await expect.poll(() => held.length).toBe(1);
    for (let at = 0; at < held.length; at += 1) {
      held[at]?.release();
      await new Promise((resolve) => setImmediate(resolve));
      await expect.poll(() => held.length > at + 1 || held.flatMap(({ values }) => values).length === 60).toBe(true);
    }
    const answer = await sending;
    expect(itemsOf(answer)).toHaveLength(60);
    for (const { values } of held) expect(values.length).toBeLessThanOrEqual(7);
  });
});

const headOf = (headers: Readonly<Record<string, string>>): string =>
  [
    'POST /events/shop/orders HTTP/1.1',
    'host: x',
    'connection: close',
    `authorization: Bearer ${fixture.keys.backend}`,
    'content-type: application/x-ndjson',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    '\r\n',
  ].join('\r\n');
