import { findResource, notificationIdOf, type NotificationBody } from '@carillon/domain/configuration';
import { formatPosition, type SourceEvent } from '@carillon/domain/events';
import { OWNER_ACTOR } from '@carillon/domain/people';
import { dayOf, type Row, type CompareRun } from '@carillon/domain/runs';
import { formatInstant, type EventId, type JobId, type RunId } from '@carillon/kernel';
import { deliveryIdOf, readSourceRecord } from '@carillon/stages';
import { neverYield, notification, ORDER_PAID, orderShop, stream } from '@carillon/testing/given';
import { openTopology, type Topology } from '@carillon/testing/topology';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { explainRow } from '../src/runs/explain-row.ts';

type RuleEdit = {
  readonly when?: string;
  readonly where?: string;
  readonly email?: string;
  readonly person?: string;
  readonly stream?: string;
  readonly uniqueId?: string;
  readonly after?: string;
  readonly variables?: Readonly<Record<string, string>>;
};
const RULE_ID = 'rul_paid';
const HOUR = 3_600_000;
/** The notification with a rule that has been edited. */
function withRule({
  when = 'event.total > 100',
  where,
  email = 'item',
  person = 'item',
  stream: on = 'orders',
  uniqueId = 'item',
  after,
  variables = {},
}: RuleEdit) {
  const recipients = {
    from: 'event',
    for_each: 'event.guests',
    to: { email },
    person,
    unique_id: uniqueId,
    variables,
  } as const;
  const chosen = { ...recipients, ...(where !== undefined && { where }) };
  const paid = { id: RULE_ID, stream: on, when, ...(after !== undefined && { after }), recipients: chosen };
  return { ...ORDER_PAID, rules: { paid } } as NotificationBody;
}

let topology: Topology;
let event: SourceEvent;
/** Configuration numbers by name. */
const numbers: Record<string, number> = {};
const EDITS: Readonly<Record<string, NotificationBody | null>> = {
  published: withRule({}),
  lower: withRule({ when: 'event.total > 80' }),
  without_bob: withRule({ when: 'event.total > 80', where: 'item != "bob@example.com"' }),
  no_address: withRule({ when: 'event.total > 80', email: 'item == "bob@example.com" ? "" : item' }),
  elsewhere: withRule({ when: 'event.total > 80', stream: 'refunds' }),
  disabled: { ...withRule({ when: 'event.total > 80' }), enabled: false },
  failing: withRule({ when: 'event.missing > 80' }),
  of_one_person: withRule({ when: 'event.total > 80', person: '"ada"' }),
  of_one_person_without_bob: withRule({
    when: 'event.total > 80',
    person: '"ada"',
    where: 'item != "bob@example.com"',
  }),
  other_id_no_address: withRule({
    when: 'event.total > 80',
    email: 'item == "bob@example.com" ? "" : item',
    uniqueId: '"new-" + item',
  }),
  other_address: withRule({ when: 'event.total > 80', email: '"new-" + item' }),
  asking: asking('event.total > 80'),
  waiting: withRule({ when: 'event.total > 80', after: '1h', variables: { order_id: 'string(deadline)' } }),
  waiting_longer: withRule({ when: 'event.total > 80', after: '2h', variables: { order_id: 'string(deadline)' } }),
  comparing: withRule({ when: 'changed(event.total)', variables: { order_id: 'previous.order_id' } }),
  removed: null,
};
/** Asks a partner whose answers are not kept. */
function asking(when: string): NotificationBody {
  const recipients = {
    from: 'lookup',
    integration: 'crm',
    user_ids: 'event.guests',
    unique_id: 'event_id',
  } as const;
  return { ...ORDER_PAID, rules: { paid: { id: RULE_ID, stream: 'orders', when, recipients } } };
}
beforeAll(async () => {
  topology = await openTopology({ partitions: 1 });
  await topology.publish(
    ...orderShop().filter(({ ref }) => ref.kind !== 'notification'),
    stream('refunds', { security: { api_keys: ['main'] } }),
  );
  await topology.publish(stream('orders', { key: 'event.order_id', security: { api_keys: ['main'] } }));
  for (const [name, body] of Object.entries(EDITS)) {
    numbers[name] = await topology.publish(notification('order-paid', body));
  }
  const named = { ...withRule({ when: 'event.total > 80' }), id: 'ntf_1' };
  numbers['named'] = await topology.publish(notification('order-paid', named));
  const renamed = { ...withRule({}), id: 'ntf_1' };
  numbers['renamed'] = await topology.publish(notification('order-paid', null), notification('order-settled', renamed));
  await topology.event({
    total: 90,
    order_id: 'A-1',
    customer: { name: 'Ada' },
    guests: ['ada@example.com', 'bob@example.com'],
  });
  const [received] = (await topology.records('carillon.events')).flatMap((record) => {
    const read = readSourceRecord(record, topology.ports.log.logId);
    return read.ok && read.value.kind === 'event' ? [read.value.event] : [];
  });
  if (!received) throw new Error('there is an event');
  event = received;
});
afterAll(() => topology.close());

