import { firstAddress, searchedAddresses, type ChannelName } from '@carillon/domain/channels';
import {
  describeReason,
  reasonText,
  type Delivery,
  type DeliveryState,
  type Intent,
} from '@carillon/domain/deliveries';
import { StepBudget, type Bindings, type CompiledRule, type Dropped, type Recipient } from '@carillon/domain/rules';
import { stringifyJson, type DeliveryId, type Json } from '@carillon/kernel';
import type { DeliveryLedger, Ids } from '@carillon/ports';
import { deliveryIdOf } from '@carillon/stages';

/** Outcome for a person named by an event. `waiting`: not final. `in_doubt`: unknown. */
export type PersonOutcome = 'told' | 'waiting' | 'in_doubt' | 'not_told';

/** A recipient named by an event, before their outcome is read. Recipients that were dropped together are one entry. */
export type NamedPerson = {
  readonly rule: string;
  /** Index of the recipient in the rule's list, from 1. */
  readonly place: number;
  readonly count: number;
  /** Item of the rule's list or the partner's answer as JSON, truncated. */
  readonly item: string | null;
  readonly recipient: Pick<Recipient, 'uniqueId' | 'person'> & { readonly address: string | null };
  readonly message: {
    readonly intentId: string;
    readonly deliveryId: DeliveryId;
    readonly channel: ChannelName;
  } | null;
  readonly dropped: Pick<Dropped, 'reason' | 'detail'> | null;
};

/** A recipient with their outcome. */
export type PersonStory = NamedPerson & {
  readonly outcome: PersonOutcome;
  readonly state: DeliveryState | null;
  readonly reason: string;
  readonly text: string;
};

const NOBODY = { uniqueId: '', person: '', address: null } as const;
const ITEM_CHARACTERS = 300;

export function itemText(item: Json): string {
  const text = stringifyJson(item);
  return text.length > ITEM_CHARACTERS ? `${text.slice(0, ITEM_CHARACTERS)}…` : text;
}

/** Returns the list that a rule iterates for an event, one item per recipient. Undefined if the rule has no list. */
export function listItems(rule: CompiledRule, bindings: Bindings): readonly Json[] | undefined {
  const list = rule.from === 'event' ? rule.forEach?.evaluate(bindings, new StepBudget()) : undefined;
  return list?.ok && Array.isArray(list.value) ? (list.value as readonly Json[]) : undefined;
}

type Naming = {
  readonly rule: string;
  readonly recipients: readonly Recipient[];
  readonly dropped: readonly Dropped[];
  /** Intents in the order of the recipients. */
  readonly intents: readonly Intent[];
  /** Returns the item at an index, from 0. Undefined if the rule has no list. */
  readonly itemAt: (index: number) => Json | undefined;
};

/** Returns all recipients of a fired rule, including dropped ones, in the order of its list. */
export function namedPeople({ rule, recipients, dropped, intents, itemAt }: Naming, ids: Ids): readonly NamedPerson[] {
  const named: NamedPerson[] = [];
  const drops = new Map(dropped.map((drop) => [drop.index, drop]));
  const textAt = (index: number): string | null => {
    const item = itemAt(index);
    return item === undefined ? null : itemText(item);
  };
  let index = 0;
  let at = 0;
  const skipDropped = (): void => {
    for (let drop = drops.get(index); drop; drop = drops.get(index)) {
      const { count, reason, detail } = drop;
      const item = count === 1 ? textAt(index) : null;
      named.push({
        rule,
        place: index + 1,
        count,
        item,
        recipient: NOBODY,
        message: null,
        dropped: { reason, detail },
      });
      index += count;
    }
  };
  for (const { to, uniqueId, person } of recipients) {
    skipDropped();
    const base = { rule, place: index + 1, count: 1, item: textAt(index), dropped: null };
    const channels = new Set<string>();
    for (let intent = intents[at]; intent; intent = intents[at]) {
      const { channel } = intent.slot;
      const isOwn = intent.slot.uniqueId === uniqueId && intent.person === person && !channels.has(channel);
      if (!isOwn) break;
      channels.add(channel);
      const message = { intentId: intent.id, deliveryId: deliveryIdOf(intent, ids), channel };
      named.push({ ...base, recipient: { uniqueId, person, address: intent.to }, message });
      at += 1;
    }
    if (channels.size === 0) {
      named.push({
        ...base,
        recipient: { uniqueId, person, address: firstAddress(to) },
        message: null,
      });
    }
    index += 1;
  }
  skipDropped();
  return named;
}

