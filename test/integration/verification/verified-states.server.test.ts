import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NotificationBody, RuleBody } from '@carillon/domain/configuration';
import type { Intent } from '@carillon/domain/deliveries';
import type { VerifyRun } from '@carillon/domain/runs';
import type { IntentId } from '@carillon/kernel';
import type { NewRecord } from '@carillon/ports';
import { markerRecord, tickRecord } from '@carillon/stages';
import { notification, ORDER_PAID, stream } from '@carillon/testing/given';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { verificationOf, verifyFolder, type VerifyOptions } from '../../support/verify-log.ts';
import { KEY, ofIntents, openShop, type Alter, type VerifiedShop } from './shop.ts';

const MINUTE = 60_000;
const START = Date.parse('2026-11-01T10:00:00Z');
const RECIPIENTS = { from: 'event', to: { email: 'event.email' }, unique_id: 'event_id' } as const;

/** A wait, a total in the message, the event before, and a rule without state on the same stream. */
const RULES: Readonly<Record<string, RuleBody>> = {
  unpaid: {
    stream: 'orders',
    when: 'event.type == "placed"',
    after: '1h',
    unless: 'event.type == "paid"',
    recipients: { ...RECIPIENTS, variables: { due: 'string(deadline)' } },
  },
  often: {
    stream: 'orders',
    totals: { seen: { count: 'true', within: '2h' } },
    when: 'totals.seen >= 2',
    cooldown: 'until_false',
    recipients: { ...RECIPIENTS, variables: { seen: 'string(totals.seen)' } },
  },
  moved: {
    stream: 'orders',
    when: 'changed(event.type)',
    recipients: { ...RECIPIENTS, variables: { from: 'previous.type' } },
  },
  any: { stream: 'orders', when: 'event.type == "viewed"', recipients: RECIPIENTS },
};
const BODY: NotificationBody = { ...ORDER_PAID, rules: RULES };

let now = START;
const CLOCK = { now: () => now };
let shop: VerifiedShop;
beforeEach(async () => {
  now = START;
  shop = await openShop(CLOCK);
  await publishRules(BODY);
});
const publishRules = (body: NotificationBody) =>
  shop.publish([
    stream('orders', { key: 'event.order_id', security: { api_keys: ['main'] } }),
    notification('order-paid', body),
  ]);
afterEach(async () => {
  await shop.close();
  await rm(shop.dataDir, { recursive: true, force: true });
});

/** An event `minutes` after the start. Its id says so. */
const eventAt = (minutes: number, order: string, type: string): readonly [number, NewRecord] => [
  minutes,
  {
    topic: 'carillon.events',
    partition: 0,
    key: order,
    value: new TextEncoder().encode(JSON.stringify({ order_id: order, type, email: `${order}@example.com` })),
    headers: {
      kind: 'event',
      enc: '0',
      workspace: 'shop',
      stream: 'shop/orders',
      event_id: `evt_${order}${minutes}`,
      key: order,
    },
  },
];
const placed = (minutes: number, order: string) => eventAt(minutes, order, 'placed');
const paid = (minutes: number, order: string) => eventAt(minutes, order, 'paid');
const viewed = (minutes: number, order: string) => eventAt(minutes, order, 'viewed');
const tick = (minutes: number) => [minutes, tickRecord(0)] as const;

/** Appends records, each at its minutes after the start. */
async function appendAt(...records: readonly (readonly [minutes: number, record: NewRecord])[]): Promise<void> {
  for (const [minutes, record] of records) {
    now = START + minutes * MINUTE;
    await shop.append([record]);
  }
}

/** Of these orders one is paid and one is not. One has three events, and one waits at the end. */
const ORDERS = [
  placed(1, 'a'),
  placed(2, 'b'),
  paid(3, 'a'),
  placed(4, 'c'),
  viewed(5, 'c'),
  viewed(6, 'c'),
  tick(70),
  placed(71, 'd'),
  tick(90),
];
/** Waits of b and c, totals of a and c, changes of a and c, and two views. */
const OUTPUTS = 2 + 2 + 2 + 2;

async function verify({ run = {}, ...options }: VerifyOptions & { readonly run?: Partial<VerifyRun> } = {}) {
  const whole = await verificationOf(shop.data);
  const { counts, findings } = await verifyFolder(shop.dataDir, { ...whole, ...run }, KEY, options);
  const texts = findings.map(({ problem, field, rule, eventId }) =>
    [problem, field, rule.replace('order-paid.', ''), eventId].filter((text) => text !== null).join(' '),
  );
  return { counts, findings: texts.toSorted() };
}