const runOf = (before: string, after: string): CompareRun => ({
  id: 'run_1' as RunId,
  workspace: 'shop',
  kind: 'compare',
  by: OWNER_ACTOR,
  from: 0,
  to: Date.now(),
  logStartsAt: null,
  logId: topology.ports.log.logId,
  offsets: [],
  before: numbers[before] ?? 0,
  published: numbers[after] ?? 0,
  changes: [],
  notifications: ['order-paid', 'order-settled'],
  notCompared: [],
  leftOut: [],
  progress: { read: 1, total: 1 },
  counts: null,
  checksum: null,
  job: 'job_1' as JobId,
  createdAt: 0,
  version: 1,
});

/** The row of Bob's message, which the configuration of this name wants. */
async function bobsRow(wanting = 'lower'): Promise<Row> {
  const configuration = await topology.ports.configuration.at(numbers[wanting] ?? 0);
  const placed = findResource(configuration, 'notification', 'shop', 'order-paid');
  if (!placed) throw new Error('there is a notification');
  const notificationId = notificationIdOf(placed);
  const slot = { workspace: 'shop', notificationId, channel: 'email', uniqueId: 'bob@example.com' } as const;
  return {
    run: 'run_1' as RunId,
    slot: deliveryIdOf({ slot }, topology.ids),
    difference: 'added',
    oldSlot: null,
    ruleId: RULE_ID,
    rule: 'order-paid.paid',
    channel: 'email',
    eventId: event.id,
    position: formatPosition(event.position),
    at: event.appendedAt,
    day: dayOf(event.appendedAt),
    person: 'hash',
    slotState: 'none',
    slotReason: null,
  };
}

const explain = async (before: string, after: string, more: Partial<Row> = {}) =>
  explainRow(
    runOf(before, after),
    { ...(await bobsRow()), ...more },
    {
      ...topology.ports,
      slice: neverYield,
      runs: { edit: async () => [] },
    },
  );

/** The gate that stops the message, with its text. */
async function stopOf(after: string): Promise<readonly [gate: string | undefined, text: string | undefined]> {
  const { after: side } = await explain('lower', after);
  expect(side?.message).toBeNull();
  const stop = side?.gates.find(({ result }) => result !== 'passed');
  expect(stop?.result).toBe('stopped');
  return [stop?.gate, stop?.text];
}

