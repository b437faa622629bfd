import type { NotificationBody } from '@carillon/domain/configuration';
import { newAsking, triggerIdOf } from '@carillon/domain/lookups';
import {
  noRowCounts,
  NO_READ_COUNTS,
  type RunLookup,
  type MissingSelection,
  type CompareRun,
} from '@carillon/domain/runs';
import { openDelivery } from '@carillon/domain/deliveries';
import { isCarillonError, type DeliveryId, type EventId } from '@carillon/kernel';
import { givenIntent, givenTrigger, integration, PAID_MAIL, template } from '@carillon/testing/given';
import { newTask } from '@carillon/stages';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findMissing } from '../src/runs/find-missing.ts';
import { refuseChanged } from '../src/runs/missing.ts';
import { openMissingFixture, PAID, withIds, type MissingFixture } from './missing-fixture.ts';

const DAY = 86_400_000;

let fixture: MissingFixture;
let topology: MissingFixture['topology'];
beforeEach(async () => {
  fixture = await openMissingFixture();
  ({ topology } = fixture);
});
afterEach(() => topology.close());

const SELECTION: MissingSelection = { differences: ['added'], slotStates: ['none'], rules: null, since: 0 };
const look = (run: CompareRun, selection: Partial<MissingSelection> = {}) =>
  findMissing(run, { ...SELECTION, ...selection }, fixture.ports());
const ordersOf = async (run: CompareRun, selection: Partial<MissingSelection> = {}, notificationId = 'ntf_old') => {
  const { messages } = await look(run, selection);
  const names = new Map(['a', 'b', 'c', 'd'].map((id) => [fixture.slotOf(id, notificationId), id]));
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
  it('are the messages that the edit adds, without those sent since the run ended', async () => {
    for (const id of ['a', 'b', 'c']) await fixture.order(id, 90);
    await fixture.order('d', 200);
    const run = await fixture.compare(withIds('old'));
    await fixture.publish(withIds('old'));
    const before = await look(run);
    expect(before).toMatchObject({
      count: 3,
      people: 3,
      tooOld: 0,
      byRule: [{ rule: 'order-paid.paid', messages: 3, people: 3 }],
    });
    await fixture.hold(fixture.slotOf('b'), 'SENT');
    const after = await look(run);
    expect(after.messages.map(({ slot }) => slot)).toEqual([fixture.slotOf('a'), fixture.slotOf('c')]);
    expect(() => refuseChanged(after, before)).toThrow('2 messages are missing now, and 3 were confirmed');
  });

  it('include stopped messages only on request, and never cancelled messages or messages in doubt', async () => {
    for (const id of ['a', 'b', 'c', 'd']) await fixture.order(id, 90);
    const run = await fixture.compare(withIds('old'));
    await fixture.publish(withIds('old'));
    await fixture.hold(fixture.slotOf('a'), 'SUPPRESSED');
    await fixture.hold(fixture.slotOf('b'), 'CANCELLED');
    await fixture.hold(fixture.slotOf('c'), 'FAILED', false);
    expect(await ordersOf(run)).toEqual(['d']);
    expect(await ordersOf(run, { slotStates: ['stopped'] })).toEqual(['a']);
    expect(await ordersOf(run, { slotStates: ['none', 'stopped'] })).toEqual(['a', 'd']);
  });

  it('leave out and count the events that are too old', async () => {
    await fixture.order('a', 90);
    topology.clock.pass(10 * DAY);
    await fixture.order('b', 90);
    const run = await fixture.compare(withIds('old'));
    await fixture.publish(withIds('old'));
    const since = topology.clock.now() - 7 * DAY;
    expect(await look(run, { since })).toMatchObject({ count: 1, tooOld: 1, oldest: topology.clock.now() });
    await fixture.hold(fixture.slotOf('a'), 'SENT');
    expect(await look(run, { since })).toMatchObject({ count: 1, tooOld: 0 });
  });

  it('have the slots that publishing gives to a new notification', async () => {
    await fixture.publish(null);
    for (const id of ['a', 'b']) await fixture.order(id, 90);
    const run = await fixture.compare(withIds('proposed'));
    await fixture.publish(withIds('published'));
    expect(await ordersOf(run, {}, 'ntf_published')).toEqual(['a', 'b']);
    // The live rule notifies an order of the list.
    await fixture.hold(fixture.slotOf('a', 'ntf_published'), 'SENT');
    expect(await ordersOf(run, {}, 'ntf_published')).toEqual(['b']);
    const again = await fixture.compare(withIds('published'));
    expect((await look(again, { differences: ['added', 'changed'] })).messages).toEqual([]);
  });

  it('have the slots that publishing gives to a new rule whose unique_id is the trigger', async () => {
    for (const id of ['a', 'b']) await fixture.order(id, 90);
    const late = (name: string): NotificationBody => {
      const body = withIds('old', 'event.total > 100');
      const recipients = { ...PAID.recipients, unique_id: 'trigger_id' } as typeof PAID.recipients;
      return {
        ...body,
        rules: { ...body.rules, late: { ...PAID, id: `rul_${name}`, when: 'event.total == 90', recipients } },
      };
    };
    const base = topology.ports.configuration.current();
    const run = await fixture.compare(late('proposed'));
    await fixture.publish(late('published'));
    const same = await look(await fixture.compare(late('published'), { base }));
    expect(same.count).toBe(2);
    expect(await look(run)).toMatchObject({ count: 2, checksum: same.checksum });
  });

  it('with a changed unique_id are missing only if neither the old nor the new id was notified', async () => {
    for (const id of ['a', 'b', 'c']) await fixture.order(id, 200);
    const body = withIds('old', 'event.total > 100');
    const rules = {
      paid: {
        ...PAID,
        ...body.rules['paid'],
        recipients: { ...PAID.recipients, unique_id: '"new-" + event.order_id' },
      },
    };
    const edited = { ...body, rules } as NotificationBody;
    const run = await fixture.compare(edited);
    await fixture.publish(edited);
    await fixture.hold(fixture.slotOf('a'), 'SENT');
    await fixture.hold(fixture.slotOf('new-b'), 'SENT');
    expect((await look(run)).messages).toEqual([]);
    const { messages } = await look(run, { differences: ['new_unique_id'] });
    expect(messages.map(({ slot }) => slot)).toEqual([fixture.slotOf('new-c')]);
  });
});

