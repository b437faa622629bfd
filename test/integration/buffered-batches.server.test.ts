import { createClient } from '@carillon/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { rawConnection } from '../../apps/gateway/test/gateway-fixture.ts';
import { GOOD, prepareTokenFixture, type TokenFixture } from '../../apps/gateway/test/token-fixture.ts';
import type { RunningGateway } from '../../apps/gateway/src/index.ts';
import { signToken } from '@carillon/testing/tokens';

let fixture: TokenFixture;
let gateway: RunningGateway;
let verification = Promise.resolve();
beforeAll(async () => {
  fixture = await prepareTokenFixture();
  const { tokens } = fixture.backend;
  const verify: typeof tokens.verify = async (...asked) => {
    await verification;
    return tokens.verify(...asked);
  };
  gateway = await fixture.start({}, { tokens: { ...tokens, verify } });
});
afterAll(async () => {
  await fixture.stopGateways();
  await fixture.close();
});

/** A thousand events of 100 bytes. */
const events = (name: string) =>
  Array.from({ length: 1000 }, (_, n) => ({ name, n, filler: 'x'.repeat(73 - name.length - String(n).length) }));
const cloudEvents = (name: string) =>
  events(name).map((data, n) => ({ specversion: '1.0', type: 't', source: `/${name}`, id: String(n), data }));
const linesOf = (name: string): string =>
  events(name)
    .map((event) => `${JSON.stringify(event)}\n`)
    .join('');

/** Sends a request in one write, so that its body is buffered before it is read. Resolves to the ids of the answer. */
async function send(path: string, credential: string, type: string, body: string, sent?: () => Promise<void>) {
  const connection = rawConnection(gateway.port);
  const head = [
    `POST /events/shop/${path} HTTP/1.1`,
    'host: x',
    'connection: close',
    `authorization: Bearer ${credential}`,
    `content-type: application/${type}`,
    `content-length: ${body.length}`,
  ];
  connection.send(`${head.join('\r\n')}\r\n\r\n${body}`);
  await sent?.();
  const answer = await connection.answer;
  expect(answer.slice(0, 12)).toBe('HTTP/1.1 202');
  const { items } = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))) as { items: readonly { id?: string }[] };
  return items.map(({ id }) => id);
}

/** Returns the number of the event that each id has on the log. */
async function numbersOf(name: string, ids: readonly (string | undefined)[]): Promise<readonly unknown[]> {
  const byId = new Map((await fixture.records()).map(({ headers, value }) => [headers['event_id'], value]));
  return ids.map((id) => {
    const event = JSON.parse(new TextDecoder().decode(byId.get(id ?? ''))) as Readonly<Record<string, unknown>>;
    return event['name'] === name && event['n'];
  });
}
const EACH = Array.from({ length: 1000 }, (_, n) => n);

it('appends each line of a buffered body', async () => {
  const ids = await send('orders', fixture.keys.backend, 'x-ndjson', linesOf('lines'));
  expect(await numbersOf('lines', ids)).toEqual(EACH);
});

it('appends each item of a buffered list of CloudEvents', async () => {
  const body = JSON.stringify(cloudEvents('list'));
  const ids = await send('orders', fixture.keys.backend, 'cloudevents-batch+json', body);
  expect(await numbersOf('list', ids)).toEqual(EACH);
});

it('appends each line of a body that is buffered while its token is verified', async () => {
  let open = (): void => undefined;
  verification = new Promise((resolve) => (open = resolve));
  const token = await signToken(fixture.signing.auth, { claims: GOOD });
  const ids = await send('bulk', token, 'x-ndjson', linesOf('token'), async () => {
    for (let turn = 0; turn < 10; turn += 1) await fetch(`${gateway.address}/livez`);
    open();
  });
  expect(await numbersOf('token', ids)).toEqual(EACH);
});

it('appends each event of sendBatch', async () => {
  const client = createClient({ url: gateway.address, credential: fixture.keys.backend });
  const results = await client.sendBatch('shop/orders', events('client'));
  expect(
    await numbersOf(
      'client',
      results.map(({ id }) => id),
    ),
  ).toEqual(EACH);
});