describe('the content of a row', () => {
  it('shows the part of the condition whose value changed, and the message of the side that sends one', async () => {
    const { row, before, after } = await explain('published', 'lower');
    expect(row).toMatchObject({ person: 'bob@example.com', before: null, after: 'bob@example.com' });
    expect(before).toMatchObject({ rule: null, to: null, message: null });
    expect(before?.gates.map(({ gate, result }) => [gate, result])).toEqual([
      ['event', 'passed'],
      ['rule', 'passed'],
      ['condition', 'stopped'],
      ['recipient', 'not_reached'],
      ['address', 'not_reached'],
    ]);
    expect(before?.gates[2]?.lines).toEqual(['event.total > 100  →  false', '  event.total  →  90']);
    expect(after?.gates.every(({ result }) => result === 'passed')).toBe(true);
    expect(after?.gates[2]?.lines[0]).toBe('event.total > 80  →  true');
    expect(after).toMatchObject({
      rule: 'order-paid.paid',
      to: 'bob@example.com',
      message: { ok: true, subject: 'Order A-1 is paid', text: expect.stringContaining('Hello Ada.') as unknown },
    });
  });

  it('names the recipient that `where` drops', async () => {
    expect(await stopOf('without_bob')).toEqual(['recipient', 'not among the 1 recipient of the rule']);
    const { after } = await explain('lower', 'without_bob');
    expect(after?.gates[3]?.lines).toEqual([expect.stringMatching(/^recipient 2 dropped: where_false/)]);
  });

  it.each([
    ['no_address', 'address', 'no address for email'],
    ['elsewhere', 'rule', 'the rule listens on shop/refunds, and the event came on shop/orders'],
    ['disabled', 'rule', 'the rule or its notification is switched off'],
    ['removed', 'rule', 'there is no such rule'],
  ])('names the gate that stops the message: %s', async (edit, gate, text) => {
    expect(await stopOf(edit)).toEqual([gate, text]);
  });

  it('has the error of a condition', async () => {
    const [gate, text] = await stopOf('failing');
    expect(gate).toBe('condition');
    expect(text).toContain('missing');
  });

  it('does not confuse the message of the row with another message to the same person', async () => {
    const { after } = await explain('of_one_person', 'of_one_person_without_bob');
    const stop = after?.gates.find(({ result }) => result === 'stopped');
    expect(stop).toMatchObject({ gate: 'recipient', text: 'not among the 1 recipient of the rule' });
  });

  it('names a missing address also if `unique_id` differs', async () => {
    expect(await stopOf('other_id_no_address')).toEqual(['address', 'no address for email']);
  });

  it('finds the rule of a renamed notification on both sides', async () => {
    const { slot } = await bobsRow('named');
    const rule = 'order-settled.paid';
    const there = await explain('named', 'renamed', { slot, rule, difference: 'removed' });
    expect(there.before?.gates.every(({ result }) => result === 'passed')).toBe(true);
    expect(there.after?.gates.find(({ result }) => result === 'stopped')?.gate).toBe('condition');
    const back = await explain('renamed', 'named', { slot });
    expect(back.before?.gates.find(({ result }) => result === 'stopped')?.gate).toBe('condition');
  });

  it('says that no recorded answer is left if the rule asks a partner', async () => {
    const { row, before, after } = await explain('asking', 'asking');
    expect(row.person).toBeNull();
    for (const side of [before, after]) {
      const stop = side?.gates.find(({ result }) => result !== 'passed');
      expect(stop).toMatchObject({
        gate: 'recipient',
        result: 'unknown',
        text: 'no recorded answer of the partner is left',
      });
    }
  });

  it.each([
    ['shows both messages of a change', 'lower', 'other_address', null],
    ['says that another event has the message before', 'lower', 'lower', /^Several events want this message/],
    ['says so also if this event has no message before', 'published', 'lower', /^Several events want this message/],
  ])('%s', async (_title, before, after, note) => {
    const { note: shown } = await explain(before, after, { difference: 'changed' });
    if (note === null) expect(shown).toBeNull();
    else expect(shown).toMatch(note);
  });

  it('names the deadline by which the rule fired on each side', async () => {
    const [at, atBefore] = [event.appendedAt + 2 * HOUR, event.appendedAt + HOUR];
    const content = await explain('waiting', 'waiting_longer', { difference: 'changed', at, atBefore });
    for (const [side, due] of [
      [content.before, atBefore],
      [content.after, at],
    ] as const) {
      expect(side?.gates.map(({ gate, result }) => [gate, result])).toContainEqual(['deadline', 'passed']);
      expect(side?.gates.find(({ gate }) => gate === 'deadline')?.text).toBe(
        `the rule waited until ${formatInstant(due)}, and nothing ended the wait before`,
      );
      // Expressions write no zeros at the end of a second.
      const { order_id: shown } = JSON.parse(side?.variables ?? '{}') as { readonly order_id?: string };
      expect(Date.parse(shown ?? '')).toBe(due);
    }
    expect(content.note).toBeNull();
  });

  it('explains a waiting rule by state that the event does not contain', async () => {
    const { before, after } = await explain('waiting', 'waiting_longer', { difference: 'removed' });
    expect(before).toMatchObject({ to: 'bob@example.com', rule: 'order-paid.paid' });
    expect(after?.message).toBeNull();
    const gate = after?.gates.find(({ result }) => result !== 'passed');
    expect(gate).toMatchObject({ gate: 'condition', result: 'unknown' });
    expect(gate?.text).toMatch(/^the event alone does not say why: a later event ended the wait/);
  });

  it('does not make a message again that is made of earlier events', async () => {
    const { row, after } = await explain('published', 'comparing');
    expect(row).toMatchObject({ person: null, after: null });
    expect(after?.gates.map(({ gate, result }) => [gate, result])).toEqual([
      ['event', 'passed'],
      ['rule', 'passed'],
      ['condition', 'passed'],
      ['recipient', 'unknown'],
      ['address', 'not_reached'],
    ]);
    expect(after?.gates[3]?.text).toContain('values of earlier events');
  });

  it('has no sides if the event is gone', async () => {
    expect(await explain('published', 'lower', { eventId: 'evt_gone' as EventId })).toMatchObject({
      row: { person: null },
      before: null,
      after: null,
    });
  });
});