describe('a look at messages that a job would refuse', () => {
  const edited = (): NotificationBody => withIds('old');
  /** Stores a delivery of the newest event to a person, under a unique_id that the rule does not give. */
  async function notified(person: string, state: 'SENT' | 'SUPPRESSED'): Promise<void> {
    const event = (await topology.records('carillon.events')).at(-1);
    const moment = { now: topology.clock.now(), derive: topology.ids.derive };
    const intent = givenIntent('live', { uniqueId: 'other', person, eventId: event?.headers['event_id'] as EventId });
    const slot = { ...intent.slot, notificationId: 'ntf_old' };
    const delivery = openDelivery({ ...intent, slot }, 'carillon.intents/0@0', 'dlv_other' as DeliveryId, moment);
    await topology.ports.ledger.insert([{ ...delivery, state, clean: true, nextAt: null }]);
  }

  it('skips a message whose person already has a message about the event under another unique_id', async () => {
    await fixture.order('a', 90);
    await fixture.order('b', 90);
    await notified('b@example.com', 'SENT');
    const run = await fixture.compare(edited());
    await fixture.publish(edited());
    expect(await ordersOf(run)).toEqual(['a']);
  });

  it('counts such a message if the other one ended unsent and stopped is named', async () => {
    await fixture.order('a', 90);
    await notified('a@example.com', 'SUPPRESSED');
    const run = await fixture.compare(edited());
    await fixture.publish(edited());
    expect(await ordersOf(run)).toEqual([]);
    expect(await ordersOf(run, { slotStates: ['none', 'stopped'] })).toEqual(['a']);
  });

  it('counts a message although another person has one about the event', async () => {
    await fixture.order('a', 90);
    await notified('somebody@example.com', 'SENT');
    const run = await fixture.compare(edited());
    await fixture.publish(edited());
    expect(await ordersOf(run)).toEqual(['a']);
  });
});

