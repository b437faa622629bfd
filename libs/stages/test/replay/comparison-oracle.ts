import { notificationIdOf, findResource } from '@carillon/domain/configuration';
import type { DeliveryState } from '@carillon/domain/deliveries';
import type { SourceEvent } from '@carillon/domain/events';
import { triggerIdOf } from '@carillon/domain/lookups';
import type { RowCounts, RowDifference, SlotState } from '@carillon/domain/runs';
import type { DeliveryId } from '@carillon/kernel';
import { givenIds } from '@carillon/testing/given';
import { deliveryIdOf, type RecordedAnswer } from '../../src/index.ts';
import { shopOf, type Options } from './comparison-fixture.ts';

/*
 * Says what a comparison has to count, by plain loops over the events. It evaluates no expression and uses no stage: the rules of the
 * fixture are written here once more. Only ids come from the product.
 */

/** A delivery: its state, and the delivery that its digest has. */
export type OracleDelivery = { readonly state: DeliveryState; readonly digestedIn?: DeliveryId };
/** Each delivery that exists, by its id. */
export type OracleLedger = ReadonlyMap<DeliveryId, OracleDelivery>;

type Message = {
  readonly event: SourceEvent;
  readonly rule: string;
  readonly person: string;
  readonly slot: DeliveryId;
  /** Address and content. */
  readonly text: string;
};
type Person = { readonly id: string; readonly name: string; readonly email: string };

function slotOf(options: Options, uniqueId: string): DeliveryId {
  const notification = findResource(shopOf(options), 'notification', 'shop', 'order');
  if (!notification) throw new Error('the fixture has a notification');
  const notificationId = notificationIdOf(notification);
  return deliveryIdOf({ slot: { workspace: 'shop', notificationId, channel: 'email', uniqueId } }, givenIds);
}

/** Messages of the rule `paid`, and of the two that are written like it. */
function messagesOfPeople(
  event: SourceEvent,
  rule: string,
  options: Options,
  uniqueId: Options['uniqueId'],
): Message[] {
  const messages: Message[] = [];
  for (const person of event.body['people'] as readonly Person[]) {
    const name = options.name === 'item.name' ? person.name : person.id;
    if (options.where !== 'true' && name === 'Bob') continue;
    if (!person.email.includes('@')) continue;
    const ids = {
      'event.order': event.body['order'] as string,
      event_id: `${event.id}:${person.email}`,
      'item.id': person.id,
      trigger_id: `${triggerIdOf(givenIds.derive, `shop/order.${rule}`, event.id)}:${person.email}`,
    };
    const text = JSON.stringify([person.email, name, event.body['order'], options.text]);
    messages.push({ event, rule, person: person.id, slot: slotOf(options, ids[uniqueId]), text });
  }
  return messages;
}

/** Messages of the rule `asked`, which takes its recipients from a recorded answer. Null: no recorded answer fits. */
function messagesOfAnswer(event: SourceEvent, options: Options, answers: readonly RecordedAnswer[]): Message[] | null {
  const wanted = [...(event.body['watchers'] as readonly string[])];
  if (options.userIds !== 'event.watchers' && !wanted.includes('dee')) wanted.push('dee');
  if (wanted.length === 0) return [];
  let first: RecordedAnswer | null = null;
  for (const answer of answers) {
    if (answer.eventId === event.id && (first === null || answer.at < first.at)) first = answer;
  }
  if (first === null) return null;
  for (const id of wanted) if (!first.userIds.includes(id)) return null;
  const messages: Message[] = [];
  for (const { userId, to, variables } of first.items) {
    if (userId === null || !wanted.includes(userId)) continue;
    const name = variables['name'] as string;
    if (options.where !== 'true' && name === 'Bob') continue;
    const text = JSON.stringify([to.email, name, event.body['order'], options.text]);
    messages.push({ event, rule: 'asked', person: userId, slot: slotOf(options, `${event.id}:${to.email}`), text });
  }
  return messages;
}

/** Messages of an event by rule. Null: the rule asks, and no recorded answer fits. */
export function messagesOfSide(event: SourceEvent, options: Options, answers: readonly RecordedAnswer[]) {
  const amount = Number(event.body['amount']);
  const fires = amount >= options.threshold;
  const byRule = new Map<string, Message[] | null>();
  if (options.asks && fires) {
    byRule.set(
      'asked',
      options.askedFrom === 'event'
        ? messagesOfPeople(event, 'asked', options, 'trigger_id')
        : messagesOfAnswer(event, options, answers),
    );
  }
  if (options.second && amount < 50) byRule.set('early', messagesOfPeople(event, 'early', options, options.uniqueId));
  if (fires) byRule.set('paid', messagesOfPeople(event, 'paid', options, options.uniqueId));
  return byRule;
}

/** Keeps the first message of each slot: by append time, then by event id, then by the order of the rules. */
function firstOfEachSlot(messages: readonly Message[]): ReadonlyMap<DeliveryId, Message> {
  const first = new Map<DeliveryId, Message>();
  for (const message of messages) {
    const known = first.get(message.slot);
    const [a, b] = [message.event, known?.event];
    if (!b || a.appendedAt < b.appendedAt || (a.appendedAt === b.appendedAt && a.id < b.id)) {
      first.set(message.slot, message);
    }
  }
  return first;
}

