import type { NotificationBody } from '@carillon/domain/configuration';
import { providerResult, type ProviderVerdict } from '@carillon/domain/deliveries';
import { cutOffName, minuteOf, type IntakeCutOff } from '@carillon/domain/intake';
import { parkedReceipt } from '@carillon/domain/receipts';
import { formatInstant, type AttemptId, type DeliveryId, type Instant } from '@carillon/kernel';
import type { DeadLetterRow } from '@carillon/ports';
import { findDrops, type DropRow, type DropsPlace } from '@carillon/insight';
import { deliveryOf } from '@carillon/testing';
import { givenLookup, givenReceipt, givenTrigger, integration, ORDER_PAID, orderShop } from '@carillon/testing/given';
import { openTopology, untilFound, type Topology } from '@carillon/testing/topology';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deliveryChecks } from '../src/delivery-checks.ts';

const [paid] = Object.values(ORDER_PAID.rules);
if (!paid) throw new Error('there is a rule');

/** A rule that notifies every watcher. A watcher without id has no `unique_id`. */
const watched = (uniqueId: string): NotificationBody => ({
  ...ORDER_PAID,
  rules: {
    paid: {
      stream: 'orders',
      when: 'event.status == "paid"',
      recipients: {
        from: 'event',
        for_each: 'event.watchers',
        where: 'item.email != "left@example.com"',
        to: { email: 'item.email' },
        unique_id: uniqueId,
      },
    },
  },
});

let topology: Topology;
beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
});
afterEach(() => topology.close());

const watchers = (...names: readonly string[]) => names.map((name) => ({ email: `${name}@example.com`, id: name }));
async function judged(): Promise<void> {
  const running = await topology.evaluates();
  const end = (await topology.records('carillon.events')).length;
  await untilFound('everything is judged', async () => {
    const checkpoint = await topology.data.checkpoints.load('engine', 'carillon.events', 0);
    return checkpoint && checkpoint.next >= end ? true : undefined;
  });
  await running.stop();
}
const dropsOf = () => findDrops({ isMeant: (one) => one === 'shop', since: 0 }, 500, topology.ports);

describe('the list of dropped recipients', () => {
  it('shows rule, reason, cause and event, newest first, without drops by `where`', async () => {
    await topology.publish(...orderShop(watched('string(1 / (item.id == "bob" ? 0 : 1))')));
    const first = await topology.event({ status: 'paid', watchers: watchers('ada', 'bob', 'left') });
    await topology.event({ status: 'open', watchers: watchers('bob') });
    const second = await topology.event({ status: 'paid', watchers: watchers('bob') });
    await judged();
    const { rows, complete } = await dropsOf();
    expect(complete).toBe(true);
    const row = { workspace: 'shop', rule: 'order-paid.paid', reason: 'rule_error', count: 1 };
    expect(rows.toSorted((a, b) => b.told - a.told)).toMatchObject([
      { ...row, eventId: first, who: 'recipient 2', told: 1 },
      { ...row, eventId: second, who: 'recipient 1', told: 0 },
    ]);
    expect(rows[0]?.detail).toContain('unique_id');
    expect((await findDrops({ isMeant: (one) => one === 'acme', since: 0 }, 500, topology.ports)).rows).toEqual([]);
    expect((await findDrops({ since: topology.clock.now() + 1 }, 500, topology.ports)).rows).toEqual([]);
  });

  it('has each row once over all pages while new events arrive', async () => {
    await topology.publish(...orderShop(watched('string(1 / (item.id.startsWith("bob") ? 0 : 1))')));
    await topology.event({ status: 'paid', watchers: watchers('bob1', 'bob2', 'bob3') });
    await topology.event({ status: 'paid', watchers: watchers('bob4') });
    await judged();
    topology.clock.pass(1_000);
    await topology.event({ status: 'paid', watchers: watchers('ada', 'bob5') });
    await judged();
    const whole = (await dropsOf()).rows;
    const paged: DropRow[] = [];
    let after: DropsPlace | undefined;
    do {
      const page = await findDrops({ since: 0, after }, 1, topology.ports);
      expect(page.rows).toHaveLength(1);
      expect(page.complete).toBe(page.next === null);
      paged.push(...page.rows);
      after = page.next ?? undefined;
      topology.clock.pass(1_000);
      if (paged.length === 1) await topology.event({ status: 'paid', watchers: watchers('bob6') });
      await judged();
    } while (after);
    expect(whole).toHaveLength(5);
    expect(paged).toEqual(whole);
  });

  it('shows one line with the count for recipients over the limit', async () => {
    await topology.publish(...orderShop(watched('item.id')));
    await topology.event({ status: 'paid', watchers: watchers(...Array.from({ length: 612 }, (_, at) => `p${at}`)) });
    await judged();
    expect((await dropsOf()).rows).toMatchObject([
      { who: 'recipients 501 to 612', reason: 'too_many_recipients', count: 112, told: 500 },
    ]);
  });

  it('includes unusable items of a partner', async () => {
    const recipients = {
      from: 'lookup',
      integration: 'crm',
      user_ids: 'event.watchers',
      unique_id: 'event_id',
    } as const;
    const number = await topology.publish(
      ...orderShop({ ...ORDER_PAID, rules: { paid: { stream: 'orders', when: 'true', recipients } } }),
      integration('crm', { kind: 'lookup', url: 'https://crm.example.com', authorization: { key: { secret: 'K' } } }),
    );
    const lookup = givenLookup({
      trigger: givenTrigger({ configNumber: number }),
      answeredAt: topology.clock.now(),
      problems: [{ kind: 'invalid', index: 1, userId: 'bob', detail: 'its `to` is not an object' }],
      problemCounts: { invalid: 1 },
    });
    await topology.data.log.append([
      {
        topic: 'carillon.lookups',
        partition: 0,
        key: 'k',
        value: topology.ports.codecs.lookup.encode(lookup),
        headers: {},
      },
    ]);
    expect((await dropsOf()).rows).toMatchObject([
      { rule: 'order-paid.paid', eventId: 'evt_1', who: 'item 2', reason: 'invalid_item', count: 1, told: 1 },
    ]);
  });
});