const ENDS: Readonly<Record<DeliveryState, PersonOutcome>> = {
  WAITING: 'waiting',
  COLLECTED: 'waiting',
  DIGESTED: 'waiting',
  SENDING: 'waiting',
  SENT: 'told',
  DELIVERED: 'told',
  COMPLAINED: 'told',
  IN_DOUBT: 'in_doubt',
  BOUNCED: 'not_told',
  FAILED: 'not_told',
  EXPIRED: 'not_told',
  CANCELLED: 'not_told',
  SUPPRESSED: 'not_told',
};

type Ending = Pick<PersonStory, 'outcome' | 'state' | 'reason' | 'text'>;

/** Adds a recipient's current outcome from the ledger. */
export async function personStory(named: NamedPerson, ledger: Pick<DeliveryLedger, 'get'>): Promise<PersonStory> {
  const { message, dropped } = named;
  if (dropped) return { ...named, outcome: 'not_told', state: null, reason: dropped.reason, text: dropped.detail };
  if (!message) {
    const text = 'they have no address for any channel of the notification';
    return { ...named, outcome: 'not_told', state: null, reason: 'no_channel', text };
  }
  const delivery = await ledger.get(message.deliveryId);
  if (!delivery) {
    return { ...named, outcome: 'waiting', state: null, reason: 'new', text: 'not in the ledger yet' };
  }
  const digest = delivery.digestedIn === undefined ? null : await ledger.get(delivery.digestedIn);
  return { ...named, ...endingOf(delivery, message.intentId, digest) };
}

function endingOf(
  { id, intent, history, state, reason, detail }: Delivery,
  intentId: string,
  digest: Delivery | null,
): Ending {
  if (intent.id === intentId) {
    // An item of a digest has the outcome of the digest.
    if (digest) {
      const text = `in digest ${digest.id}, which is ${digest.state} (${digest.reason})`;
      return { outcome: ENDS[digest.state], state, reason, text };
    }
    return { outcome: ENDS[state], state, reason, text: detail === '' ? describeReason(reason) : detail };
  }
  const last = history.findLast((entry) => entry.intentId === intentId);
  if (last)
    return { outcome: ENDS[last.state], state: last.state, reason: last.reason, text: describeReason(last.reason) };
  const text = `already notified for event ${intent.eventId}: delivery ${id} is ${state}`;
  return { outcome: 'not_told', state: 'SUPPRESSED', reason: 'duplicate', text };
}

/** A search for a person by prefix or whole text. `forms`: possible stored forms, in lower case. */
export type Searched = { readonly text: string; readonly isWhole: boolean; readonly forms: readonly string[] };

export const searchFor = (text: string, isWhole: boolean): Searched => ({
  text,
  isWhole,
  forms: [text, ...searchedAddresses(text)].map((form) => form.toLowerCase()),
});

/**
 * Returns true if address, person or unique_id of a recipient matches the search, regardless of case. For dropped
 * recipients, the item must contain the text.
 */
export function isAbout({ recipient, dropped, item }: NamedPerson, searched: Searched): boolean {
  const { address, person, uniqueId } = recipient;
  if (dropped) return item !== null && isIn(item, searched);
  const { forms, isWhole } = searched;
  return [address ?? '', person, uniqueId]
    .map((name) => name.toLowerCase())
    .some((name) => forms.some((form) => (isWhole ? name === form : name.startsWith(form))));
}

/** Returns true if a JSON text contains the searched text: anywhere, or as one whole value. */
export const isIn = (json: string, { text, isWhole }: Searched): boolean =>
  json.toLowerCase().includes((isWhole ? JSON.stringify(text) : text).toLowerCase());

export type PeopleCounts = Readonly<Record<PersonOutcome, number>>;

/** Counts the outcomes of an event's recipients, with the reasons of failures. */
export class PeopleTally {
  readonly #counts: Record<PersonOutcome, number> = { told: 0, waiting: 0, in_doubt: 0, not_told: 0 };
  readonly #reasons = new Map<string, number>();

  add({ outcome, reason, count }: PersonStory): void {
    this.#counts[outcome] += count;
    if (outcome === 'not_told') this.#reasons.set(reason, (this.#reasons.get(reason) ?? 0) + count);
  }

  get counts(): PeopleCounts {
    return { ...this.#counts };
  }

  /** Summary such as `498 notified, 2 not: 1 rule error, 1 no address`. */
  get headline(): string {
    const { told, waiting, in_doubt, not_told } = this.#counts;
    const reasons = [...this.#reasons]
      .toSorted(([, one], [, other]) => other - one)
      .map(([reason, count]) => `${count} ${reasonText(reason) ?? reason}`);
    return [
      `${told} notified`,
      ...(waiting > 0 ? [`${waiting} waiting`] : []),
      ...(in_doubt > 0 ? [`${in_doubt} in doubt`] : []),
      ...(not_told > 0 ? [`${not_told} not: ${reasons.join(', ')}`] : []),
    ].join(', ');
  }
}
