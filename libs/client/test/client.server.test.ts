import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createClient, SendError, type ClientOptions, type Repeat } from '../src/index.ts';

type Answer = (response: ServerResponse, request: IncomingMessage) => void;
type Seen = { readonly path: string; readonly headers: IncomingMessage['headers']; readonly body: string };

const taken: Answer = (response) =>
  response.writeHead(202, { 'content-type': 'application/json' }).end('{"id":"ev_1"}');
const says =
  (status: number, code: string, headers: Readonly<Record<string, string>> = {}): Answer =>
  (response) =>
    response
      .writeHead(status, { 'content-type': 'application/problem+json', ...headers })
      .end(JSON.stringify({ code, detail: `about ${code}`, request_id: 'rq_1', pointer: '/total' }));
const cutsOff: Answer = (response) => response.destroy();

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** A server that answers in this order, and the last of these ever after. */
async function serverThat(...answers: readonly Answer[]) {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      seen.push({ path: request.url ?? '', headers: request.headers, body });
      (answers[seen.length - 1] ?? answers.at(-1))?.(response, request);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const repeats: Repeat[] = [];
  const client = (more: Partial<ClientOptions> = {}) =>
    createClient({
      url: `http://127.0.0.1:${port}/`,
      credential: 'crl_secret',
      onRepeat: (repeat) => repeats.push(repeat),
      ...more,
    });
  return { seen, client, repeats, port };
}

const refusal = (sending: Promise<unknown>): Promise<SendError> =>
  sending.then(
    () => Promise.reject(new Error('it was sent')),
    (error: unknown) => {
      expect(error).toBeInstanceOf(SendError);
      return error as SendError;
    },
  );

