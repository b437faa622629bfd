import { createHmac } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { CHANGED_BY_OWNER, foldConfiguration } from '@carillon/domain/configuration';
import { forgeToken, inSeconds } from '@carillon/testing/tokens';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { GatewayConfig, GatewayPorts, GatewayTelemetry, RunningGateway } from '../src/index.ts';
import { post, SILENT_TELEMETRY } from './gateway-fixture.ts';
import { GOOD, prepareTokenFixture, type TokenFixture } from './token-fixture.ts';

/*
 * What strangers and the workspace `shop` do must not keep `blog` from being answered. Nothing is measured here, since a busy
 * machine would break it; test/integration/product/fairness.proof.test.ts measures.
 */

let fixture: TokenFixture;
const opened: Socket[] = [];
beforeAll(async () => {
  fixture = await prepareTokenFixture();
  const security = { api_keys: ['backend'] };
  const record = {
    id: 'req_3',
    at: '2026-01-01T00:00:00.000Z',
    by: CHANGED_BY_OWNER,
    changes: [
      { ref: { kind: 'stream' as const, workspace: 'blog', name: 'news' }, based_on: null, body: { security } },
    ],
  };
  fixture.configuration.current = foldConfiguration(fixture.configuration.current, record, 2).configuration;
});
afterEach(async () => {
  for (const socket of opened.splice(0)) socket.destroy();
  await fixture.stopGateways();
});
afterAll(() => fixture.close());

type Refusals = Map<string, number>;
const sum = (refusals: Refusals): number => refusals.values().reduce((all, one) => all + one, 0);

async function start(
  config: Partial<GatewayConfig> = {},
  ports: Partial<GatewayPorts> = {},
): Promise<{ readonly gateway: RunningGateway; readonly refusals: Refusals }> {
  const refusals: Refusals = new Map();
  const telemetry: GatewayTelemetry = {
    ...SILENT_TELEMETRY,
    cutOff: (why) => void refusals.set(why, (refusals.get(why) ?? 0) + 1),
  };
  return { gateway: await fixture.start(config, { telemetry, ...ports }), refusals };
}

type Client = { send(text: string): void; text(): string; open(): boolean };

/** A connection of a stranger, or of somebody in `shop`, from an address of its own. */
function client(port: number, localAddress = '127.0.0.2'): Client {
  let text = '';
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  opened.push(socket);
  socket
    .setEncoding('latin1')
    .on('data', (chunk) => (text += chunk))
    .on('error', () => undefined);
  return { send: (more) => void socket.write(more), text: () => text, open: () => !socket.destroyed };
}
const clients = (count: number, port: number): readonly Client[] => Array.from({ length: count }, () => client(port));

const head = (path: string, headers: readonly string[], length: number): string =>
  [
    `POST ${path} HTTP/1.1`,
    'host: x',
    'content-type: application/json',
    ...headers,
    `content-length: ${length}`,
    '',
    '',
  ].join('\r\n');
const withKey = (key: string): string => `authorization: Bearer ${key}`;
const statusesOf = (some: readonly Client[]): readonly string[] =>
  some.map((one) => /^HTTP\/1\.1 (\d+)/.exec(one.text())?.[1] ?? 'none');

/** Events of `blog`, one after the other; each has to be taken. */
async function others(gateway: RunningGateway, count = 20): Promise<void> {
  for (let at = 0; at < count; at += 1) {
    const answer = await post(gateway, 'blog/news', fixture.keys.blog, `{"n":${at}}`);
    expect([answer.status, answer.text]).toEqual([202, expect.stringContaining('evt_')]);
  }
}

const SIGNED = 'x-signature: 0000000000000000000000000000000000000000';
const segmentCall = JSON.stringify({ type: 'identify', userId: 'ada', traits: {} });
const signature = `x-signature: ${createHmac('sha1', 'first-secret').update(segmentCall).digest('hex')}`;
const genuine = head('/cohorts/shop/segment', [signature], segmentCall.length) + segmentCall;