describe('the lookups of a run', () => {
  const asking = (rule: string): NotificationBody => ({
    ...withIds('old'),
    rules: {
      [rule]: {
        ...PAID,
        when: 'true',
        recipients: { from: 'lookup', integration: 'crm', user_ids: '[event.order_id, "owner"]' },
      },
    },
  });

  it('are found if needs_lookup is named, by rule and age, beside messages', async () => {
    await fixture.order('a', 90);
    topology.clock.pass(2 * DAY);
    await fixture.order('b', 90);
    const crm = { kind: 'lookup', url: 'https://crm.example.com/people', match: 'id' } as never;
    await topology.publish(integration('crm', crm));
    const run = await fixture.compare(asking('watched'));
    await fixture.publish(asking('watched'));
    expect(await look(run)).toMatchObject({ count: 0, needsLookup: { events: 0 } });
    const differences = ['added', 'needs_lookup'] as const;
    const found = await look(run, { differences });
    expect(found).toMatchObject({ count: 2, people: 0, needsLookup: { events: 2, userIds: 4 }, tooOld: 0 });
    expect(found.lookups.map(({ rule }) => rule)).toEqual(['order-paid.watched', 'order-paid.watched']);
    const since = topology.clock.now() - DAY;
    const newer = await look(run, { differences, since });
    expect(newer).toMatchObject({ count: 1, tooOld: 1, oldest: topology.clock.now() });
    expect(newer.checksum).not.toBe(found.checksum);
    expect(await look(run, { differences, rules: ['order-paid.watched'] })).toMatchObject({ count: 2 });
    expect(await refusalOf(look(run, { differences, rules: ['order-paid.late'] }))).toMatch(/^invalid_request: rule/);
  });
});

describe('the lookups of a run that a sending job has asked about', () => {
  const CRM = { kind: 'lookup', url: 'https://crm.example.com/people', match: 'id' } as never;
  const asking: NotificationBody = {
    ...withIds('old'),
    rules: {
      paid: {
        ...PAID,
        id: 'rul_old',
        when: 'true',
        recipients: { from: 'lookup', integration: 'crm', user_ids: '["owner"]' },
      },
    },
  };

  it('are not counted while the partner may answer or has answered, and are counted after the lookup was given up', async () => {
    await topology.publish(integration('crm', CRM));
    await fixture.order('a', 90);
    const run = await fixture.compare(asking);
    await fixture.publish(asking);
    const count = async () => (await look(run, { differences: ['needs_lookup'] })).count;
    expect(await count()).toBe(1);
    const job = await fixture.storeSendingJob();
    expect(await count()).toBe(1);
    const { claims, tasks } = topology.ports;
    const [lookup] = (await topology.data.runs.lookups(run.id, 1)).items;
    const eventId = lookup?.eventId as EventId;
    const id = triggerIdOf(topology.ids.derive, 'rul_old', eventId, { part: 0, runId: job });
    const trigger = givenTrigger({ id, ruleId: 'rul_old', eventId });
    const asked = newTask(trigger, newAsking(trigger, { partition: 0, offset: 0, key: 'k' }), topology.clock.now());
    await tasks.insert([asked]);
    expect(await count()).toBe(0);
    const ended = { kind: 'parked', reason: 'partner_refused', deadLetterId: null };
    const data = JSON.stringify({ ...(JSON.parse(asked.data) as object), trigger: null, ended });
    await tasks.replace(asked.version, { ...asked, done: true, data, version: asked.version + 1 });
    expect(await count()).toBe(1);
    await claims.claim([{ triggerId: id, position: 'carillon.lookups/0@0', at: 0 }]);
    expect(await count()).toBe(0);
  });
});

