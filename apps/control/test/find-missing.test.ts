import { openDelivery, type DeliveryState } from '@carillon/domain/deliveries';
import { foldConfiguration, type NotificationBody } from '@carillon/domain/configuration';
import { newJob, type JobState } from '@carillon/domain/jobs';
import { OWNER_ACTOR } from '@carillon/domain/people';
import { noRowCounts, NO_READ_COUNTS, type MissingSelection, type Run } from '@carillon/domain/runs';
import { isCarillonError, type DeliveryId, type JobId, type RunId } from '@carillon/kernel';
import {
  compareEventCoroutine,
  compareForChecksum,
  deliveryIdOf,
  joinSlots,
  narrowRuleBook,
  readSourceRecord,
  runYielding,
} from '@carillon/stages';
import { freshName } from '@carillon/testing';
import {
  changesOf,
  givenIntent,
  neverYield,
  notification,
  ORDER_PAID,
  orderShop,
  PAID_MAIL,
  template,
} from '@carillon/testing/given';
import { openTopology, type Topology } from '@carillon/testing/topology';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findMissing } from '../src/runs/find-missing.ts';
import { refuseChanged } from '../src/runs/missing.ts';

const DAY = 86_400_000;
const paid = ORDER_PAID.rules['paid'];
if (!paid) throw new Error('there is a rule');
const withIds = (name: string, when = 'event.total > 80'): NotificationBody => ({
  ...ORDER_PAID,
  id: `ntf_${name}`,
  rules: { paid: { ...paid, id: `rul_${name}`, when } },
});

let topology: Topology;
beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
  topology.clock.standStill();
  await topology.publish(...orderShop(withIds('old', 'event.total > 100')));
});
afterEach(() => topology.close());

const runs = () => topology.data.runs;
const ports = () => ({ ...topology.ports, slice: neverYield, runs: runs() });
const order = (id: string, total: number) =>
  topology.event({ order_id: id, total, customer: { name: 'Ada', email: `${id}@example.com` } });
/** Id of the delivery of an order. */
const slotOf = (id: string, notificationId = 'ntf_old'): DeliveryId =>
  deliveryIdOf({ slot: { workspace: 'shop', notificationId, channel: 'email', uniqueId: id } }, topology.ids);

/** Stores a run of an edit of `order-paid` over all events, with its rows, as the child process makes them. */
async function compare(body: NotificationBody, state: JobState = 'done'): Promise<Run> {
  const base = topology.ports.configuration.current();
  const changes = changesOf(base, [notification('order-paid', body)]);
  const now = topology.clock.now();
  const stored: Run = {
    id: freshName('run_') as RunId,
    workspace: 'shop',
    kind: 'compare',
    by: OWNER_ACTOR,
    from: 0,
    to: now,
    logStartsAt: null,
    logId: topology.ports.log.logId,
    offsets: [],
    before: base.number,
    published: base.number,
    changes: [],
    notifications: ['order-paid'],
    notCompared: [],
    leftOut: [],
    progress: { read: 0, total: 0 },
    counts: null,
    checksum: null,
    job: freshName('job_') as JobId,
    createdAt: now,
    version: 1,
  };
  const after = foldConfiguration(base, { changes }, base.number + 1).configuration;
  const lines = [];
  for (const record of await topology.records('carillon.events')) {
    const read = readSourceRecord(record, topology.ports.log.logId);
    if (!read.ok || read.value.kind !== 'event') continue;
    const context = {
      configurations: { before: base, after },
      book: narrowRuleBook(topology.ports.book, () => true),
      ids: topology.ids,
      findAnswer: () => undefined,
    };
    lines.push(...(await runYielding(compareEventCoroutine(read.value.event, context), neverYield)).lines);
  }
  const slots = [
    ...joinSlots(
      lines.toSorted((a, b) => (a.slot === b.slot ? compareForChecksum(a, b) : a.slot < b.slot ? -1 : 1)),
      () => 'order-paid.paid',
    ),
  ];
  const differences = { ...noRowCounts().differences };
  for (const { difference } of slots) differences[difference] += 1;
  const rows = { ...noRowCounts(), differences, byRule: [{ rule: 'order-paid.paid', ...differences }] };
  const run: Run = { ...stored, counts: { read: NO_READ_COUNTS, rows } };
  await runs().insert(run, changes);
  await runs().addRows(
    slots.flatMap(({ difference, ...slot }) =>
      difference === 'unchanged'
        ? []
        : [{ ...slot, difference, run: run.id, slotState: 'none' as const, slotReason: null }],
    ),
  );
  const from = { address: '127.0.0.1', userAgent: null };
  const work = { action: 'compare_history', run: run.id };
  const facts = {
    id: run.job,
    workspace: 'shop',
    work,
    by: OWNER_ACTOR,
    byName: 'owner',
    from,
    requestId: 'req_1',
    of: 1,
  };
  await topology.ports.jobs.insert({ ...newJob(facts, now), state, endedAt: state === 'done' ? now : null }, [run.id]);
  return run;
}