/** A run that begins at these minutes. */
async function from(minutes: number): Promise<Partial<VerifyRun>> {
  const time = START + minutes * MINUTE;
  const { start, end } = await shop.data.log.bounds('carillon.events', 0);
  const records = await shop.data.log.read('carillon.events', 0, start, 1_000);
  const first = records.find((record) => record.time >= time)?.offset ?? end;
  return { from: time, offsets: [{ partition: 0, first, end }] };
}

const altered = (rule: string, alter: (intent: Intent) => readonly Intent[]): Alter =>
  ofIntents((intent) => (intent.rule === `order-paid.${rule}` ? alter(intent) : [intent]));
/** A marker of the newest configuration. */
const marker = async (minutes: number, semantics?: number) => {
  const { log } = shop.data;
  const { end } = await log.bounds('carillon.config', 0);
  return [minutes, markerRecord(0, end - 1, semantics, log.logId)] as const;
};
const offsetOf = async (eventId: string): Promise<number> => {
  const { start } = await shop.data.log.bounds('carillon.events', 0);
  const records = await shop.data.log.read('carillon.events', 0, start, 1_000);
  return records.find(({ headers }) => headers['event_id'] === eventId)?.offset ?? -1;
};

describe('A verification of rules with state', () => {
  it('finds no difference in a log written by the engine, for any page size', async () => {
    await appendAt(...ORDERS);
    await shop.evaluate((output) => [output, output]);
    for (const pageRecords of [1, 2, 500]) {
      const { counts, findings } = await verify({ pageRecords });
      expect(findings).toEqual([]);
      expect(counts).toMatchObject({ events: 7, same: OUTPUTS, wouldWait: 1, cold: 0 });
    }
  });

  it('names a message whose deadline is off by a millisecond', async () => {
    await appendAt(...ORDERS);
    await shop.evaluate(altered('unpaid', (intent) => [{ ...intent, deadline: (intent.deadline ?? 0) + 1 }]));
    expect((await verify()).findings).toEqual(['different deadline unpaid evt_b2', 'different deadline unpaid evt_c4']);
  });

  it('reports a message whose total differs by one', async () => {
    await appendAt(...ORDERS);
    await shop.evaluate(altered('often', (intent) => [{ ...intent, variables: { ...intent.variables, seen: '3' } }]));
    expect((await verify()).findings).toEqual(['different variables often evt_a3', 'different variables often evt_c5']);
  });

  it('reports a missing message, and a message of a cancelled wait', async () => {
    await appendAt(...ORDERS);
    const cancelled = await offsetOf('evt_a1');
    await shop.evaluate(
      altered('unpaid', (intent) => {
        if (intent.eventId === 'evt_c4') return [];
        const eventPosition = intent.eventPosition.replace(/@.*/, `@${cancelled}`);
        return [intent, { ...intent, id: 'int_1' as IntentId, eventId: 'evt_a1' as never, eventPosition }];
      }),
    );
    expect((await verify()).findings).toEqual(['missing unpaid evt_c4', 'no_cause unpaid evt_a1']);
  });

  it('counts the states of the configuration that was in force', async () => {
    await appendAt(placed(1, 'a'), placed(2, 'b'));
    await publishRules({ ...BODY, rules: { ...RULES, unpaid: { ...RULES['unpaid'], after: '2h' } as never } });
    await appendAt(placed(3, 'c'), tick(70));
    await publishRules({ ...BODY, rules: { ...RULES, unpaid: { ...RULES['unpaid'], enabled: false } as never } });
    await appendAt(paid(80, 'b'), placed(81, 'e'), tick(200));
    await publishRules(BODY);
    await appendAt(placed(201, 'f'), tick(300));
    await shop.evaluate();
    const { counts, findings } = await verify();
    expect(findings).toEqual([]);
    expect(counts).toMatchObject({ events: 6, wouldWait: 0, cold: 0 });
  });

  it('reads the events before its range for their states', async () => {
    await appendAt(placed(1, 'a'), placed(20, 'b'), placed(60, 'c'), viewed(65, 'a'), tick(120), viewed(121, 'b'));
    await shop.evaluate(altered('often', () => []));
    const run = await from(60);
    const { counts, findings } = await verify({ run });
    // The second event of a within two hours, and of b.
    expect(findings).toEqual(['missing often evt_a65', 'missing often evt_b121']);
    // The wait of c, two changes and two views.
    expect(counts).toMatchObject({ events: 3, same: 5, cold: 0 });
  });

  it('continues from its checkpoint with the same result', async () => {
    await appendAt(...ORDERS);
    await shop.evaluate(altered('often', () => []));
    const run = await from(3);
    const whole = await verify({ run });
    expect(whole.findings).toHaveLength(2);
    const folder = await mkdtemp(join(tmpdir(), 'carillon-verify-'));
    let kills = 0;
    for (let result: unknown = null; result === null;) {
      let commits = 0;
      const scratch: VerifyOptions['scratch'] = (file) => ({
        ...file,
        commit(page) {
          file.commit(page);
          commits += 1;
          if (commits === 2) throw new Error('killed');
        },
      });
      result = await verify({ run, pageRecords: 2, folder, scratch }).catch((error: unknown) => {
        if (error instanceof Error && error.message === 'killed') return null;
        throw error;
      });
      if (result === null) kills += 1;
      else expect(result).toEqual(whole);
    }
    expect(kills).toBeGreaterThan(5);
    await rm(folder, { recursive: true, force: true });
  });
});

