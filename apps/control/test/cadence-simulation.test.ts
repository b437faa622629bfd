import { setImmediate as turns } from 'node:timers/promises';
import type { SimulatedCadenceBody } from '@carillon/contracts';
import { findResource } from '@carillon/domain/configuration';
import { deliveryOf } from '@carillon/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deploymentOwner, type Principal } from '../src/access/principal.ts';
import { planResources } from '../src/resources/plan-resources.ts';
import { accessOf, config, personWith } from './control-fixture.ts';
import { buildControl, type Control } from '../src/index.ts';
import { MAIL, openResourceFixture, ORDERS, PAID, SHOP, type ResourceFixture } from './resource-fixture.ts';

const HOUR = 3_600_000;
const OWNER = deploymentOwner('session');
let fixture: ResourceFixture;
let control: Control | null = null;

beforeEach(async () => {
  fixture = await openResourceFixture();
  const of = (kind: 'workspace' | 'stream' | 'template' | 'notification', name: string, body: unknown) => ({
    ref: { kind, workspace: 'shop', name },
    body,
  });
  const { record } = await planResources(
    {
      put: [
        of('workspace', '', SHOP),
        of('stream', 'orders', ORDERS),
        of('template', 'order-paid', MAIL),
        of('notification', 'order-paid', PAID),
      ],
      remove: [],
    },
    fixture.ports,
  );
  await fixture.topology.publish(...record);
});
afterEach(async () => {
  await control?.app.close();
  await fixture.close();
  control = null;
});

async function simulate(payload: object, who: Principal = OWNER) {
  control ??= await buildControl(config, fixture.ports, { access: accessOf(who) });
  const url = '/v1/workspaces/shop/cadence/simulate';
  const answer = await control.app.inject({ method: 'POST', url, payload });
  return { status: answer.statusCode, body: answer.json<SimulatedCadenceBody>() };
}

/** A message of the notification to somebody, so many hours ago. */
async function told(
  person: string,
  hoursAgo: number,
  more: Partial<ReturnType<typeof deliveryOf>> = {},
): Promise<void> {
  const { ledger, configuration, clock } = fixture.ports;
  const at = clock.now() - hoursAgo * HOUR;
  const notificationId = findResource(configuration.current(), 'notification', 'shop', 'order-paid')?.body.id ?? '';
  const intent = { notification: 'order-paid', person, to: person, causedAt: at, sendAt: at };
  const { intent: made, ...delivery } = deliveryOf({ slot: { notificationId }, intent, createdAt: at, state: 'SENT' });
  await ledger.insert([{ ...delivery, intent: made, ...more }]);
}

/** Turns that are over after each part of the work, and tell how many there were. */
function countedParts() {
  let count = 0;
  const dues = new Map<number, () => void>();
  const yieldSlice = async (): Promise<void> => {
    count += 1;
    dues.get(count)?.();
    await turns();
  };
  return {
    slice: { isExpired: () => true, yield: yieldSlice },
    seen: () => count,
    async still(): Promise<void> {
      for (let [before, same] = [count, 0]; same < 50; before = count) {
        await turns();
        same = before === count ? same + 1 : 0;
      }
    },
    at: (part: number, act: () => void) => void dues.set(part, act),
  };
}

const limited = (max: number) => [
  {
    kind: 'notification',
    name: 'order-paid',
    body: { ...PAID, cadence: { limits: [{ max, per: '1d', then: 'drop' }] } },
  },
];

