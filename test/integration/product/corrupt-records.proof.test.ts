import type { DeadLetterBody } from '@carillon/contracts';
import type { NewRecord, TopicName } from '@carillon/ports';
import { startProduct, untilFound } from '@carillon/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openShop, order, restartOver, shopFiles, shopOf, type Shop } from './shop.ts';

const text = (value: string): Uint8Array => new TextEncoder().encode(value);
const facts = { kind: 'event', enc: '0', workspace: 'shop', stream: 'shop/orders' };

/** The same broken record for every partition of a topic, so that each of them has to get past it. */
const everywhere = (
  topic: TopicName,
  count: number,
  value: Uint8Array,
  headers: NewRecord['headers'] = {},
): NewRecord[] =>
  Array.from({ length: count }, (_, partition) => ({ topic, partition, key: 'broken', value, headers }));

let closed: () => Promise<void>;
let shop: Shop;
let partitions = 0;
let ofOutcomes = 0;

/** Writes to the log while the product is stopped, then starts it over the same folder. */
beforeAll(async () => {
  const opened = await openShop();
  await opened.delivered(await opened.send(order('before-1', { email: 'before@example.com' })), 'SENT');
  const restarted = await restartOver(opened, async ({ log }) => {
    partitions = log.partitions('carillon.events');
    ofOutcomes = log.partitions('carillon.outcomes');
    await log.append([
      ...everywhere('carillon.events', partitions, text('{"order_id": "torn'), { ...facts, event_id: 'evt_TORN' }),
      ...everywhere('carillon.events', partitions, text('{}'), { kind: 'surprise' }),
      ...everywhere('carillon.events', partitions, text('{}'), { kind: 'marker', config: 'many', semantics: '1' }),
      ...everywhere('carillon.intents', partitions, text('no frame')),
      ...everywhere('carillon.intents', partitions, Uint8Array.of(0, 0, 0, 0xff, 0xff, 1)),
      ...everywhere('carillon.outcomes', ofOutcomes, text('no frame')),
      ...everywhere('carillon.config', 1, text('no frame')),
    ]);
  });
  shop = restarted;
  closed = () => restarted.close();
});
afterAll(() => closed());

const letters = async (): Promise<readonly DeadLetterBody[]> => {
  const { code, stdout } = await shop.run(['dead-letters', '--json', '--limit', '200']);
  expect(code).toBe(0);
  return (JSON.parse(stdout) as { items: DeadLetterBody[] }).items;
};

describe('Unreadable records', () => {
  it('do not block: every partition continues behind them', async () => {
    const events = await Promise.all(
      Array.from({ length: 24 }, (_, at) => shop.send(order(`after-${at}`, { email: `after-${at}@example.com` }))),
    );
    for (const id of events) await shop.delivered(id, 'SENT');
    const rows = await shop.api<{ items: { position: string }[] }>('GET', '/v1/workspaces/shop/events?limit=100');
    const used = new Set(rows.body.items.map(({ position }) => position.split('@')[0]));
    expect(used.size).toBeGreaterThan(partitions / 2);
  });

  it('become dead letters with position and reason, once each', async () => {
    const found = await untilFound('a dead letter for every broken record', async () => {
      const all = await letters();
      return all.length >= partitions * 5 + ofOutcomes ? all : undefined;
    });
    const of = (topic: string, reason: string): number =>
      found.filter((one) => one.position.startsWith(`${topic}/`) && one.reason.startsWith(`${reason}: `)).length;
    const reasons = [
      ...new Set(found.map((one) => `${one.position.split('/')[0]} ${one.stage} ${one.reason}`)),
    ].toSorted();
    expect(reasons).toMatchInlineSnapshot(`
      [
        "carillon.events evaluate invalid_header: A marker needs the headers config and semantics, both numbers.",
        "carillon.events evaluate invalid_json: Expected the end of a string, but the body ended.",
        "carillon.events evaluate unknown_kind: The record is of no known kind.",
        "carillon.intents deliver not_framed: the first byte is 110, expected 0",
        "carillon.intents deliver unknown_schema: no schema 65535 of carillon.intents-value is known here",
        "carillon.outcomes project not_framed: the first byte is 110, expected 0",
      ]
    `);
    expect(of('carillon.intents', 'not_framed')).toBe(partitions);
    expect(of('carillon.intents', 'unknown_schema')).toBe(partitions);
    expect(new Set(found.map((one) => one.id)).size).toBe(found.length);
    const { stdout } = await shop.run(['dead-letters', '--limit', '200']);
    expect(stdout).toMatch(/carillon\.intents\/0@\d+ .*not_framed/);
    const metrics = await (await fetch(`${shop.product.controlUrl}/metrics`)).text();
    expect(metrics).toMatch(/carillon_dead_letters_total\{stage="deliver"\} \d\d/);
    expect(await shop.run(['doctor'])).toMatchObject({ code: 0 });
  });

  it('in the configuration are skipped: the previous configuration stays, and the next change is applied', async () => {
    const files = await shop.api<{ files: Record<string, string> }>('GET', '/v1/configuration/export');
    expect(Object.keys(files.body.files)).toContain('workspaces/shop/notifications/order-paid.yaml');
    const raised = shopFiles()['workspaces/shop/notifications/order-paid.yaml']?.replace('> 100', '> 110') ?? '';
    const { number, new_number: next } = await shop.apply({
      ...shopFiles(),
      'workspaces/shop/notifications/order-paid.yaml': raised,
    });
    expect(next).toBe(number + 1);
    const event = await shop.send(order('config-1', { email: 'config@example.com' }));
    expect(await shop.delivered(event, 'SENT')).toMatchObject({ config_number: next });
  });

  it('remain dead letters after a restart, without new ones', async () => {
    const before = (await letters()).map((one) => one.id).toSorted();
    await shop.product.kill('SIGKILL');
    const product = await startProduct({ dataDir: shop.dataDir });
    shop = shopOf(product, shop.folder, shop.dataDir, shop.key);
    const event = await shop.send(order('restart-1', { email: 'restart@example.com' }));
    await shop.delivered(event, 'SENT');
    expect((await letters()).map((one) => one.id).toSorted()).toEqual(before);
    const old = closed;
    closed = async () => {
      await product.kill('SIGKILL');
      await old();
    };
  });

  it('are appended again by redrive, and return as marked dead letters while the cause remains', async () => {
    const [letter] = (await letters()).filter((one) => one.position.startsWith('carillon.intents/'));
    if (!letter) throw new Error('there is none');
    const redriven = await shop.run(['dead-letters', 'redrive', letter.id]);
    expect(redriven).toMatchObject({ code: 0, stderr: '' });
    expect(redriven.stdout).toContain(`${letter.id} is processed again`);
    const again = await untilFound('its return', async () => {
      const all = await letters();
      return all.find(
        (one) => one.id !== letter.id && one.at > letter.at && one.position.startsWith('carillon.intents/'),
      );
    });
    expect(again).toMatchObject({ reason: letter.reason, redriven_at: null });
    expect((await letters()).find((one) => one.id === letter.id)?.redriven_at).not.toBeNull();
    const outcome = (await letters()).find((one) => one.position.startsWith('carillon.outcomes/'));
    const refused = await shop.run(['dead-letters', 'redrive', outcome?.id ?? '']);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('carillon.outcomes are not redriven');
  });
});
