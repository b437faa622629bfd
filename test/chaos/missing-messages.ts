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

/** Returns the deliveries of the orders by address, or undefined while one of them may still change. */
export function endedDeliveries(
  orders: readonly MissingOrder[],
  deliveries: readonly DeliveryBody[],
): ReadonlyMap<string, DeliveryBody> | undefined {
  const found = new Map(deliveries.map((delivery) => [delivery.to ?? '', delivery]));
  return orders.every(({ email }) => ENDS.has(found.get(email)?.state ?? '')) ? found : undefined;
}

/** What the mail server and the ledger say of some orders. */
export type Reached = {
  /** Addresses that got two messages or more. */
  readonly twice: readonly string[];
  /** Addresses without a message whose delivery is not in doubt. */
  readonly lost: readonly string[];
  /** Addresses whose call to the mail server was under way at a kill. */
  readonly inDoubt: number;
  /** Addresses without a live event whose delivery names none of the jobs. */
  readonly notByJobs: readonly string[];
};

export function readReached(
  orders: readonly MissingOrder[],
  ends: ReadonlyMap<string, DeliveryBody>,
  accepted: readonly AcceptedMail[],
  jobs: readonly string[],
): Reached {
  const addresses = orders.map(({ email }) => email);
  const countOf = (address: string): number => accepted.filter(({ to }) => to.includes(address)).length;
  const isInDoubt = (address: string): boolean => ends.get(address)?.state === 'IN_DOUBT';
  const isByJobs = (address: string): boolean => jobs.includes(ends.get(address)?.sent_by?.job ?? '');
  return {
    twice: addresses.filter((address) => countOf(address) > 1),
    lost: addresses.filter((address) => countOf(address) === 0 && !isInDoubt(address)),
    inDoubt: addresses.filter(isInDoubt).length,
    notByJobs: addresses.filter((address, at) => !isLive(at) && !isByJobs(address)),
  };
}

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

/** Kills before and after each place, at its first, second and third time. */
export const sendingFailpoints = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => {
    const place = PLACES[at % PLACES.length] ?? '';
    const side = Math.floor(at / PLACES.length) % 2 === 0 ? 'before' : 'after';
    return `${place}.${side}:${1 + (Math.floor(at / (2 * PLACES.length)) % 3)}:kill`;
  });
