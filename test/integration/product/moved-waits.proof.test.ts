import { cpSync } from 'node:fs';
import { join } from 'node:path';
import type { DeliveryBody } from '@carillon/contracts';
import { cli, startLedgerSmtp, startProduct, untilFound, type LedgerSmtp } from '@carillon/testing';
import { startKafka, startMongoDb, startRegistry } from '@carillon/testing/services';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { openShop, order, scratch, shopFiles, shopOf, smtpDeployment, type Shop } from './shop.ts';

/** Waits that are moved and restored. */
const COUNT = Number(process.env['MOVED_WAITS'] ?? 5_000);
/** Each tenth wait is cancelled before. */
const CANCELLED = Math.floor(COUNT / 10);
const CONCURRENCY = 25;
/** Events that start no wait, from which the time for the others is estimated. */
const SAMPLE = 200;
const TIMEOUT_MS = 600_000 + COUNT * 100;
const NOTIFICATION = 'workspaces/shop/notifications/order-paid.yaml';

let smtp: LedgerSmtp;
let shop: Shop & { close(): Promise<void> };
let place: Awaited<ReturnType<typeof scratch>>;
let backup: string;
/** Deadline of all waits. */
let due = 0;

const idOf = (index: number): string => `W-${String(index).padStart(5, '0')}`;
const emailOf = (index: number): string => `w${index}@example.com`;
const firing = Array.from({ length: COUNT - CANCELLED }, (_, index) => emailOf(index + CANCELLED)).toSorted();

beforeAll(async () => {
  place = await scratch();
  smtp = await startLedgerSmtp({ file: join(place.folder, 'mail.jsonl') });
  const files = shopFiles({ deployment: smtpDeployment(smtp.port) });
  const waiting = `${files[NOTIFICATION]}`.replace(
    'event.status == "paid" && event.total > 100',
    'event.status == "placed"\n    at: event.due\n    if_past: notify\n    unless: event.status == "paid"',
  );
  shop = await openShop({ files: { ...files, [NOTIFICATION]: waiting } });
  const begun = Date.now();
  await forEachOf(SAMPLE, (index) => shop.send(order(`S-${index}`, { status: 'viewed', email: 's@example.com' })));
  // Three times what the events take, because the product also has to start the waits before their deadline.
  due = Date.now() + 90_000 + 3 * COUNT * ((Date.now() - begun) / SAMPLE);
  const eventAt = (index: number, status: string) =>
    order(idOf(index), { status, email: emailOf(index), due: new Date(due).toISOString() });
  await forEachOf(COUNT, (index) => shop.send(eventAt(index, 'placed')));
  await forEachOf(CANCELLED, (index) => shop.send(eventAt(index, 'paid')));
  await untilWaiting(shop, COUNT - CANCELLED);
  backup = join(place.folder, 'shop.backup');
  expect(await shop.run(['backup', backup])).toMatchObject({ code: 0 });
  expect(await shop.product.kill('SIGTERM')).toEqual({ code: 0, signal: null });
  expect(Date.now()).toBeLessThan(due);
}, TIMEOUT_MS);
afterAll(async () => {
  await shop?.close();
  await smtp?.stop();
  await place?.remove();
});

async function forEachOf(count: number, work: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) await work(index);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, lane));
}

const untilWaiting = (target: Shop, count: number): Promise<true> =>
  untilFound(
    `${count} entities wait`,
    async () => {
      const { body } = await target.api<{ entities: number }>(
        'GET',
        '/v1/workspaces/shop/rules/order-paid.paid/waiting',
      );
      return body.entities === count ? true : undefined;
    },
    TIMEOUT_MS,
  );