describe('An event that a client sends', () => {
  it('is one request with key, credential and trace if it is accepted at once', async () => {
    const { seen, client } = await serverThat(taken);
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const sent = await client().send('shop/orders paid', { total: 120 }, { key: 'order/1', traceparent });
    expect(sent).toEqual({ id: 'ev_1', key: 'order/1', attempts: 1 });
    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatchObject({
      path: '/events/shop/orders%20paid',
      body: '{"total":120}',
      headers: {
        authorization: 'Bearer crl_secret',
        'content-type': 'application/json',
        'idempotency-key': 'order/1',
        traceparent,
      },
    });
  });

  it('is retried with one key and one body, even if its owner changes the object meanwhile', async () => {
    const { seen, client, repeats } = await serverThat(cutsOff, says(503, 'overloaded', { 'retry-after': '0' }), taken);
    const event = { total: 1 };
    const sending = client().send('shop/orders', event);
    event.total = 2;
    const sent = await sending;
    expect(sent.attempts).toBe(3);
    expect(new Set(seen.map(({ headers }) => headers['idempotency-key']))).toEqual(new Set([sent.key]));
    expect(seen.map(({ body }) => body)).toEqual(Array(3).fill('{"total":1}'));
    expect(repeats.map(({ failure }) => failure.code)).toEqual(['no_answer', 'overloaded']);
  });

  it.each([408, 429, 500, 502, 503])('is retried after %d', async (status) => {
    const { client } = await serverThat(says(status, 'later', { 'retry-after': '0' }), taken);
    expect(await client().send('shop/orders', {})).toMatchObject({ attempts: 2 });
  });

  it.each([400, 403, 404, 413, 422])('is not retried after %d, and rejects with the response', async (status) => {
    const { seen, client } = await serverThat(says(status, 'invalid_event'));
    const error = await refusal(client().send('shop/orders', {}, { key: 'k' }));
    expect(error).toMatchObject({
      status,
      code: 'invalid_event',
      detail: 'about invalid_event',
      requestId: 'rq_1',
      pointer: '/total',
      key: 'k',
      attempts: 1,
      mayPass: false,
    });
    expect(JSON.stringify(error) + String(error)).not.toContain('crl_secret');
    expect(seen).toHaveLength(1);
  });

  it('waits as long as Retry-After says', async () => {
    const { client, repeats } = await serverThat(says(503, 'overloaded', { 'retry-after': '1' }), taken);
    const began = performance.now();
    await client().send('shop/orders', {});
    expect(repeats[0]?.wait).toBe(1000);
    expect(performance.now() - began).toBeGreaterThanOrEqual(990);
  });

  it('is given up at once if Retry-After is beyond the deadline', async () => {
    const { seen, client } = await serverThat(says(503, 'log_unavailable', { 'retry-after': '3600' }));
    const error = await refusal(client({ deadline: 30_000 }).send('shop/orders', {}));
    expect(error).toMatchObject({ code: 'log_unavailable', attempts: 1, mayPass: true });
    expect(seen).toHaveLength(1);
  });

  it('is given up at the deadline if nothing responds, and may be sent again', async () => {
    const { seen, client } = await serverThat(() => undefined);
    const error = await refusal(client({ deadline: 300, attemptTimeout: 100 }).send('shop/orders', {}));
    expect(error).toMatchObject({ status: 0, code: 'no_answer', mayPass: true });
    expect(seen.length).toBeGreaterThanOrEqual(1);
  });

  it('is not retried after its sender has aborted it', async () => {
    const { seen, client } = await serverThat(says(503, 'overloaded', { 'retry-after': '20' }));
    const ending = new AbortController();
    const sending = client({ onRepeat: () => ending.abort() }).send('shop/orders', {}, { signal: ending.signal });
    expect(await refusal(sending)).toMatchObject({ code: 'overloaded', attempts: 1, mayPass: true });
    expect(seen).toHaveLength(1);
  });

  it('rejects with a SendError whose cause is the error of the credential function', async () => {
    const cause = new Error('the vault is sealed');
    const { seen, client } = await serverThat(taken);
    const credential = (): Promise<string> => Promise.reject(cause);
    const error = await refusal(client({ credential }).send('shop/orders', {}));
    expect(error).toMatchObject({ name: 'SendError', code: 'no_answer', mayPass: true, attempts: 0, cause });
    expect(seen).toEqual([]);
  });

  it('gets a renewed credential once if the first was refused', async () => {
    const { seen, client } = await serverThat(says(401, 'unauthorized'), taken);
    const asked: boolean[] = [];
    const credential = ({ renew }: { readonly renew: boolean }): string => {
      asked.push(renew);
      return renew ? 'new' : 'old';
    };
    await client({ credential }).send('shop/orders', {});
    expect(asked).toEqual([false, true]);
    expect(seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer old', 'Bearer new']);
    const refused = await serverThat(says(401, 'unauthorized'));
    expect(await refusal(refused.client({ credential }).send('shop/orders', {}))).toMatchObject({
      attempts: 2,
      mayPass: false,
    });
    const fixed = await serverThat(says(401, 'unauthorized'));
    expect(await refusal(fixed.client().send('shop/orders', {}))).toMatchObject({ attempts: 1 });
  });

  it('is never sent to the target of a redirect', async () => {
    const other = await serverThat(taken);
    const { client } = await serverThat((response) =>
      response.writeHead(307, { location: `http://127.0.0.1:${other.port}/events/shop/orders` }).end(),
    );
    expect(await refusal(client().send('shop/orders', {}))).toMatchObject({ status: 307, mayPass: false });
    expect(other.seen).toEqual([]);
  });

  it('rejects with the status if a proxy responds with a page, however long', async () => {
    const { client } = await serverThat((response) => response.writeHead(404).end(`<html>${'x'.repeat(5_000_000)}`));
    expect(await refusal(client().send('shop/orders', {}))).toMatchObject({ status: 404, code: 'unknown' });
  });
});

it.each(['', 'shop', 'ftp://example.com', 'https://ada:secret@example.com'])(
  'A client for %j is refused when it is created',
  (url) => {
    expect(() => createClient({ url, credential: 'key' })).toThrow(TypeError);
  },
);
