import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createClient, type ClientOptions } from '../src/index.ts';

type Request = { readonly headers: IncomingMessage['headers']; readonly lines: readonly string[] };
type Answer = (response: ServerResponse, request: Request) => void;

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** A server that answers in this order, and the last of these ever after. */
async function serverThat(...answers: readonly Answer[]) {
  const requests: Request[] = [];
  const server = createServer((incoming, response) => {
    let body = '';
    incoming.setEncoding('utf8').on('data', (text: string) => (body += text));
    incoming.on('end', () => {
      const request = { headers: incoming.headers, lines: body.replace(/\n$/, '').split('\n') };
      requests.push(request);
      (answers[requests.length - 1] ?? answers.at(-1))?.(response, request);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = (more: Partial<ClientOptions> = {}) => createClient({ url, credential: 'crl_secret', ...more });
  return { requests, client };
}

const problem = (status: number, code: string, more: object = {}) => ({
  problem: { status, code, detail: `about ${code}`, request_id: 'rq_1', ...more },
});
/** Answers each line that is not blank. */
const answersWith =
  (result: (line: string, number: number) => object, retryAfter = '0'): Answer =>
  (response, { lines }) => {
    const items = lines.flatMap((line, at) => (line === '' ? [] : [result(line, at + 1)]));
    const status = items.some((item) => 'problem' in item) ? 207 : 202;
    response.writeHead(status, { 'retry-after': retryAfter }).end(JSON.stringify({ items }));
  };
const takesAll = answersWith((_line, number) => ({ id: `evt_${number}` }));
const refusesWhole =
  (status: number): Answer =>
  (response) =>
    response.writeHead(status, { 'retry-after': '0' }).end(JSON.stringify({ code: 'refused', detail: 'no' }));

const events = (count: number) => Array.from({ length: count }, (_, n) => ({ n }));

describe('sendBatch', () => {
  it('sends an event on each line and returns the ids in order', async () => {
    const { requests, client } = await serverThat(takesAll);
    const results = await client().sendBatch('shop/orders', events(3), { key: 'import' });
    expect(results).toEqual([{ id: 'evt_1' }, { id: 'evt_2' }, { id: 'evt_3' }]);
    expect(requests).toHaveLength(1);
    expect(requests[0]?.lines).toEqual(['{"n":0}', '{"n":1}', '{"n":2}']);
    expect(requests[0]?.headers).toMatchObject({
      authorization: 'Bearer crl_secret',
      'content-type': 'application/x-ndjson',
      'idempotency-key': 'import/1',
    });
  });

  it('sends nothing for no events', async () => {
    const { requests, client } = await serverThat(takesAll);
    expect([await client().sendBatch('shop/orders', []), requests]).toEqual([[], []]);
  });

  it('splits more than 1,000 events or 1 MiB into requests with separate keys', async () => {
    const { requests, client } = await serverThat(takesAll);
    expect(await client().sendBatch('shop/orders', events(2001), { key: 'k' })).toHaveLength(2001);
    expect(requests.map(({ lines }) => lines.length)).toEqual([1000, 1000, 1]);
    expect(requests.map(({ headers }) => headers['idempotency-key'])).toEqual(['k/1', 'k/2', 'k/3']);
    requests.length = 0;
    const large = Array.from({ length: 30 }, () => ({ text: 'ä'.repeat(120 * 1024) }));
    expect(await client().sendBatch('shop/orders', large)).toHaveLength(30);
    expect(requests.map(({ lines }) => lines.length)).toEqual([4, 4, 4, 4, 4, 4, 4, 2]);
  });

  it('retries only events that may succeed, with their old line numbers and bytes', async () => {
    const failing = answersWith((line, number) =>
      line.includes('1')
        ? problem(429, 'rate_limited')
        : line.includes('2')
          ? problem(400, 'bad')
          : { id: `evt_${number}` },
    );
    const { requests, client } = await serverThat(failing, takesAll);
    const sent = events(4);
    const sending = client().sendBatch('shop/orders', sent, { key: 'k' });
    for (const event of sent) event.n = 7;
    const results = await sending;
    expect(results.map(({ id, error }) => id ?? error?.code)).toEqual(['evt_1', 'evt_2', 'bad', 'evt_4']);
    expect(results[2]?.error).toMatchObject({ status: 400, mayPass: false, key: 'k/1:3', detail: 'about bad' });
    expect(requests.map(({ headers }) => headers['idempotency-key'])).toEqual(['k/1', 'k/1']);
    expect(requests[1]?.lines).toEqual(['', '{"n":1}', '', '']);
  });

  it.each([408, 429, 503])('retries the whole request after %d', async (status) => {
    const { requests, client } = await serverThat(refusesWhole(status), takesAll);
    expect(await client().sendBatch('shop/orders', events(2))).toEqual([{ id: 'evt_1' }, { id: 'evt_2' }]);
    expect(requests[1]).toMatchObject({ lines: requests[0]?.lines });
  });

  it('retries events that the server did not read', async () => {
    const stops: Answer = (response) =>
      response
        .writeHead(207, { 'retry-after': '0' })
        .end(JSON.stringify({ items: [{ id: 'evt_1' }, problem(503, 'overloaded')] }));
    const { requests, client } = await serverThat(stops, takesAll);
    const results = await client().sendBatch('shop/orders', events(4));
    expect(results.map(({ id }) => id)).toEqual(['evt_1', 'evt_2', 'evt_3', 'evt_4']);
    expect(requests[1]?.lines).toEqual(['', '{"n":1}', '{"n":2}', '{"n":3}']);
  });

  it.each([401, 403, 404])('gives up after %d, and sends no later part', async (status) => {
    const { requests, client } = await serverThat(refusesWhole(status));
    const results = await client().sendBatch('shop/orders', events(1001), { key: 'k' });
    expect(requests).toHaveLength(1);
    expect(results).toHaveLength(1001);
    expect(results[0]?.error).toMatchObject({ status, mayPass: false, key: 'k/1:1', attempts: 1 });
    expect(results[1000]?.error).toMatchObject({ status, mayPass: false, key: 'k/2:1', attempts: 0 });
  });

  it('gives up at the deadline, and returns which events may still succeed', async () => {
    const partly = answersWith(
      (_line, number) => (number === 1 ? { id: 'evt_1' } : problem(429, 'rate_limited')),
      '60',
    );
    const { client } = await serverThat(partly);
    const results = await client({ deadline: 5000 }).sendBatch('shop/orders', events(2));
    expect(results[0]).toEqual({ id: 'evt_1' });
    expect(results[1]?.error).toMatchObject({ code: 'rate_limited', mayPass: true });
  });

  it('does not count a response without results as success', async () => {
    const odd: Answer = (response) => response.writeHead(202).end('{"id":"evt_1"}');
    const { client } = await serverThat(odd);
    const [result] = await client({ deadline: 300 }).sendBatch('shop/orders', events(1));
    expect(result?.error).toMatchObject({ code: 'no_answer', mayPass: true });
  });

  it('returns an error for an event that is not JSON, and sends the others', async () => {
    const { requests, client } = await serverThat(takesAll);
    const odd = [{ n: 1 }, { n: 1n }, undefined as unknown as object, { n: 2 }];
    const results = await client().sendBatch('shop/orders', odd, { key: 'k' });
    expect(results.map(({ id, error }) => id ?? error?.code)).toEqual([
      'evt_1',
      'invalid_json',
      'invalid_json',
      'evt_4',
    ]);
    expect(results[1]?.error).toMatchObject({ mayPass: false, key: 'k/1:2', attempts: 1 });
    expect(requests[0]?.lines).toEqual(['{"n":1}', '', '', '{"n":2}']);
    expect(await client().sendBatch('shop/orders', [{ n: 1n }])).toHaveLength(1);
    expect(requests).toHaveLength(1);
  });

  it('returns an error for each event if the credential function throws', async () => {
    const { requests, client } = await serverThat(takesAll);
    const cause = new Error('signed out');
    const credential = (): string => {
      throw cause;
    };
    const results = await client({ credential }).sendBatch('shop/orders', events(1001));
    expect(results).toHaveLength(1001);
    expect(results[1000]?.error).toMatchObject({ code: 'no_answer', mayPass: true, cause });
    expect(requests).toEqual([]);
  });

  it('sends nothing if the key is too long', async () => {
    const { requests, client } = await serverThat(takesAll);
    const [result] = await client().sendBatch('shop/orders', events(1), { key: 'k'.repeat(241) });
    expect(result?.error).toMatchObject({ code: 'invalid_idempotency_key', mayPass: false });
    expect(await client().sendBatch('shop/orders', events(1), { key: 'k'.repeat(240) })).toEqual([{ id: 'evt_1' }]);
    expect(requests).toHaveLength(1);
  });
});