describe('bodies that do not come', () => {
  test('do not block other senders, although their key is valid, and are ended', async () => {
    const { gateway, refusals } = await start();
    const slow = clients(520, gateway.port);
    for (const one of slow) one.send(`${head('/events/shop/orders', [withKey(fixture.keys.backend)], 100)}{`);
    // There are 512 places.
    await expect.poll(() => sum(refusals)).toBeGreaterThanOrEqual(8);
    await others(gateway);
    // The same key is of use again as soon as they are seen to be slow.
    await expect.poll(() => statusesOf(slow).filter((status) => status === 'none'), { interval: 200 }).toEqual([]);
    for (const status of statusesOf(slow)) expect(status).toMatch(/^(408|503)$/);
    expect((await post(gateway, 'shop/orders', fixture.keys.backend)).status).toBe(202);
  });

  test('on a cohort webhook without signature do not block events or signed webhook calls', async () => {
    const { gateway, refusals } = await start();
    const slow = clients(520, gateway.port);
    for (const one of slow) one.send(`${head('/cohorts/shop/segment', [SIGNED], 100)}{`);
    await expect.poll(() => refusals.get('unproved') ?? 0).toBeGreaterThan(300);
    await others(gateway);
    expect((await post(gateway, 'shop/orders', fixture.keys.backend)).status).toBe(202);
    const platform = client(gateway.port, '127.0.0.3');
    platform.send(genuine);
    await expect.poll(() => statusesOf([platform])).toEqual(['200']);
  });
});

test('the budget of bytes is one for events and for cohorts', async () => {
  const release: (() => void)[] = [];
  const append = (): Promise<readonly number[]> => new Promise((resolve) => release.push(() => resolve([0])));
  const { gateway } = await start(
    { maxInFlightBytes: 4_000, maxBodyBytes: 4_000 },
    { log: { logId: fixture.backend.log.logId, partitions: () => 8, append } },
  );
  const cohort = client(gateway.port);
  const members = JSON.stringify({
    cohort: 'c',
    action: 'add',
    user_ids: Array.from({ length: 90 }, (_, at) => `user number ${at}`),
  });
  expect(members.length).toBeGreaterThan(1_500);
  cohort.send(head('/cohorts/shop/generic', ['authorization: Bearer first-secret'], members.length) + members);
  await expect.poll(() => release.length).toBe(1);
  const event = await post(gateway, 'shop/orders', fixture.keys.backend, `{"a":"${'x'.repeat(600)}"}`);
  expect([event.status, event.body['code']]).toEqual([503, 'overloaded']);
  for (const letGo of release) letGo();
  await expect.poll(() => statusesOf([cohort])).toEqual(['202']);
});

test('pipelined requests, of a stranger and of a key: everybody else is taken meanwhile', async () => {
  const { gateway } = await start();
  const strangers = clients(3, gateway.port);
  for (const one of strangers) one.send('GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(1_000));
  const [greedy] = clients(1, gateway.port);
  greedy?.send(`${head('/events/shop/orders', [withKey(fixture.keys.backend)], 2)}{}`.repeat(300));
  await others(gateway);
  await expect.poll(() => greedy?.text().match(/HTTP\/1\.1 202 /g)?.length).toBe(300);
  for (const one of strangers) expect(one.text()).not.toContain('carillon_');
});

test('idle connections of one address make room for others, and for that address too', async () => {
  const { gateway } = await start({ http: { maxConnections: 64, maxConnectionsPerAddress: 32 } });
  clients(200, gateway.port);
  await others(gateway, 5);
  const late = client(gateway.port);
  late.send('GET /livez HTTP/1.1\r\nhost: x\r\n\r\n');
  await expect.poll(() => statusesOf([late])).toEqual(['200']);
});

test('forged tokens are refused as ever, and everybody else is taken meanwhile', async () => {
  const { gateway, refusals } = await start();
  const claims = { ...GOOD, exp: inSeconds(300) };
  const forgers = clients(300, gateway.port);
  forgers.forEach((one, at) => {
    const token = forgeToken({ alg: 'ES256', kid: 'a-1', typ: 'JWT' }, { ...claims, jti: at }, 'A'.repeat(86));
    one.send(`${head('/events/shop/app', [withKey(token)], 2)}{}`);
  });
  await others(gateway);
  await expect.poll(() => statusesOf(forgers).filter((status) => status === 'none')).toEqual([]);
  const refused = refusals.get('unproved') ?? 0;
  expect(statusesOf(forgers).filter((status) => status === '503')).toHaveLength(refused);
  expect(statusesOf(forgers).filter((status) => status === '401')).toHaveLength(300 - refused);
});