describe('A verification of rules with state does not call wrong', () => {
  it('a message of a wait that ended after the verified range', async () => {
    await appendAt(placed(1, 'a'), placed(2, 'b'));
    await shop.evaluate();
    const run = await verificationOf(shop.data);
    await appendAt(tick(90));
    await shop.evaluate();
    const { counts, findings } = await verify({ run });
    expect(findings).toEqual([]);
    expect(counts).toMatchObject({ events: 2, same: 0, wouldWait: 2 });
  });

  it('messages of waits imported from another deployment', async () => {
    await appendAt(...ORDERS);
    const moved = (intent: Intent): Intent => ({
      ...intent,
      id: 'int_moved' as IntentId,
      eventPosition: 'carillon.events/0@-1',
    });
    await shop.evaluate(altered('unpaid', (intent) => [intent, moved(intent)]));
    expect(await verify()).toMatchObject({ findings: [], counts: { same: OUTPUTS } });
  });

  it('outputs of entities whose state may come from another deployment', async () => {
    await shop.close();
    await rm(shop.dataDir, { recursive: true, force: true });
    shop = await openShop(CLOCK, { now: () => now - 2 * MINUTE });
    await publishRules(BODY);
    await appendAt(...ORDERS);
    // The span is the window, the wait and the longest cooldown: an entity without an event for so long is known.
    await appendAt(placed(300, 'a'), paid(301, 'a'), tick(400));
    await shop.evaluate(altered('often', () => []));
    const { counts, findings } = await verify();
    expect(findings).toEqual(['missing often evt_a301']);
    // The waits of b, c and d, and the changes of a and c.
    expect(counts.cold).toBe(5);
  });

  it('outputs that depend on removed records', async () => {
    await appendAt(...ORDERS.slice(0, 2), await marker(2), ...ORDERS.slice(2));
    await appendAt(placed(300, 'a'), paid(301, 'a'), tick(400));
    await shop.evaluate(altered('often', () => []));
    const first = (await offsetOf('evt_a3')) - 1;
    const run = { offsets: [{ partition: 0, first, end: (await from(0)).offsets?.[0]?.end ?? 0 }] };
    const { counts, findings } = await verify({ run, eventsStart: first });
    expect(findings).toEqual(['missing often evt_a301']);
    // The waits of c and d, and the changes of a and c.
    expect(counts.cold).toBe(4);
  });

  it('outputs of entities in a stream with an erased event, until the entity was idle for long enough', async () => {
    await appendAt(...ORDERS, placed(300, 'a'), paid(301, 'a'), tick(400));
    await shop.evaluate(altered('often', () => []));
    const erased = [await offsetOf('evt_a3')];
    for (const pageRecords of [1, 500]) {
      const { counts, findings } = await verify({ erased, pageRecords });
      expect(findings).toEqual(['missing often evt_a301']);
      // The waits of b, c and d, and the changes of c and of the first event of a behind the pause.
      expect(counts).toMatchObject({ cold: 5, unreadable: 1 });
    }
  });

  it('outputs of entities whose events a release with other semantics evaluated', async () => {
    await appendAt(await marker(1, 3), placed(2, 'a'), await marker(3), paid(4, 'a'), placed(5, 'c'), tick(90));
    await shop.evaluate(altered('unpaid', () => []));
    const { counts, findings } = await verify();
    expect(findings).toEqual([]);
    expect(counts).toMatchObject({ events: 2, otherSemantics: 1, cold: 2 });
  });
});
