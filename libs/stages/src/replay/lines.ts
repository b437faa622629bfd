import { notificationIdOf, ruleIdOf, type PlacedRule } from '@carillon/domain/configuration';
import { formatPosition, type SourceEvent } from '@carillon/domain/events';
import type { Line, Side } from '@carillon/domain/runs';
import type { FoundTemplate } from '@carillon/domain/templates';
import type { DeliveryId } from '@carillon/kernel';
import type { Ids } from '@carillon/ports';
import { deliveryIdOf } from '../deliver/custody-stage.ts';
import type { Message } from '../evaluate/make-intents.ts';
import { contentOfTemplate, textOfVariables, type MessageTemplates } from './message-content.ts';

/** A message that a side wants, before anything is hashed. */
export type Wanted = Message & {
  readonly placed: PlacedRule;
  readonly uniqueId: string;
  readonly person: string;
  readonly templates: MessageTemplates;
};

/** Messages of both sides of an event. */
type WantedMessages = { readonly [Name in Side]: readonly Wanted[] };

/** A slot that an event wants on at least one side, with the first message of each side. */
type WantedSlot = { readonly slot: DeliveryId; readonly before?: Wanted; readonly after?: Wanted };

type Keyed = Pick<Ids, 'keyed'>;

type LineFacts = Pick<Line, 'at' | 'isCold' | 'totals'>;

/**
 * Returns the lines of an event, given the messages of both sides. If several messages of a side want the same slot, the first
 * has the line, as in the delivery ledger.
 */
export function linesOf(
  event: SourceEvent,
  wanted: WantedMessages,
  ids: Keyed,
  firing: LineFacts = { at: event.appendedAt, isCold: false },
): readonly Line[] {
  if (wanted.before.length === 0 && wanted.after.length === 0) return [];
  const slots = slotsOf(wanted, ids);
  const others = otherSlots(wanted, slots);
  const facts = { eventId: event.id, position: formatPosition(event.position), ...firing };
  const line = (slot: DeliveryId, side: Side, message: Wanted, content: string): Line => ({
    ...facts,
    slot,
    side,
    ruleId: ruleIdOf(message.placed),
    channel: message.channel,
    content,
    person: ids.keyed('run person', message.placed.workspace, message.person),
    otherSlot: others.get(message) ?? null,
  });
  return [...slots.values()].flatMap(({ slot, before, after }) => {
    if (!before) return after ? [line(slot, 'after', after, contentOf(after, ids))] : [];
    const content = contentOf(before, ids);
    const first = line(slot, 'before', before, content);
    if (!after) return [first];
    return [first, line(slot, 'after', after, isSameContent(before, after, ids) ? content : contentOf(after, ids))];
  });
}

/** Names the slot of a message within its event. */
const keyOf = ({ placed, channel, uniqueId }: Wanted): string =>
  JSON.stringify([notificationIdOf(placed.notification), channel, uniqueId]);

/** Joins the messages of both sides by slot. Each slot is hashed once. */
function slotsOf(wanted: WantedMessages, ids: Keyed): ReadonlyMap<string, WantedSlot> {
  const slots = new Map<string, WantedSlot>();
  const add = (side: Side, message: Wanted): void => {
    const key = keyOf(message);
    const known = slots.get(key);
    if (known?.[side]) return;
    slots.set(key, { ...known, slot: known?.slot ?? slotOf(message, ids), [side]: message });
  };
  for (const message of wanted.before) add('before', message);
  for (const message of wanted.after) add('after', message);
  return slots;
}

const slotOf = ({ placed, channel, uniqueId }: Wanted, ids: Keyed): DeliveryId =>
  deliveryIdOf(
    {
      slot: {
        workspace: placed.workspace,
        notificationId: notificationIdOf(placed.notification),
        channel,
        uniqueId,
      },
    },
    ids,
  );

/**
 * Finds the messages that differ only in `unique_id`: both sides have messages of the same rule and channel to the same person, each
 * in slots that the other side does not give them. Returns the slot of the other side for each. If the sides have different
 * numbers of such messages, the last slot of the smaller side is paired with the rest, so that they do not count as added or removed.
 */
function otherSlots(wanted: WantedMessages, slots: ReadonlyMap<string, WantedSlot>): ReadonlyMap<Wanted, DeliveryId> {
  const others = new Map<Wanted, DeliveryId>();
  if (wanted.before.length === 0 || wanted.after.length === 0) return others;
  const groups = (messages: readonly Wanted[]): ReadonlyMap<string, readonly Single[]> =>
    Map.groupBy(
      messages.flatMap((message) => {
        const slot = slots.get(keyOf(message))?.slot;
        return slot === undefined ? [] : [{ message, slot }];
      }),
      ({ message }) => groupOf(message),
    );
  const edited = groups(wanted.after);
  for (const [group, before] of groups(wanted.before)) {
    const after = edited.get(group) ?? [];
    const [onlyBefore, onlyAfter] = [without(before, after), without(after, before)];
    link(onlyBefore, onlyAfter, others);
    link(onlyAfter, onlyBefore, others);
  }
  return others;
}

const without = (messages: readonly Single[], other: readonly Single[]): readonly Single[] => {
  const slots = new Set(other.map(({ slot }) => slot));
  return messages.filter(({ slot }) => !slots.has(slot));
};

type Single = { readonly message: Wanted; readonly slot: DeliveryId };

function link(from: readonly Single[], to: readonly Single[], others: Map<Wanted, DeliveryId>): void {
  for (const [index, { message }] of from.entries()) {
    const other = to[Math.min(index, to.length - 1)];
    if (other) others.set(message, other.slot);
  }
}

const groupOf = ({ placed, channel, person }: Wanted): string => JSON.stringify([ruleIdOf(placed), channel, person]);

/** Returns true if two messages have the same address, variables and templates. */
export const isSameContent = (a: Wanted, b: Wanted, ids: Keyed): boolean =>
  a.to === b.to &&
  hashOfTemplate(a.templates.own, ids) === hashOfTemplate(b.templates.own, ids) &&
  hashOfTemplate(a.templates.digest, ids) === hashOfTemplate(b.templates.digest, ids) &&
  textOfVariables(a.variables) === textOfVariables(b.variables);

/** A keyed hash, because addresses are few enough to try them all. */
const contentOf = ({ to, variables, templates }: Wanted, ids: Keyed): string =>
  ids.keyed(
    'run content',
    to ?? '',
    textOfVariables(variables),
    hashOfTemplate(templates.own, ids),
    hashOfTemplate(templates.digest, ids),
  );

const hashes = new WeakMap<FoundTemplate, { readonly ids: Keyed; readonly hash: string }>();

/** Hashes a template once, because it may be a thousand times longer than the rest of a message. */
function hashOfTemplate(found: FoundTemplate | undefined, ids: Keyed): string {
  if (!found) return '';
  const known = hashes.get(found);
  if (known?.ids === ids) return known.hash;
  const hash = ids.keyed('run template', contentOfTemplate(found));
  hashes.set(found, { ids, hash });
  return hash;
}