/** Stores a delivery in a slot. */
async function hold(slot: DeliveryId, state: DeliveryState, clean = true): Promise<void> {
  const moment = { now: topology.clock.now(), derive: topology.ids.derive };
  const delivery = openDelivery(givenIntent(slot, { uniqueId: slot }), 'carillon.intents/0@0', slot, moment);
  await topology.ports.ledger.insert([{ ...delivery, state, clean, nextAt: null }]);
}

const look = (run: Run, selection: Partial<MissingSelection> = {}) =>
  findMissing(run, { differences: ['added'], slotStates: ['none'], rules: null, since: 0, ...selection }, ports());
const ordersOf = async (run: Run, selection: Partial<MissingSelection> = {}, notificationId = 'ntf_old') => {
  const { messages } = await look(run, selection);
  const names = new Map(['a', 'b', 'c', 'd'].map((id) => [slotOf(id, notificationId), id]));
  return messages.map(({ slot }) => names.get(slot));
};
const refusalOf = async (looked: Promise<unknown>): Promise<string> => {
  try {
    await looked;
    return 'nothing is refused';
  } catch (error) {
    return isCarillonError(error) ? `${error.code}: ${error.detail}` : String(error);
  }
};

describe('the missing messages of a run', () => {
  it('are those that the edit adds, without those that were sent since the run ended', async () => {
    for (const id of ['a', 'b', 'c']) await order(id, 90);
    await order('d', 200);
    const run = await compare(withIds('old'));
    await topology.publish(notification('order-paid', withIds('old')));
    const before = await look(run);
    expect(before).toMatchObject({
      count: 3,
      people: 3,
      tooOld: 0,
      byRule: [{ rule: 'order-paid.paid', messages: 3, people: 3 }],
    });
    await hold(slotOf('b'), 'SENT');
    const after = await look(run);
    expect(after.messages.map(({ slot }) => slot)).toEqual([slotOf('a'), slotOf('c')]);
    expect(() => refuseChanged(after, before)).toThrow('2 messages are missing now, and 3 were confirmed');
  });

  it('include stopped messages only if they are named, and never cancelled ones or ones in doubt', async () => {
    for (const id of ['a', 'b', 'c', 'd']) await order(id, 90);
    const run = await compare(withIds('old'));
    await topology.publish(notification('order-paid', withIds('old')));
    await hold(slotOf('a'), 'SUPPRESSED');
    await hold(slotOf('b'), 'CANCELLED');
    await hold(slotOf('c'), 'FAILED', false);
    expect(await ordersOf(run)).toEqual(['d']);
    expect(await ordersOf(run, { slotStates: ['stopped'] })).toEqual(['a']);
    expect(await ordersOf(run, { slotStates: ['none', 'stopped'] })).toEqual(['a', 'd']);
  });

  it('leave out and count the events that are too old', async () => {
    await order('a', 90);
    topology.clock.pass(10 * DAY);
    await order('b', 90);
    const run = await compare(withIds('old'));
    await topology.publish(notification('order-paid', withIds('old')));
    const since = topology.clock.now() - 7 * DAY;
    expect(await look(run, { since })).toMatchObject({ count: 1, tooOld: 1, oldest: topology.clock.now() });
    await hold(slotOf('a'), 'SENT');
    expect(await look(run, { since })).toMatchObject({ count: 1, tooOld: 0 });
  });

  it('have the slots that publishing gives to a new notification', async () => {
    await topology.publish(notification('order-paid', null));
    for (const id of ['a', 'b']) await order(id, 90);
    const run = await compare(withIds('proposed'));
    await topology.publish(notification('order-paid', withIds('published')));
    expect(await ordersOf(run, {}, 'ntf_published')).toEqual(['a', 'b']);
    // The live rule notifies an order of the list.
    await hold(slotOf('a', 'ntf_published'), 'SENT');
    expect(await ordersOf(run, {}, 'ntf_published')).toEqual(['b']);
    const again = await compare(withIds('published'));
    expect((await look(again, { differences: ['added', 'changed'] })).messages).toEqual([]);
  });

  it('with a new unique_id are missing only if neither the old nor the new one was notified', async () => {
    for (const id of ['a', 'b', 'c']) await order(id, 200);
    const body = withIds('old', 'event.total > 100');
    const rules = {
      paid: {
        ...paid,
        ...body.rules['paid'],
        recipients: { ...paid.recipients, unique_id: '"new-" + event.order_id' },
      },
    };
    const edited = { ...body, rules } as NotificationBody;
    const run = await compare(edited);
    await topology.publish(notification('order-paid', edited));
    await hold(slotOf('a'), 'SENT');
    await hold(slotOf('new-b'), 'SENT');
    expect((await look(run)).messages).toEqual([]);
    const { messages } = await look(run, { differences: ['new_unique_id'] });
    expect(messages.map(({ slot }) => slot)).toEqual([slotOf('new-c')]);
  });
});

