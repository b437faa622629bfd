import { createHash } from 'node:crypto';
import fc from 'fast-check';
import type { Configuration, RuleBody } from '@carillon/domain/configuration';
import type { SourceEvent } from '@carillon/domain/events';
import type { Line, RowPerson } from '@carillon/domain/runs';
import { runToCompletion, type EventId } from '@carillon/kernel';
import {
  configurationOf,
  givenEvent,
  givenIds,
  givenRuleBook,
  MORNING,
  notification,
  ORDERS,
  stream,
  template,
} from '@carillon/testing/given';
import {
  checksumOf,
  compareEventCoroutine,
  compareForChecksum,
  createRowCounter,
  isFirstAnswer,
  joinSlots,
  narrowRuleBook,
  type ComparedConfigurations,
  type ComparedEvent,
  type ComparedSlot,
  type RecordedAnswer,
} from '../../src/index.ts';

/** Edits that a side may have. Each field is one that the tests change. */
export type Options = {
  readonly threshold: number;
  readonly where: string;
  readonly uniqueId: 'event.order' | 'event_id' | 'item.id' | 'trigger_id';
  readonly name: 'item.name' | 'item.id';
  readonly text: string;
  readonly second: boolean;
  readonly asks: boolean;
  /** Where the rule `asked` takes its recipients from. */
  readonly askedFrom: 'lookup' | 'event';
  readonly userIds: 'event.watchers' | 'event.watchers + ["dee"]';
};

export const OPTIONS: Options = {
  threshold: 100,
  where: 'true',
  uniqueId: 'event.order',
  name: 'item.name',
  text: 'Hello {{name}}',
  second: false,
  asks: false,
  askedFrom: 'lookup',
  userIds: 'event.watchers',
};

export const anyOptions: fc.Arbitrary<Options> = fc.record({
  threshold: fc.constantFrom(0, 80, 100),
  where: fc.constantFrom('true', 'variables.name != "Bob"'),
  uniqueId: fc.constantFrom('event.order', 'event_id', 'item.id', 'trigger_id'),
  name: fc.constantFrom('item.name', 'item.id'),
  text: fc.constantFrom('Hello {{name}}', 'Dear {{name}}'),
  second: fc.boolean(),
  asks: fc.boolean(),
  askedFrom: fc.constantFrom('lookup', 'event'),
  userIds: fc.constantFrom('event.watchers', 'event.watchers + ["dee"]'),
});

const paid = ({ threshold, where, uniqueId, name }: Options): RuleBody => ({
  stream: 'orders',
  when: `event.amount >= ${threshold}`,
  recipients: {
    from: 'event',
    for_each: 'event.people',
    to: { email: 'item.email' },
    variables: { name },
    where,
    person: 'item.id',
    unique_id: uniqueId,
  },
});
const asked = (options: Options): RuleBody => {
  const { threshold, where, userIds, askedFrom } = options;
  if (askedFrom === 'event') return paid({ ...options, uniqueId: 'trigger_id' });
  return {
    stream: 'orders',
    when: `event.amount >= ${threshold}`,
    recipients: { from: 'lookup', integration: 'crm', user_ids: userIds, where, unique_id: 'event_id' },
  };
};

/** A shop whose rules have these options. */
export const shopOf = (options: Options): Configuration =>
  configurationOf([
    stream('orders', ORDERS),
    template('order', { email: { subject: 'Order {{order}}', text: options.text } }),
    notification('order', {
      channels: { email: { template: 'order' } },
      rules: {
        paid: paid(options),
        ...(options.second && { early: { ...paid(options), when: 'event.amount < 50' } }),
        ...(options.asks && { asked: asked(options) }),
      },
    }),
  ]);

const anyPerson = fc.constantFrom(
  { id: 'ann', name: 'Ann', email: 'ann@example.com' },
  { id: 'bob', name: 'Bob', email: 'bob@example.com' },
  { id: 'cem', name: 'Cem', email: 'cem@example.com' },
  { id: 'dee', name: 'Dee', email: 'no address' },
);

