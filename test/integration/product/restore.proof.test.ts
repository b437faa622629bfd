import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { openEmbedded } from '@carillon/adapter-embedded';
import { systemClock } from '@carillon/adapter-system';
import type { CheckBody, DeliveryBody } from '@carillon/contracts';
import { cli, startLedgerSmtp, startProduct, untilFound, type LedgerSmtp } from '@carillon/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readEvidence, type Evidence } from '../../harness/evidence.ts';
import { startPosting } from '../cluster/posting.ts';
import { openShop, order, scratch, shopFiles, shopOf, smtpDeployment, type Shop } from './shop.ts';

/*
 * A backup is made under load, the product goes on, and its folder is lost or given up. What a restore says that it will
 * do is held against what the mail server's book says that it did.
 */

type Told = {
  readonly unread: readonly { readonly topic: string; readonly from: number; readonly to: number }[];
  readonly waiting: number;
  readonly sending: number;
  readonly cancelled: number | null;
  readonly carried_over: null | {
    readonly deliveries: number;
    readonly lost: readonly { readonly from: number; readonly to: number }[];
  };
};

/** Events that wait for their mail while the backup is made. */
const BACKLOG = 40;
/** Milliseconds for one mail at most: the backlog lasts for seconds. */
const SLOW = 600;
const TIMEOUT_MS = 90_000;

let shop: Shop & { close(): Promise<void> };
let smtp: LedgerSmtp;
let place: Awaited<ReturnType<typeof scratch>>;
let backup: string;
/** Orders that were acknowledged before the backup was asked for, and after it was written. */
let before: ReadonlyMap<string, string>;
let after: ReadonlyMap<string, string>;
let known: Evidence;

beforeAll(async () => {
  place = await scratch();
  smtp = await startLedgerSmtp({ file: join(place.folder, 'mail.jsonl'), latency: SLOW });
  shop = await openShop({ files: shopFiles({ deployment: smtpDeployment(smtp.port) }) });
  backup = join(place.folder, 'shop.backup');
  const told = await post(shop, 'told', 3);
  for (const id of told.values()) await shop.delivered(id, 'SENT');
  before = new Map([...told, ...(await post(shop, 'before', BACKLOG))]);
  const load = startPosting(
    { gatewayUrl: shop.product.gatewayUrl, key: shop.key },
    { name: 'load', clients: 2, every: 50 },
  );
  expect(await shop.run(['backup', backup])).toMatchObject({ code: 0, stderr: '' });
  await cp(shop.dataDir, join(place.folder, 'copied'), { recursive: true });
  await load.finish();
  after = await post(shop, 'after', 5);
  // All of it is sent before the folder is given up: whatever goes out from now on goes out again.
  await quiet(shop);
  const sentOnce = await book();
  expect(new Set(sentOnce).size).toBe(sentOnce.length);
  expect(await shop.product.kill('SIGKILL')).toMatchObject({ signal: 'SIGKILL' });
  known = await evidenceOf(await restore('looked-at'));
}, TIMEOUT_MS * 4);
afterAll(async () => {
  await shop.close();
  await smtp.stop();
  await place.remove();
});

async function post(target: Shop, name: string, count: number): Promise<ReadonlyMap<string, string>> {
  const ids = Array.from({ length: count }, (_, at) => `${name}-${at}`);
  const taken = ids.map(async (id) => [id, await target.send(order(id), { 'idempotency-key': id })] as const);
  return new Map(await Promise.all(taken));
}

/** Until every record is read and nothing waits or is under way. */
async function quiet(target: Shop): Promise<void> {
  let quietLooks = 0;
  await untilFound(
    'nothing left to do',
    async () => {
      const { body } = await target.api<CheckBody>('POST', '/v1/doctor');
      const behind = body.steps.filter(({ step, detail }) => / on carillon\./.test(step) && !detail.startsWith('0 '));
      const open = [...(await target.deliveries('&state=WAITING')), ...(await target.deliveries('&state=SENDING'))];
      quietLooks = behind.length + open.length === 0 ? quietLooks + 1 : 0;
      // One look sees one queue after the other: what moved from one to the next meanwhile is seen by a later one.
      return quietLooks === 3 || undefined;
    },
    TIMEOUT_MS,
  );
}

async function evidenceOf(dataDir: string): Promise<Evidence> {
  const stores = await openEmbedded({ dataDir, clock: systemClock, holder: 'restore test' });
  try {
    return await readEvidence(stores);
  } finally {
    await stores.close();
  }
}

let told: Told;
/** Restores the backup into a folder of this name; what it said is in `told`. */
async function restore(name: string, ...flags: readonly string[]): Promise<string> {
  const dataDir = join(place.folder, name);
  const { code, stdout, stderr } = await cli(['restore', backup, '--no-erasures', '--json', ...flags], { dataDir });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  told = JSON.parse(stdout) as Told;
  return dataDir;
}

/** Starts over the folder, and lets it do what it does until nothing is left. */
async function over(dataDir: string, look: (restored: Shop) => Promise<void>): Promise<void> {
  const product = await startProduct({ dataDir });
  try {
    const restored = shopOf(product, place.folder, dataDir, shop.key);
    await quiet(restored);
    await look(restored);
  } finally {
    await product.kill('SIGKILL');
  }
}