describe('a look at the missing messages', () => {
  it('reads the lookups of several events in one query, and those of one event once', async () => {
    const crm = { kind: 'lookup', url: 'https://crm.example.com/people', match: 'id' } as never;
    await topology.publish(integration('crm', crm));
    const lookup = { from: 'lookup', integration: 'crm', user_ids: '["owner"]' } as const;
    const withLookup = (body: NotificationBody): NotificationBody => ({
      ...body,
      rules: { ...body.rules, asked: { ...PAID, id: 'rul_asked', when: 'false', recipients: lookup } },
    });
    await fixture.publish(withLookup(withIds('old', 'event.total > 100')));
    for (let order = 0; order < 20; order += 1) await fixture.order(`order-${order}`, 90);
    const run = await fixture.compare(withLookup(withIds('old')));
    await fixture.publish(withLookup(withIds('old')));
    const { promise: asked, resolve } = Promise.withResolvers<void>();
    let waiting = 0;
    const { claims } = topology.ports;
    const get: typeof claims.get = async (id) => {
      waiting += 1;
      if (waiting === 16) resolve();
      await asked;
      return claims.get(id);
    };
    const { messages } = await findMissing(run, SELECTION, { ...fixture.ports(), claims: { ...claims, get } });
    expect([messages.length, waiting]).toEqual([20, 20]);
  });

  it('is refused for a run that has not finished', async () => {
    await fixture.order('a', 90);
    const run = await fixture.compare(withIds('old'), { state: 'running' });
    expect(await refusalOf(look(run))).toMatch(/^run_unfinished: run_\S+ is running/);
  });

  it('is refused before the edit is published, and after a later change of a resource that it uses', async () => {
    await fixture.order('a', 90);
    const run = await fixture.compare(withIds('old'));
    expect(await refusalOf(look(run))).toMatch(/^not_published: notification order-paid is not published as compared/);
    await fixture.publish(withIds('old'));
    expect(await look(run)).toMatchObject({ count: 1 });
    await topology.publish(template('order-paid', { email: { ...PAID_MAIL.email, text: 'Hi' } }));
    expect(await refusalOf(look(run))).toMatch(/^not_published: template order-paid is not published/);
  });

  it('is refused for a rule that was not compared', async () => {
    await fixture.order('a', 90);
    const run = await fixture.compare(withIds('old'));
    expect(await refusalOf(look(run, { rules: ['welcome.paid'] }))).toMatch(/^invalid_request: rule: .*welcome.paid/);
  });

  it('is refused for more rows than a run keeps', async () => {
    await fixture.order('a', 90);
    const run = await fixture.compare(withIds('old'));
    const rows = { ...noRowCounts(), differences: { ...noRowCounts().differences, added: 60_000, removed: 40_001 } };
    expect(await refusalOf(look({ ...run, counts: { read: NO_READ_COUNTS, rows } }))).toMatch(
      /^wrong_state: run_\S+ has 100001 rows and keeps 100000 of them/,
    );
  });

  it('is refused for events that need a lookup if the run holds the maximum number of lookups', async () => {
    await fixture.order('a', 90);
    const run = await fixture.compare(withIds('old'));
    await fixture.publish(withIds('old'));
    const ports = fixture.ports();
    const lookup = {
      run: run.id,
      eventId: 'evt_1',
      position: 'carillon.events/0@0',
      at: 0,
      rule: 'order-paid.paid',
      userIds: 1,
    };
    const lookups = async () => ({ items: Array.from({ length: 100_000 }, () => lookup as RunLookup), next: null });
    const selection = { differences: ['needs_lookup'], slotStates: ['none'], rules: null, since: 0 } as const;
    const looked = findMissing(run, selection, { ...ports, runs: { ...ports.runs, lookups } });
    expect(await refusalOf(looked)).toMatch(
      /^wrong_state: run_\S+ reached its limit of 100000 events that need a lookup/,
    );
  });

  it('is refused for more messages than a job takes, with a maximum age that helps', async () => {
    await fixture.order('a', 90);
    const run = await fixture.compare(withIds('old'));
    await fixture.publish(withIds('old'));
    const [row] = (await topology.data.runs.rows({ run: run.id }, 1)).items;
    if (!row) throw new Error('there is a row');
    topology.clock.pass(DAY);
    const now = topology.clock.now();
    const more = Array.from({ length: 10_000 }, (_, index) => ({
      ...row,
      slot: `dlv_${index}` as DeliveryId,
      at: now - index,
    }));
    await topology.data.runs.addRows(more);
    expect(await refusalOf(look(run))).toMatch(
      /^wrong_state: more than 10000 messages are missing.* with a maximum age of 23h, then look again/,
    );
    expect(await look(run, { since: now - 23 * 3_600_000 })).toMatchObject({ count: 10_000 });
  });
});