describe('the simulation of a cadence over the last days', () => {
  it('compares a proposed with the published cadence: messages per person, and what used up the limit', async () => {
    for (const hours of [30, 5, 4, 3]) await told('ada@example.com', hours);
    await told('bo@example.com', 2);
    await told('cy@example.com', 1, { state: 'SUPPRESSED', reason: 'opted_out' });
    const { status, body } = await simulate({ notification: 'order-paid', last: '2d', put: limited(2) });
    expect(status).toBe(200);
    expect(body).toMatchObject({ history: 'own', is_sample: false, faults: [] });
    expect(body.now).toMatchObject({ messages: 5, people: 2, at_once: 5, people_touched: 0, dropped: 0 });
    expect(body.proposed).toMatchObject({
      messages: 5,
      at_once: 4,
      dropped: 1,
      people_touched: 1,
      dropped_by: [{ by: 'at most 2 messages in 1d of this notification', count: 1 }],
    });
    const [ada] = body.proposed?.most_touched ?? [];
    expect(ada).toMatchObject({ person: 'ada@example.com', more: 0 });
    expect(ada?.messages.map(({ fate, filled_by: filled }) => [fate, filled.length])).toEqual([
      ['sent', 0],
      ['sent', 0],
      ['sent', 0],
      ['dropped', 2],
    ]);
    const sum = (key: 'came' | 'went' | 'dropped') => body.proposed?.buckets.reduce((all, one) => all + one[key], 0);
    expect([sum('came'), sum('went'), sum('dropped')]).toEqual([5, 4, 1]);
  });

  it('names people only to callers who may see event contents', async () => {
    for (const hours of [3, 2, 1]) await told('ada@example.com', hours);
    const viewer = personWith('vic', ['read']);
    const { body } = await simulate({ notification: 'order-paid', put: limited(1) }, viewer);
    expect(body.proposed?.most_touched).toMatchObject([{ person: null }]);
    expect(JSON.stringify(body)).not.toContain('ada@');
  });

  it('reads deliveries once for changes within half a minute, and again after it', async () => {
    await told('ada@example.com', 5);
    const count = async (): Promise<number> => (await simulate({ notification: 'order-paid' })).body.now.messages;
    expect(await count()).toBe(1);
    await told('bob@example.com', 4);
    expect(await count()).toBe(1);
    fixture.topology.clock.pass(30_000);
    expect(await count()).toBe(2);
  });

  it('uses the deliveries read before while newer ones are being read', async () => {
    await told('ada@example.com', 5);
    const change = async (): Promise<number> =>
      (await simulate({ notification: 'order-paid', put: limited(2) })).body.now.messages;
    expect(await change()).toBe(1);
    await told('bob@example.com', 4);
    fixture.topology.clock.pass(30_000);
    expect(await change()).toBe(1);
    await expect.poll(change).toBe(2);
    await told('cy@example.com', 3);
    fixture.topology.clock.pass(600_000);
    expect(await change()).toBe(3);
  });

  it('reads deliveries again after a failed read', async () => {
    await told('ada@example.com', 5);
    const { ledger } = fixture.ports;
    let isAway = false;
    let refused = 0;
    const list: typeof ledger.list = async (...asked) => {
      if (!isAway) return ledger.list(...asked);
      refused += 1;
      throw new Error('away');
    };
    control = await buildControl(
      config,
      { ...fixture.ports, ledger: { ...ledger, list } },
      { access: accessOf(OWNER) },
    );
    const change = async (): Promise<number> =>
      (await simulate({ notification: 'order-paid', put: limited(2) })).body.now.messages;
    expect(await change()).toBe(1);
    await told('bob@example.com', 4);
    isAway = true;
    fixture.topology.clock.pass(30_000);
    expect(await change()).toBe(1);
    expect(refused).toBe(1);
    isAway = false;
    await expect.poll(change).toBe(2);
  });

  it('simulates the published cadence once for any number of proposals', async () => {
    for (let hours = 1; hours <= 100; hours += 1) await told('ada@example.com', hours);
    const parts = countedParts();
    const ask = async (max: number): Promise<number> => {
      const before = parts.seen();
      const { body } = await simulate({ notification: 'order-paid', put: limited(max) });
      expect(body.now).toMatchObject({ at_once: 100 });
      expect(body.proposed?.dropped).toBeGreaterThan(0);
      return parts.seen() - before;
    };
    control = await buildControl(config, { ...fixture.ports, slice: parts.slice }, { access: accessOf(OWNER) });
    expect(await ask(1)).toBeGreaterThan(200);
    expect(await ask(2)).toBeLessThan(150);
  });

  it('stops early when a newer request replaces it', async () => {
    for (let n = 1; n <= 1_000; n += 1) await told('ada@example.com', n / 10);
    const parts = countedParts();
    control = await buildControl(config, { ...fixture.ports, slice: parts.slice }, { access: accessOf(OWNER) });
    const { address } = await control.listen();
    await simulate({ notification: 'order-paid' });
    const before = parts.seen();
    const dropped = new AbortController();
    parts.at(before + 10, () => dropped.abort());
    const payload = { notification: 'order-paid', put: limited(1) };
    const answer = fetch(`${address}/v1/workspaces/shop/cadence/simulate`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(payload),
      signal: dropped.signal,
    });
    await expect(answer).rejects.toThrow(/abort/);
    await parts.still();
    expect(parts.seen() - before).toBeLessThan(500);
    expect((await simulate(payload)).body.proposed?.messages).toBe(1_000);
  });

  it('uses a named example week without deliveries', async () => {
    const { body } = await simulate({ notification: 'order-paid', put: limited(1) });
    expect(body).toMatchObject({ history: 'example', words: expect.stringContaining('example week') as string });
    expect(body.now.dropped).toBe(0);
    expect(body.proposed?.dropped).toBeGreaterThan(10);
  });

  it('counts messages of every notification if the workspace has limits', async () => {
    await told('ada@example.com', 3, { slot: deliveryOf({ slot: { notificationId: 'ntf_gone' } }).slot });
    await told('ada@example.com', 2);
    const workspace = { ...SHOP, cadence: { limits: [{ max: 1, per: '1d', then: 'drop' }] } };
    const { body } = await simulate({ notification: 'order-paid', put: [{ kind: 'workspace', body: workspace }] });
    expect(body.proposed).toMatchObject({ messages: 1, dropped: 1 });
    const all = await simulate({ put: [{ kind: 'workspace', body: workspace }] });
    expect(all.body.proposed).toMatchObject({ messages: 2 });
  });

  it('returns faults of a proposal by path, together with the published result', async () => {
    await told('ada@example.com', 1);
    const { body } = await simulate({ notification: 'order-paid', put: limited(0) });
    expect(body).toMatchObject({
      proposed: null,
      faults: [{ resource: 'notification order-paid', path: expect.stringContaining('limits') as string }],
      now: { at_once: 1 },
    });
  });

  it('refuses a span that is too long, and an unknown notification', async () => {
    expect(await simulate({ last: '32d' })).toMatchObject({ status: 400 });
    expect(await simulate({ notification: 'order-payed' })).toMatchObject({ status: 404 });
  });

  it('uses the newest ten thousand messages at most', async () => {
    const { ledger, clock } = fixture.ports;
    const many = Array.from({ length: 10_050 }, (_, index) =>
      deliveryOf({
        intent: { person: `p${index % 500}`, to: `p${index % 500}@example.com` },
        createdAt: clock.now() - index,
      }),
    );
    await ledger.insert(many);
    const { body } = await simulate({});
    expect(body).toMatchObject({ is_sample: true, now: { messages: 10_000, people: 500 } });
  });
});