describe('doctor', () => {
  let kept: number | null = null;
  afterEach(() => (kept = null));
  const checks = () =>
    deliveryChecks({
      ...topology.ports,
      keyUses: topology.data.keyUses,
      sources: topology.data.sources,
      deadLettersKept: () => kept,
    });
  const failed = async () => (await checks()).filter(({ ok }) => !ok);

  it('warns of open dead letters seven days before retention deletes them', async () => {
    const at = topology.clock.now();
    const row = { workspace: 'shop', topic: 'carillon.events', partition: 0, offset: 0, reason: 'unreadable' };
    const open = { redrivenAt: null, redrivenBy: null, dismissedAt: null, dismissedBy: null, receipt: null };
    const own = { ownPartition: 0, ownOffset: 0, ...open };
    await topology.data.readModels.put({ deadLetters: [{ id: 'ddl_1', stage: 'evaluate', at, ...row, ...own }] });
    const said = async () => (await failed()).find(({ step }) => step === 'dead letters')?.detail;
    kept = 30 * 86_400_000;
    topology.clock.pass(23 * 86_400_000 - 60_000);
    expect(await said()).not.toContain('leaves the log');
    topology.clock.pass(120_000);
    expect(await said()).toContain(`1 leaves the log from ${formatInstant(at + kept)} on`);
    kept = null;
    expect(await said()).not.toContain('leaves the log');
  });

  it('succeeds if nothing waits for a person', async () => {
    expect(await checks()).toEqual(
      [
        'dropped recipients',
        'provider accounts',
        'partners',
        'databases not read',
        'dead letters',
        'parked receipts',
        'intake',
        'waits',
        'late events',
      ].map((step) => ({ step, ok: true, detail: 'none' })),
    );
  });

  it('reports for a rule how many events had drops, since when and why, with the command that lists them', async () => {
    await topology.publish(...orderShop(watched('string(1 / (item.id == "bob" ? 0 : 1))')));
    await topology.event({ status: 'paid', watchers: watchers('ada') });
    for (const names of [['bob'], ['bob', 'bob']])
      await topology.event({ status: 'paid', watchers: watchers(...names) });
    await judged();
    const [step, ...more] = await failed();
    expect(more).toEqual([]);
    expect(step?.step).toBe('rule order-paid.paid');
    expect(step?.detail).toMatch(
      /^order-paid\.paid drops recipients of 2 events since \d{4}-\d\d-\d\dT[\d:.]+Z: rule_error, .*unique_id.*/,
    );
    expect(step?.detail).toMatch(/Who: npx carillon deliveries --dropped --workspace shop$/);
  });

  it('reports repeated overload refusals of any gateway for an hour', async () => {
    const MINUTE = 60_000;
    const start = topology.clock.now();
    const refusedAt = (minute: number, why: IntakeCutOff = 'others_need') => {
      const at = start + minute * MINUTE;
      return topology.data.keyUses.record([{ keyId: cutOffName(why, minuteOf(at)), at }]);
    };
    for (const minute of [0, 1]) await refusedAt(minute);
    await refusedAt(1, 'slow');
    await refusedAt(2, 'slow');
    topology.clock.pass(5 * MINUTE);
    expect(await failed()).toEqual([]);
    await refusedAt(4);
    expect(await failed()).toEqual([
      {
        step: 'intake others_need',
        ok: false,
        detail:
          `refused or cut off in 3 of the last 60 minutes, the last time at ${formatInstant(start + 4 * MINUTE)}: ` +
          'clients with the most open requests were cut off for others. Look at who sends: ' +
          `carillon_intake_cut_off_total{reason="others_need"}, and the proxy's log`,
      },
    ]);
    topology.clock.pass(56 * MINUTE);
    expect(await failed()).toEqual([]);
  });

  it('reports an account that accepts nothing, since when, and its waiting messages', async () => {
    const { ledger, clock } = topology.ports;
    const waits = { state: 'WAITING', reason: 'account_unavailable', detail: 'the breaker is open' } as const;
    await ledger.insert([deliveryOf({ ...waits, createdAt: clock.now() })]);
    const [step, ...more] = await failed();
    expect(more).toEqual([]);
    expect(step?.step).toBe('account default');
    expect(step?.detail).toMatch(
      /^takes nothing since .*Z \(the breaker is open\); 1 delivery waits for it in .*: npx carillon account check default --workspace shop$/,
    );
  });

  it('reports an account that rejects us while another one sends, until it accepts a message again', async () => {
    const { ledger, clock } = topology.ports;
    const now = clock.now();
    const call = (account: string, verdict: ProviderVerdict, startedAt: number) => ({
      id: `att_${startedAt}` as AttemptId,
      token: 't',
      account,
      to: 'ada@example.com',
      startedAt,
      endedAt: startedAt + 1,
      result: providerResult(verdict, '535', 'wrong password'),
    });
    const sent = (...attempts: readonly ReturnType<typeof call>[]) =>
      deliveryOf({ state: 'SENT', reason: 'accepted', createdAt: now, attempts });
    await ledger.insert([
      sent(call('shop/main', 'accepted', now - 9000)),
      sent(call('shop/main', 'refused_account', now - 8000), call('shop/backup', 'accepted', now - 7900)),
      sent(call('shop/main', 'refused_account', now - 4000), call('shop/backup', 'accepted', now - 3900)),
    ]);
    const [step, ...more] = await failed();
    expect(more).toEqual([]);
    expect(step).toEqual({
      step: 'account main',
      ok: false,
      detail: `refuses us since ${formatInstant(now - 8000)} (wrong password); shop/backup sends meanwhile: npx carillon account check main --workspace shop`,
    });
    await ledger.insert([sent(call('shop/main', 'accepted', now - 1000))]);
    expect(await failed()).toEqual([]);
  });

  it('reports an account that rejects many messages of a notification, with the share and the command that lists them', async () => {
    const { ledger, clock } = topology.ports;
    const now = clock.now();
    const sent = (verdict: ProviderVerdict, startedAt: number) =>
      deliveryOf({
        state: verdict === 'accepted' ? 'SENT' : 'FAILED',
        createdAt: startedAt,
        attempts: [
          {
            id: 'att_1' as AttemptId,
            token: 't',
            account: 'shop/main',
            to: 'ada@example.com',
            startedAt,
            endedAt: startedAt + 1,
            result: providerResult(verdict, '554', 'looks like spam'),
          },
        ],
      });
    await ledger.insert([
      ...Array.from({ length: 20 }, () => sent('refused_content', now - 1000)),
      ...Array.from({ length: 22 }, () => sent('accepted', now - 1000)),
      sent('refused_content', now - 16 * 60_000),
    ]);
    expect(await failed()).toEqual([]);
    await ledger.insert([sent('refused_content', now - 500)]);
    expect(await failed()).toEqual([
      {
        step: 'account main',
        ok: false,
        detail:
          'refused 21 of 43 messages of order-paid (49 %) in the last 15 minutes, the last with: looks like spam. ' +
          'Which: npx carillon deliveries --state FAILED --notification order-paid --workspace shop',
      },
    ]);
  });

  it('finds a rejecting account however many newer messages wait or were sent', async () => {
    const { ledger, clock } = topology.ports;
    const now = clock.now();
    const refused = (account: string) => ({
      id: `att_${account}` as AttemptId,
      token: 't',
      account,
      to: 'ada@example.com',
      startedAt: now - 8000,
      endedAt: now - 7999,
      result: providerResult('refused_account', '535', 'wrong password'),
    });
    const waits = { state: 'WAITING', reason: 'refused_account', createdAt: now - 9000 } as const;
    const sent = { state: 'SENT', reason: 'accepted', createdAt: now - 9000, nextAt: null } as const;
    await ledger.insert([
      deliveryOf({ ...waits, attempts: [refused('shop/main')] }),
      deliveryOf({ ...sent, attempts: [refused('shop/second')] }),
    ]);
    const later = { state: 'WAITING', reason: 'delayed', createdAt: now } as const;
    await ledger.insert(Array.from({ length: 501 }, () => deliveryOf(later)));
    const said = await failed();
    expect(said.map(({ step }) => step)).toEqual(['account main', 'account second']);
    expect(said[0]?.detail).toContain('1 delivery waits for it');
  });

  it('reports the number of open dead letters and the age of the oldest', async () => {
    const { readModels, clock } = topology.ports;
    await readModels.put({ deadLetters: [letterAt(clock.now()), letterAt(clock.now(), { id: 'dl_2' })] });
    await readModels.markRedriven('dl_2', clock.now(), 'ann');
    const [step, ...more] = await failed();
    expect(more).toEqual([]);
    expect(step).toMatchObject({ step: 'dead letters' });
    expect(step?.detail).toMatch(/^1 is open, the oldest since .*Z: npx carillon dead-letters$/);
  });

  it('reports unmatched receipts until they are dismissed, and how many of them are STOP', async () => {
    const { readModels, clock } = topology.ports;
    const inbound = { address: '+4915112345678', wish: 'stop' } as const;
    const receipt = parkedReceipt({
      ...givenReceipt('dlv_1' as DeliveryId, 1),
      attempt: null,
      suppress: 'stop',
      inbound,
    });
    const parked = letterAt(clock.now(), { stage: 'receipts', topic: 'carillon.receipts' });
    await readModels.put({ deadLetters: [parked, { ...parked, id: 'dl_2', receipt }] });
    const [step, ...more] = await failed();
    expect(more).toEqual([]);
    expect(step).toMatchObject({ step: 'parked receipts' });
    expect(step?.detail).toMatch(
      /^2 reports belong to no attempt of this deployment, the oldest since .*Z, 1 of them STOP replies, .*: npx carillon receipts list --parked$/,
    );
    const complaint = parkedReceipt(givenReceipt('dlv_1' as DeliveryId, 1, { suppress: 'complaint' }));
    await readModels.put({ deadLetters: [{ ...parked, id: 'dl_3', receipt: complaint }] });
    expect((await failed())[0]?.detail).toMatch(
      /^3 reports .*, 1 of them STOP replies, .*, 1 of them would suppress an address, and did not: npx carillon receipts list --parked$/,
    );
    for (const id of ['dl_1', 'dl_2', 'dl_3']) await readModels.markDismissed(id, clock.now(), 'ann');
    expect(await failed()).toEqual([]);
  });
});

const letterAt = (at: Instant, facts: Partial<DeadLetterRow> = {}): DeadLetterRow => ({
  id: 'dl_1',
  workspace: 'shop',
  stage: 'evaluate',
  topic: 'carillon.events',
  partition: 0,
  offset: 0,
  reason: 'invalid_json',
  at,
  ownPartition: 0,
  ownOffset: 0,
  redrivenAt: null,
  redrivenBy: null,
  dismissedAt: null,
  dismissedBy: null,
  receipt: null,
  ...facts,
});