/** Events of a shop in several partitions. Some have the same id, time or order, but none the same id and time. */
export const anyHistory: fc.Arbitrary<readonly SourceEvent[]> = fc
  .array(
    fc.record({
      id: fc.integer({ min: 1, max: 20 }),
      at: fc.integer({ min: 0, max: 5 }),
      partition: fc.integer({ min: 0, max: 2 }),
      amount: fc.constantFrom(10, 90, 120),
      order: fc.constantFrom('o1', 'o2', 'o3'),
      people: fc.array(anyPerson, { maxLength: 3 }),
      watchers: fc.uniqueArray(fc.constantFrom('ann', 'bob', 'cem'), { maxLength: 2 }),
    }),
    { maxLength: 12 },
  )
  .map((events) => {
    const distinct = new Map(events.map((event) => [`${event.id} ${event.at}`, event]));
    return [...distinct.values()].map(({ id, at, partition, ...body }, offset): SourceEvent => {
      const event = givenEvent(body, `evt_${String(id).padStart(2, '0')}`, offset);
      return { ...event, appendedAt: MORNING + at * 86_400_000, position: { ...event.position, partition } };
    });
  });

/** An answer of the partner `crm` about the watchers of an event, as it stands on the log. */
export const answerFor = (event: SourceEvent, more: Partial<RecordedAnswer> = {}): RecordedAnswer => {
  const userIds = event.body['watchers'] as readonly string[];
  return {
    ruleId: 'shop/order.asked',
    eventId: event.id,
    part: 0,
    triggerId: 'trg_1' as RecordedAnswer['triggerId'],
    at: event.appendedAt,
    integration: 'crm',
    userIds,
    items: userIds.map((userId) => ({
      userId,
      to: { email: `${userId}@example.com`, phone: null, token: null },
      variables: { name: userId === 'bob' ? 'Bob' : userId },
    })),
    ...more,
  };
};

export const book = givenRuleBook();
const narrowed = narrowRuleBook(book, ({ notification: { ref } }) => ref.name === 'order');

/** Compares one event, with the answers that the log has about it. */
export function compareOne(
  event: SourceEvent,
  configurations: ComparedConfigurations,
  answers: readonly RecordedAnswer[] = [],
): ComparedEvent {
  const findAnswer = (ruleId: string, eventId: EventId, part: number): RecordedAnswer | undefined =>
    answers
      .filter((answer) => answer.ruleId === ruleId && answer.eventId === eventId && answer.part === part)
      .toSorted((a, b) => (isFirstAnswer(a, b) ? -1 : 1))[0];
  return runToCompletion(compareEventCoroutine(event, { configurations, book: narrowed, ids: givenIds, findAnswer }));
}

export const linesOfAll = (
  events: readonly SourceEvent[],
  configurations: ComparedConfigurations,
  answers: readonly RecordedAnswer[] = [],
): readonly Line[] => events.flatMap((event) => compareOne(event, configurations, answers).lines);

/** Joins lines as a scratch file does: sorted by slot. */
export const slotsOf = (lines: readonly Line[]): readonly ComparedSlot[] => [
  ...joinSlots(
    lines.toSorted((a, b) => (a.slot < b.slot ? -1 : a.slot > b.slot ? 1 : 0)),
    (ruleId) => ruleId.replace('shop/', ''),
  ),
];

export const checksum = (lines: readonly Line[]): string =>
  checksumOf(lines.toSorted(compareForChecksum), createHash('sha256'));

/** Slots by difference, as a text for comparing: `added order.paid evt_01`. */
export const textOf = ({ difference, rule, eventId }: ComparedSlot): string => `${difference} ${rule} ${eventId}`;

/** People of rows in the order that counting needs. */
export const inOrder = (people: readonly RowPerson[]): readonly RowPerson[] =>
  people.toSorted((a, b) => (a.difference + a.person < b.difference + b.person ? -1 : 1));

export const countDifferences = (slots: readonly ComparedSlot[]) => {
  const counter = createRowCounter();
  for (const slot of slots) {
    if (slot.difference === 'unchanged') counter.addUnchanged(slot.rule, 1);
    else counter.addRow({ ...slot, difference: slot.difference }, 'none');
  }
  return counter.counts().differences;
};