const deliveryOf = (messageId: string | null): string => /^<(dlv_[^.]+)\./.exec(messageId ?? '')?.[1] ?? '';
/** The deliveries of the mails in the book, in their order. */
const book = async (): Promise<readonly string[]> =>
  (await smtp.entries()).map(({ message_id }) => deliveryOf(message_id));
const eventsOf = async (restored: Shop): Promise<ReadonlyMap<string, DeliveryBody>> =>
  new Map((await restored.deliveries()).map((one) => [one.event_id ?? '', one]));

it(
  'A backup made under load contains everything acknowledged before it; after a restore only its own open messages are sent again',
  async () => {
    for (const id of before.values()) expect([...known.events.values()]).toContain(id);
    for (const id of after.values()) expect([...known.events.values()]).not.toContain(id);
    const dataDir = await restore('plain');
    const waiting = known.deliveries.filter(({ state }) => state === 'WAITING');
    expect(told).toMatchObject({ waiting: waiting.length, cancelled: null, carried_over: null });
    const sentOnce = await book();

    await over(dataDir, async (restored) => {
      const found = await eventsOf(restored);
      for (const id of before.values()) expect(found.get(id)?.state).toMatch(/^(SENT|IN_DOUBT)$/);
    });
    const again = (await book()).slice(sentOnce.length);
    const unsent = new Map(known.deliveries.map(({ id, state }) => [id, state]));
    expect(new Set(again).size).toBe(again.length);
    expect(again.filter((id) => !['WAITING', undefined].includes(unsent.get(id as never)))).toEqual([]);
    expect(again).toEqual(expect.arrayContaining(waiting.map(({ id }) => id)));
    // Beyond what waited in the ledger, only records that it said are still to be done.
    const unread = told.unread.reduce((sum, { from, to }) => sum + to - from, 0);
    expect(again.length - waiting.length).toBeLessThanOrEqual(unread);
  },
  TIMEOUT_MS * 4,
);

it('A plain copy of the folder under load is refused at start, with the backup command to use', async () => {
  const ports = ['--gateway-port', '0', '--control-port', '0'];
  const { code, stderr } = await cli(['up', ...ports], { dataDir: join(place.folder, 'copied') });
  expect(code).toBe(1);
  expect(stderr).toMatch(/is a copy of a data folder that was in use: carillon up.*carillon backup.*carillon restore/s);
});

it(
  'With the newer folder at hand nothing is sent twice, not even when all events come again',
  async () => {
    const running = await startProduct({ dataDir: shop.dataDir });
    const held = await cli(['restore', backup, '--no-erasures', '--newer', shop.dataDir], {
      dataDir: join(place.folder, 'held'),
    });
    expect(held.code).toBe(1);
    expect(held.stderr).toContain('is held by carillon up');
    await running.kill('SIGKILL');

    const dataDir = await restore('carried', '--newer', shop.dataDir);
    const lost = told.carried_over?.lost.reduce((sum, { from, to }) => sum + to - from, 0) ?? 0;
    expect(lost).toBeGreaterThanOrEqual(after.size);
    expect(told.carried_over?.deliveries).toBeGreaterThanOrEqual(after.size + told.waiting);
    const sentOnce = await book();
    await over(dataDir, async (restored) => {
      await post(restored, 'before', BACKLOG);
      expect(await post(restored, 'after', after.size)).toEqual(after);
      await quiet(restored);
      const found = await eventsOf(restored);
      for (const id of [...before.values(), ...after.values()]) expect(found.get(id)?.state).toBe('SENT');
      const [one] = after.values();
      expect((await restored.run(['trace', one ?? ''])).stdout).toContain('carried over by a restore');
      expect(await restored.run(['doctor'])).toMatchObject({ code: 0 });
    });
    expect(await book()).toEqual(sentOnce);
    const { events } = await evidenceOf(dataDir);
    for (const id of [...before.values(), ...after.values()]) expect([...events.values()]).toContain(id);
  },
  TIMEOUT_MS * 4,
);

it(
  'Where the newer folder is lost, what the backup had not sent can be cancelled, and sent by a person',
  async () => {
    const dataDir = await restore('cancelled', '--cancel-unsent');
    const waiting = known.deliveries.filter(({ state }) => state === 'WAITING');
    expect(told).toMatchObject({ cancelled: waiting.length, waiting: 0, sending: 0 });
    const sentOnce = await book();
    await over(dataDir, async (restored) => {
      const found = await eventsOf(restored);
      for (const id of before.values()) expect(found.get(id)?.state).toMatch(/^(SENT|IN_DOUBT|CANCELLED)$/);
      expect(await book()).toEqual(sentOnce);
      const [cancelled] = await restored.deliveries('&state=CANCELLED');
      expect(cancelled).toMatchObject({ reason: 'operator_cancel' });
      expect(await restored.run(['deliveries', 'resend', cancelled?.id ?? ''])).toMatchObject({ code: 0 });
      await restored.delivered(cancelled?.event_id ?? '', 'SENT');
      // What comes from now on is nobody's past.
      await restored.delivered(await restored.send(order('new-after-restore')), 'SENT');
    });
    expect(await book()).toHaveLength(sentOnce.length + 2);
  },
  TIMEOUT_MS * 4,
);
