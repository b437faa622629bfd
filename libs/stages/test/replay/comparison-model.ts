import type { Intent } from '@carillon/domain/deliveries';
import type { SourceEvent } from '@carillon/domain/events';
import type { Trigger } from '@carillon/domain/lookups';
import { givenIds, givenLookup } from '@carillon/testing/given';
import { evaluateEvent, resolveLookup, type RecordedAnswer } from '../../src/index.ts';
import { book, shopOf, type Options } from './comparison-fixture.ts';

/** What a comparison comes to by plain loops over the functions of the live stages. */
export type Model = {
  /** Differences by slot, as `added order.paid evt_01`, sorted. */
  readonly texts: readonly string[];
  readonly wanted: { readonly before: number; readonly after: number };
  /** Slots of *before* that have a new slot on *after*. */
  readonly replaced: number;
};

type Message = { readonly event: SourceEvent; readonly intent: Intent; readonly slot: string; readonly text: string };

const slotText = ({ slot }: Intent): string => `${slot.notificationId} ${slot.channel} ${slot.uniqueId}`;
const hasAddress = ({ to }: Intent): boolean => to !== null && to.includes('@');

/** Resolves a trigger by the recorded answer; null if the answer does not name every user id. */
function resolve(trigger: Trigger, options: Options, answers: readonly RecordedAnswer[]): readonly Intent[] | null {
  const [answer] = answers
    .filter(({ ruleId, eventId }) => ruleId === trigger.ruleId && eventId === trigger.eventId)
    .toSorted((a, b) => a.at - b.at);
  if (!answer || !trigger.userIds.every((id) => answer.userIds.includes(id))) return null;
  const lookup = givenLookup({
    trigger,
    items: answer.items.filter(({ userId }) => trigger.userIds.some((id) => id === userId)),
  });
  const resolved = resolveLookup(lookup, shopOf(options), book, givenIds.derive);
  if (!resolved.ok) throw new Error(resolved.error);
  return resolved.value.intents;
}

function messagesOf(events: readonly SourceEvent[], options: Options, answers: readonly RecordedAnswer[]) {
  const configuration = shopOf(options);
  const messages: Message[] = [];
  const unanswered = new Set<string>();
  for (const event of events) {
    for (const evaluated of evaluateEvent(event, configuration, book, givenIds.derive)) {
      const asked = evaluated.triggers.map((trigger) => resolve(trigger, options, answers));
      if (asked.includes(null)) unanswered.add(`${event.position.offset} shop/order.${evaluated.placed.name}`);
      for (const intent of [...evaluated.intents, ...asked.flatMap((intents) => intents ?? [])]) {
        const text = JSON.stringify([intent.to, intent.variables, options.text]);
        if (hasAddress(intent)) messages.push({ event, intent, slot: slotText(intent), text });
      }
    }
  }
  return { messages, unanswered };
}

/** The first message of each slot, by append time and event id. */
function firstBySlot(messages: readonly Message[]): ReadonlyMap<string, Message> {
  const first = new Map<string, Message>();
  for (const message of messages) {
    const known = first.get(message.slot);
    const isEarlier =
      !known ||
      message.event.appendedAt < known.event.appendedAt ||
      (message.event.appendedAt === known.event.appendedAt && message.event.id < known.event.id);
    if (isEarlier) first.set(message.slot, message);
  }
  return first;
}

/** Returns true if both messages are of one event, rule, channel and person. */
const isAlike = (a: Message, b: Message): boolean =>
  a.event === b.event &&
  a.intent.ruleId === b.intent.ruleId &&
  a.intent.slot.channel === b.intent.slot.channel &&
  a.intent.person === b.intent.person;

/** Returns true if the other side has a like message in a slot that this side gives to no like message. */
const hasOtherUniqueId = (message: Message, own: readonly Message[], other: readonly Message[]): boolean => {
  const slots = own.filter((each) => isAlike(each, message)).map(({ slot }) => slot);
  return other.some((each) => isAlike(each, message) && !slots.includes(each.slot));
};

/** Keeps the first message of each event and slot. */
const withoutRepeats = (messages: readonly Message[]): readonly Message[] =>
  messages.filter(
    (message, index) =>
      messages.findIndex(({ event, slot }) => event === message.event && slot === message.slot) === index,
  );

export function modelOf(
  events: readonly SourceEvent[],
  options: { readonly before: Options; readonly after: Options },
  answers: readonly RecordedAnswer[],
): Model {
  const old = messagesOf(events, options.before, answers);
  const edited = messagesOf(events, options.after, answers);
  const isKnown = ({ event, intent }: Message): boolean =>
    ![old, edited].some(({ unanswered }) => unanswered.has(`${event.position.offset} ${intent.ruleId}`));
  const [before, after] = [old.messages.filter(isKnown), edited.messages.filter(isKnown)];
  const [beforeSlots, afterSlots] = [firstBySlot(withoutRepeats(before)), firstBySlot(withoutRepeats(after))];
  const texts: string[] = [];
  let replaced = 0;
  for (const [slot, message] of afterSlots) {
    const same = beforeSlots.get(slot);
    const single = hasOtherUniqueId(message, after, before) ? 'new_unique_id' : 'added';
    const difference = same ? (same.text === message.text ? 'unchanged' : 'changed') : single;
    texts.push(`${difference} ${message.intent.rule} ${message.event.id}`);
  }
  for (const [slot, message] of beforeSlots) {
    if (afterSlots.has(slot)) continue;
    if (hasOtherUniqueId(message, before, after)) replaced += 1;
    else texts.push(`removed ${message.intent.rule} ${message.event.id}`);
  }
  return {
    texts: texts.toSorted(),
    wanted: { before: beforeSlots.size, after: afterSlots.size },
    replaced,
  };
}