const NOTIFIED: readonly DeliveryState[] = ['SENDING', 'SENT', 'DELIVERED', 'BOUNCED', 'COMPLAINED', 'IN_DOUBT'];
function stateIn(ledger: OracleLedger, slot: DeliveryId): SlotState {
  const delivery = ledger.get(slot);
  if (!delivery) return 'none';
  const { state, digestedIn } = delivery;
  // A digest that is kept no longer was sent.
  if (state === 'DIGESTED') return digestedIn && ledger.has(digestedIn) ? stateIn(ledger, digestedIn) : 'notified';
  if (NOTIFIED.includes(state)) return 'notified';
  return state === 'WAITING' || state === 'COLLECTED' ? 'waiting' : 'stopped';
}

export type Found = {
  readonly slot: DeliveryId;
  readonly difference: RowDifference | 'unchanged';
  readonly message: Message;
  readonly looked: DeliveryId;
};

/** Returns the slots of a comparison over these events. */
export function findSlots(
  events: readonly SourceEvent[],
  { before, after }: { readonly before: Options; readonly after: Options },
  answers: readonly RecordedAnswer[],
): readonly Found[] {
  const old: Message[] = [];
  const edited: Message[] = [];
  for (const event of events) {
    const [left, right] = [messagesOfSide(event, before, answers), messagesOfSide(event, after, answers)];
    for (const rule of ['paid', 'early', 'asked']) {
      // A rule without a fitting answer on either side is left out on both.
      if (left.get(rule) === null || right.get(rule) === null) continue;
      old.push(...(left.get(rule) ?? []));
      edited.push(...(right.get(rule) ?? []));
    }
  }
  return differencesOf(old, edited);
}

/** Names a row: difference, rule, event, slot and slot state. */
export const rowTextOf = ({ difference, looked, message, slot }: Found, ledger: OracleLedger): string =>
  `${difference} order.${message.rule} ${message.event.id} ${slot} ${stateIn(ledger, looked)}`;

function differencesOf(old: readonly Message[], edited: readonly Message[]): readonly Found[] {
  const [oldSlots, newSlots] = [firstOfEachSlot(old), firstOfEachSlot(edited)];
  const found: Found[] = [];
  for (const [slot, message] of newSlots) {
    const same = oldSlots.get(slot);
    const moved = same ? null : otherSlotOf(message, edited, old);
    const content = same?.text === message.text ? 'unchanged' : 'changed';
    if (same) found.push({ slot, difference: content, message, looked: slot });
    else if (moved !== null) found.push({ slot, difference: 'new_unique_id', message, looked: moved });
    else found.push({ slot, difference: 'added', message, looked: slot });
  }
  for (const [slot, message] of oldSlots) {
    if (newSlots.has(slot) || otherSlotOf(message, old, edited) !== null) continue;
    found.push({ slot, difference: 'removed', message, looked: slot });
  }
  return found;
}

/** Slot under which the other side notifies the same person about the same event by the same rule, if this side does not use it. */
function otherSlotOf(message: Message, own: readonly Message[], other: readonly Message[]): DeliveryId | null {
  const alike = ({ event, rule, person }: Message): boolean =>
    event === message.event && rule === message.rule && person === message.person;
  const used = new Set(own.filter(alike).map(({ slot }) => slot));
  for (const each of other) if (alike(each) && !used.has(each.slot)) return each.slot;
  return null;
}

const ROWS = ['added', 'removed', 'changed', 'new_unique_id'] as const;

/** Returns the counts of slots. */
export function countFound(slots: readonly Found[], ledger: OracleLedger): RowCounts {
  const numberOf = (matches: (found: Found) => boolean): number => slots.filter(matches).length;
  const is = (name: Found['difference']) => (found: Found) => found.difference === name;
  const perRow = <Value>(value: (name: RowDifference) => Value) =>
    Object.fromEntries(ROWS.map((name) => [name, value(name)])) as Record<RowDifference, Value>;
  const perDifference = (among: (found: Found) => boolean) => ({
    ...perRow((name) => numberOf((found) => is(name)(found) && among(found))),
    unchanged: numberOf((found) => found.difference === 'unchanged' && among(found)),
  });
  const stateOf = ({ looked }: Found): SlotState => stateIn(ledger, looked);
  const peopleOf = (name: RowDifference): readonly string[] => [
    ...new Set(slots.filter(is(name)).map(({ message }) => message.person)),
  ];
  const dayOfFound = ({ message }: Found): string => new Date(message.event.appendedAt).toISOString().slice(0, 10);
  const rules = [...new Set(slots.map(({ message }) => message.rule))].toSorted();
  const days = [...new Set(slots.filter((found) => found.difference !== 'unchanged').map(dayOfFound))].toSorted();
  return {
    differences: perDifference(() => true),
    slotStates: perRow((name) => {
      const inState = (state: SlotState) => numberOf((found) => is(name)(found) && stateOf(found) === state);
      return {
        notified: inState('notified'),
        waiting: inState('waiting'),
        stopped: inState('stopped'),
        none: inState('none'),
      };
    }),
    people: perRow((name) => peopleOf(name).length),
    notifiedPeople: perRow(
      (name) =>
        peopleOf(name).filter((person) =>
          slots
            .filter((found) => is(name)(found) && found.message.person === person)
            .every((f) => stateOf(f) === 'notified'),
        ).length,
    ),
    byRule: rules.map((rule) => ({ rule: `order.${rule}`, ...perDifference(({ message }) => message.rule === rule) })),
    byDay: days.map((day) => ({ day, ...perRow((name) => numberOf((f) => is(name)(f) && dayOfFound(f) === day)) })),
  };
}