/** Starts over a folder, waits until no entity waits and every delivery has this state, and returns who got mail in that time. */
async function addressesNotified(
  dataDir: string,
  state: DeliveryBody['state'],
  env: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> {
  const before = (await smtp.entries()).length;
  const product = await startProduct({ dataDir, env });
  try {
    const started = shopOf(product, place.folder, dataDir, shop.key);
    await untilWaiting(started, 0);
    await untilFound(
      `all deliveries are ${state}`,
      async () => {
        const all = await deliveriesOf(started);
        return all?.length === firing.length && all.every((delivery) => delivery.state === state) ? true : undefined;
      },
      TIMEOUT_MS,
    );
    return (await smtp.entries())
      .slice(before)
      .flatMap(({ to }) => to)
      .toSorted();
  } finally {
    await product.kill('SIGTERM');
  }
}

/** Returns all deliveries of the shop. Null: a busy store has not answered in time. */
async function deliveriesOf(target: Shop): Promise<readonly DeliveryBody[] | null> {
  const all: DeliveryBody[] = [];
  for (let cursor = ''; ;) {
    const { status, body } = await target.api<{ items: DeliveryBody[]; next: string | null }>(
      'GET',
      `/v1/workspaces/shop/deliveries?limit=500${cursor}`,
    );
    if (status === 503) return null;
    expect({ status, body }).toMatchObject({ status: 200 });
    all.push(...body.items);
    if (body.next === null) return all;
    cursor = `&cursor=${encodeURIComponent(body.next)}`;
  }
}

async function restore(name: string, ...flags: readonly string[]): Promise<string> {
  const dataDir = join(place.folder, name);
  const { code, stdout, stderr } = await cli(['restore', backup, '--no-erasures', '--json', ...flags], { dataDir });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(JSON.parse(stdout)).toMatchObject({ waits: COUNT - CANCELLED });
  return dataDir;
}

describe('waits in a backup', () => {
  it(
    'fire once each after a restore',
    async () => {
      expect(await addressesNotified(await restore('plain'), 'SENT')).toEqual(firing);
    },
    TIMEOUT_MS * 2,
  );

  it(
    'become CANCELLED messages after a restore with --cancel-unsent',
    async () => {
      const dataDir = await restore('cancelled', '--cancel-unsent');
      expect(await addressesNotified(dataDir, 'CANCELLED')).toEqual([]);
    },
    TIMEOUT_MS * 2,
  );

  it(
    'fire for nobody again if the folder that fired them is carried over',
    async () => {
      const dataDir = await restore('carried', '--newer', join(place.folder, 'plain'));
      const before = (await smtp.entries()).length;
      const product = await startProduct({ dataDir });
      try {
        await untilWaiting(shopOf(product, place.folder, dataDir, shop.key), 0);
      } finally {
        await product.kill('SIGTERM');
      }
      expect((await smtp.entries()).length).toBe(before);
    },
    TIMEOUT_MS * 2,
  );
});

describeWith(['kafka', 'mongodb', 'registry'], 'waits that move to a cluster', () => {
  const opened: (() => Promise<void>)[] = [];
  afterAll(async () => {
    for (const end of opened) await end();
  });

  it(
    'fire once each there',
    async () => {
      const services = await Promise.all([startKafka(), startMongoDb(), startRegistry()]);
      const [kafka, mongodb, registry] = services;
      opened.push(...services.map((service) => () => service.stop()));
      const env = {
        CARILLON_BROKERS: kafka.brokers.join(','),
        CARILLON_SINGLE_BROKER: 'true',
        CARILLON_MONGODB_URL: mongodb.url,
        CARILLON_MONGODB_DATABASE: `moved_waits_${process.pid}`,
        CARILLON_SCHEMA_REGISTRY_URL: registry.url,
      };
      const file = join(place.folder, 'shop.move');
      const exported = await cli(['move', 'export', file, '--data-dir', shop.dataDir]);
      expect(exported).toMatchObject({
        code: 0,
        stdout: expect.stringContaining(`${COUNT} states of rules`) as string,
      });
      const dataDir = join(place.folder, 'cluster');
      cpSync(join(shop.dataDir, 'keys'), join(dataDir, 'keys'), { recursive: true });
      for (const [words, other] of [
        ['added', 0],
        ['was there already', 1],
      ] as const) {
        const { code, stdout } = await cli(['move', 'import', file], { dataDir, env });
        expect(code).toBe(0);
        expect(stdout.split('; ')[other]).toMatch(new RegExp(`${words}.* ${COUNT} states of rules`));
      }
      expect(await addressesNotified(dataDir, 'SENT', env)).toEqual(firing);
    },
    TIMEOUT_MS * 3,
  );
});