describe('a look at the missing messages', () => {
  it('is refused for a run that has not finished', async () => {
    await order('a', 90);
    const run = await compare(withIds('old'), 'running');
    expect(await refusalOf(look(run))).toMatch(/^run_unfinished: run_\S+ is running/);
  });

  it('is refused until the edit is published, and after another change of what it uses', async () => {
    await order('a', 90);
    const run = await compare(withIds('old'));
    expect(await refusalOf(look(run))).toMatch(/^not_published: notification order-paid is not published as compared/);
    await topology.publish(notification('order-paid', withIds('old')));
    expect(await look(run)).toMatchObject({ count: 1 });
    await topology.publish(template('order-paid', { email: { ...PAID_MAIL.email, text: 'Hi' } }));
    expect(await refusalOf(look(run))).toMatch(/^not_published: template order-paid is not published/);
  });

  it('is refused for a rule that was not compared', async () => {
    await order('a', 90);
    const run = await compare(withIds('old'));
    expect(await refusalOf(look(run, { rules: ['welcome.paid'] }))).toMatch(/^invalid_request: rule: .*welcome.paid/);
  });

  it('is refused for more rows than a run keeps', async () => {
    await order('a', 90);
    const run = await compare(withIds('old'));
    const rows = { ...noRowCounts(), differences: { ...noRowCounts().differences, added: 60_000, removed: 40_001 } };
    expect(await refusalOf(look({ ...run, counts: { read: NO_READ_COUNTS, rows } }))).toMatch(
      /^wrong_state: run_\S+ has 100001 rows and keeps 100000 of them/,
    );
  });

  it('is refused for more messages than a job takes, with a maximum age that helps', async () => {
    await order('a', 90);
    const run = await compare(withIds('old'));
    await topology.publish(notification('order-paid', withIds('old')));
    const [row] = (await runs().rows({ run: run.id }, 1)).items;
    if (!row) throw new Error('there is a row');
    topology.clock.pass(DAY);
    const now = topology.clock.now();
    const more = Array.from({ length: 10_000 }, (_, index) => ({
      ...row,
      slot: `dlv_${index}` as DeliveryId,
      at: now - index,
    }));
    await runs().addRows(more);
    expect(await refusalOf(look(run))).toMatch(
      /^wrong_state: more than 10000 messages are missing.* with a maximum age of 23h, then look again/,
    );
    expect(await look(run, { since: now - 23 * 3_600_000 })).toMatchObject({ count: 10_000 });
  });
});
