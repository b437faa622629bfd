import type { DeliveryBody } from '@carillon/contracts';
import type { AcceptedMail } from '@carillon/testing';
import { order, shopFiles, type Files } from '../integration/product/shop.ts';

/* Messages that an edited rule would have sent, of which the live rule sends some as well. */

const RULES = 'workspaces/shop/notifications/order-paid.yaml';
const LIVE_THRESHOLD = 2_000;
const EDITED_THRESHOLD = 1_000;
/** Total of an order that only the edited rule fires for. */
const MISSING_TOTAL = 1_500;
/** The live rule fires for one of so many people. Only the jobs can reach the others. */
const PEOPLE_PER_LIVE_EVENT = 3;
/** States in which a delivery stays. A message that nobody got is lost in all of them but one. */
const ENDS: ReadonlySet<string> = new Set(['SENT', 'IN_DOUBT', 'FAILED', 'EXPIRED', 'SUPPRESSED', 'CANCELLED']);

/** Milliseconds between the events of two rounds, so that a time tells them apart. */
export const GAP_MS = 20;

/** Configurations with the live rule and with the edited one. */
export function rulesOf(deployment: string): { readonly live: Files; readonly edited: Files } {
  const files = shopFiles({ deployment });
  const withThreshold = (threshold: number): Files => ({
    ...files,
    [RULES]: (files[RULES] ?? '').replace('event.total > 100', `event.total > ${threshold}`),
  });
  return { live: withThreshold(LIVE_THRESHOLD), edited: withThreshold(EDITED_THRESHOLD) };
}

export type MissingOrder = ReturnType<typeof order>;

/** Orders of a round, each of a person of its own. */
export const missingOrders = (round: number, messages: number): readonly MissingOrder[] =>
  Array.from({ length: messages }, (_, at) => {
    const id = `R${round}-${at}`;
    return order(id, { total: MISSING_TOTAL, name: id, email: `${id.toLowerCase()}@example.com` });
  });

const isLive = (at: number): boolean => at % PEOPLE_PER_LIVE_EVENT === 0;
/** The orders that come again while the missing messages are sent, when the edited rule is the live one. */
export const liveOrders = (orders: readonly MissingOrder[]): readonly MissingOrder[] =>
  orders.filter((_, at) => isLive(at));

/** Deliveries by address. A duplicate is a row of the list, and no delivery. */
export type Ends = ReadonlyMap<string, readonly DeliveryBody[]>;

/** Returns the deliveries of the orders by address, or undefined while one of them may still change. */
export function endedDeliveries(orders: readonly MissingOrder[], listed: readonly DeliveryBody[]): Ends | undefined {
  const deliveries = listed.filter(({ duplicate_of: holder }) => holder === null);
  const found = Map.groupBy(deliveries, ({ to }) => to ?? '');
  const hasEnded = ({ email }: MissingOrder): boolean =>
    found.get(email)?.every(({ state }) => ENDS.has(state)) ?? false;
  return orders.every(hasEnded) ? found : undefined;
}

export type DeliveryPage = { readonly items: readonly DeliveryBody[]; readonly next: string | null };

/** Reads all deliveries of the shop, newest first. */
export async function readDeliveries(get: (path: string) => Promise<DeliveryPage>): Promise<readonly DeliveryBody[]> {
  const found: DeliveryBody[] = [];
  let cursor = '';
  for (;;) {
    const page = await get(`/v1/workspaces/shop/deliveries?limit=200${cursor}`);
    found.push(...page.items);
    if (page.next === null) return found;
    cursor = `&cursor=${encodeURIComponent(page.next)}`;
  }
}

/** What the mail server and the ledger say of some orders. */
export type Reached = {
  /** Addresses that got two messages or more. */
  readonly twice: readonly string[];
  /** Addresses of which not exactly one delivery was sent or is in doubt. */
  readonly notOne: readonly string[];
  /** Addresses without a message whose delivery is not in doubt. */
  readonly lost: readonly string[];
  /** Addresses whose call to the mail server was under way at a kill. */
  readonly inDoubt: number;
  /** Addresses without a live event whose delivery names none of the jobs. */
  readonly notByJobs: readonly string[];
};

export function readReached(
  orders: readonly MissingOrder[],
  ends: Ends,
  accepted: readonly AcceptedMail[],
  jobs: readonly string[],
): Reached {
  const addresses = orders.map(({ email }) => email);
  const countOf = (address: string): number => accepted.filter(({ to }) => to.includes(address)).length;
  const deliveriesTo = (address: string): readonly DeliveryBody[] => ends.get(address) ?? [];
  const isInDoubt = (address: string): boolean => deliveriesTo(address).some(({ state }) => state === 'IN_DOUBT');
  const isByJobs = (address: string): boolean =>
    deliveriesTo(address).some(({ sent_by: sentBy }) => jobs.includes(sentBy?.job ?? ''));
  const mayHaveReached = ({ state }: DeliveryBody): boolean => state === 'SENT' || state === 'IN_DOUBT';
  return {
    twice: addresses.filter((address) => countOf(address) > 1),
    notOne: addresses.filter((address) => deliveriesTo(address).filter(mayHaveReached).length !== 1),
    lost: addresses.filter((address) => countOf(address) === 0 && !isInDoubt(address)),
    inDoubt: addresses.filter(isInDoubt).length,
    notByJobs: addresses.filter((address, at) => !isLive(at) && !isByJobs(address)),
  };
}

/** A round of sending whose messages are not counted yet. */
export type Uncounted = {
  readonly orders: readonly MissingOrder[];
  /** Ids of the sending jobs. */
  readonly sending: readonly string[];
};

/** Counts the messages of all rounds, so that a late message counts too. Returns undefined while a delivery may still change. */
export function countReached<Round extends Uncounted>(
  rounds: readonly Round[],
  listed: readonly DeliveryBody[],
  accepted: readonly AcceptedMail[],
): readonly (Round & Reached)[] | undefined {
  const ends = endedDeliveries(
    rounds.flatMap(({ orders }) => orders),
    listed,
  );
  return ends && rounds.map((round) => ({ ...round, ...readReached(round.orders, ends, accepted, round.sending) }));
}

/** Calls to the mail server that a kill may cut off. */
const MAX_CALLS_AT_A_KILL = 6;

/** Returns how many of some messages may be in doubt after some kills. More than half of them would prove nothing. */
export const maxInDoubt = (kills: number, messages: number): number =>
  Math.min(kills * MAX_CALLS_AT_A_KILL, Math.floor(messages / 2));

/** Steps from an item of the job to the mail. */
const PLACES = [
  'intents.append',
  'audit.append',
  'job.replace',
  'delivery.insert',
  'delivery.checkpoint',
  'delivery.sending',
  'delivery.sent',
  'outcomes.append',
  'engine.checkpoint',
];

/** Counts of a verification that found nothing wrong. Messages of sending jobs have no event to come from. */
export const NOTHING_WRONG = { missing: 0, no_cause: 0, different: 0, unreadable: 0, past_retention: 0 };

/** Kills before and after each place, at its first, second and third time. */
export const sendingFailpoints = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => {
    const place = PLACES[at % PLACES.length] ?? '';
    const side = Math.floor(at / PLACES.length) % 2 === 0 ? 'before' : 'after';
    return `${place}.${side}:${1 + (Math.floor(at / (2 * PLACES.length)) % 3)}:kill`;
  });
