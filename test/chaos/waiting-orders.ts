import { setTimeout as pause } from 'node:timers/promises';
import type { Delivery, Intent } from '@carillon/domain/deliveries';
import type { EventId } from '@carillon/kernel';
import type { EventLog } from '@carillon/ports';
import type { CaseRecord, EventBody, RuleSpec } from '../../libs/stages/test/evaluate/stateful/cases.ts';
import { firingsOf } from '../../libs/stages/test/evaluate/stateful/oracle.ts';
import { ruleBodyOf } from '../../libs/stages/test/evaluate/stateful/product-run.ts';
import { between, createChance } from '../harness/chance.ts';
import { readTopic } from './changes-on-log.ts';
import { WAITING_PLACES } from './failpoints/places.ts';

/* Orders of which some are paid in time, clients that send them, and what should come of the log that they left. */

const WAIT_S = 4;
const QUIET_S = 6;
/** "Placed (a) and not paid (b)", and "nothing more viewed (c)", at most once an hour. */
const RULES: readonly RuleSpec[] = [
  { totals: [], when: kind('a'), wait: { by: 'after', seconds: WAIT_S }, unless: kind('b'), cooldown: null },
  { totals: [], when: kind('c'), wait: { by: 'after_last', seconds: QUIET_S }, unless: null, cooldown: 3_600 },
];

function kind(name: EventBody['kind']) {
  return { is: 'kind', kind: name } as const;
}

/** Each event has a number, which is the subject of its message. */
export const WAITING_FILES: Readonly<Record<string, string>> = {
  'workspaces/shop/workspace.yaml': 'name: Shop\n',
  'workspaces/shop/streams/orders.yaml': 'key: event.order_id\nsecurity: { api_keys: [backend] }\n',
  'workspaces/shop/templates/order/email.yaml': 'subject: "{{ number }} {{ due }}"\nfrom: Shop <shop@example.com>\n',
  'workspaces/shop/templates/order/email.txt': 'Order {{ order_id }}.\n',
  'workspaces/shop/notifications/order.yaml': JSON.stringify({
    channels: { email: { template: 'order' } },
    rules: Object.fromEntries(RULES.map((rule, at) => [`r${at}`, ruleBodyOf({ ...rule, isEnabled: true })])),
  }),
};

type Post = { readonly number: number; readonly afterMs: number; readonly kind: EventBody['kind'] };

/** What happens to an order, in its order. A third is never paid, a third in time, the others around the deadline or later. */
function eventsOf(chance: () => number, number: () => number): readonly Post[] {
  const posts: Post[] = [{ number: number(), afterMs: 0, kind: 'a' }];
  const post = (afterMs: number, name: EventBody['kind']) => posts.push({ number: number(), afterMs, kind: name });
  const fate = chance();
  if (chance() < 0.2) post(between(chance, 0, WAIT_S * 1_000), 'c');
  if (fate > 0.34 && fate < 0.67) post(between(chance, 0, WAIT_S * 900), 'b');
  else if (fate >= 0.67) post(between(chance, WAIT_S * 900, WAIT_S * 1_500), 'b');
  if (chance() < 0.1) post(between(chance, 0, 2 * QUIET_S * 1_000), 'c');
  return posts.toSorted((one, other) => one.afterMs - other.afterMs);
}

export type OrderClients = {
  /** Events that were acknowledged so far. */
  taken(): number;
  /** Resolves when every event is acknowledged. */
  readonly done: Promise<void>;
};

/** Statuses after which a client repeats. A process that was stopped answers 408 to a body it could not read in time. */
const REPEATED: ReadonlySet<number> = new Set([408, 429]);
/** Requests that are under way at once. */
const CONCURRENCY = 24;
/** The first events of two orders, in milliseconds. */
const SPACING_MS = 15;

/** Sends this many orders, each event again until it is acknowledged. `gateway` waits while there is none. */
export function startOrderClients(
  { orders, seed, key }: { readonly orders: number; readonly seed: number; readonly key: string },
  gateway: () => Promise<string>,
): OrderClients {
  const chance = createChance(seed);
  const begun = Date.now();
  let numbers = 0;
  let taken = 0;
  let free = CONCURRENCY;
  const waiting: (() => void)[] = [];
  const enter = async (): Promise<void> => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
  };
  const leave = (): void => {
    const next = waiting.shift();
    if (next) next();
    else free += 1;
  };

  async function send(order: string, post: Post): Promise<void> {
    const body = { number: post.number, order_id: order, kind: post.kind, email: `${order.toLowerCase()}@example.com` };
    for (;;) {
      await enter();
      const status = await postTo(await gateway(), body).catch(() => 0);
      leave();
      if (status === 202) break;
      if (status >= 400 && status < 500 && !REPEATED.has(status)) throw new Error(`refused with ${status}`);
      await pause(100);
    }
    taken += 1;
  }

  const postTo = async (url: string, body: { readonly number: number }): Promise<number> => {
    const response = await fetch(`${url}/events/shop/orders`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'idempotency-key': `number-${body.number}`,
      },
      body: JSON.stringify(body),
    });
    await response.arrayBuffer();
    return response.status;
  };

  async function run(order: number, posts: readonly Post[]): Promise<void> {
    const from = begun + order * SPACING_MS;
    for (const post of posts) {
      await pause(Math.max(0, from + post.afterMs - Date.now()));
      await send(`O-${order}`, post);
    }
  }
  const done = Promise.all(
    Array.from({ length: orders }, (_, order) =>
      run(
        order,
        eventsOf(chance, () => (numbers += 1)),
      ),
    ),
  ).then(() => undefined);
  return { taken: () => taken, done };
}

/** Places at which a process of an engine or a delivery may fail. */
const PLACES = [
  ...WAITING_PLACES,
  'intents.append',
  'evaluations.append',
  'engine.checkpoint',
  'delivery.insert',
] as const;

/** Returns an order to fail at one of the places, at one of its first times, by a kill or an answer that is lost. */
export function waitingFailpoint(chance: () => number): string {
  const pick = <Value>(of: readonly Value[]): Value => of[Math.floor(chance() * of.length)] as Value;
  return `${pick(PLACES)}.${pick(['before', 'after'])}:${Math.ceil(between(chance, 0, 12))}:${pick(['kill', 'throw'])}`;
}

/** A message that should have been sent, by the number of its event. */
export type Owed = { readonly number: number; readonly eventId: EventId; readonly deadline: number };

/** Reads a log, and returns what the oracle says of each partition. */
export async function owedBy(log: Pick<EventLog, 'partitions' | 'bounds' | 'read'>): Promise<readonly Owed[]> {
  const partitions = new Map<number, { readonly records: CaseRecord[]; readonly numbers: number[] }>();
  for await (const records of readTopic(log, 'carillon.events')) {
    for (const { partition, headers, time, value } of records) {
      const known = partitions.get(partition) ?? { records: [], numbers: [] };
      partitions.set(partition, known);
      const isEvent = headers['kind'] === 'event';
      const body = isEvent
        ? (JSON.parse(Buffer.from(value).toString()) as EventBody & { number: number; order_id: string })
        : null;
      known.numbers.push(body?.number ?? 0);
      known.records.push(
        body === null
          ? { at: time, holds: 'tick' }
          : { at: time, holds: 'event', id: headers['event_id'] ?? '', entity: body.order_id, body, time },
      );
    }
  }
  return [...partitions.values()].flatMap(({ records, numbers }) =>
    firingsOf({ rules: RULES, records, grace: null }).map(({ event, deadline }) => {
      const record = records[event];
      if (record?.holds !== 'event' || deadline === null) throw new Error('a firing at no deadline');
      return { number: numbers[event] ?? 0, eventId: record.id as EventId, deadline };
    }),
  );
}

/** A message that a mail server took. */
export type TakenMail = { readonly at: number; readonly subject: string };

export type WaitingReport = {
  readonly owed: number;
  readonly mails: number;
  readonly inDoubt: number;
  /** What is wrong, in words. */
  readonly findings: readonly string[];
};

/** Compares what a product left behind with what it owed: log, ledger and mail server. */
export function compareOwed(
  owed: readonly Owed[],
  { intents, deliveries }: { readonly intents: readonly Intent[]; readonly deliveries: readonly Delivery[] },
  mails: readonly TakenMail[],
): WaitingReport {
  const findings: string[] = [];
  const byEvent = new Map(owed.map((each) => [each.eventId, each]));
  const texts = new Map<string, string>();
  for (const intent of intents) {
    const expected = byEvent.get(intent.eventId);
    const what = `the message of ${intent.eventId}`;
    if (!expected) findings.push(`${what} is not owed`);
    else if (intent.deadline !== expected.deadline) findings.push(`${what} has the deadline ${intent.deadline}`);
    const text = JSON.stringify(intent);
    if ((texts.get(intent.eventId) ?? text) !== text) findings.push(`${what} is on the log in two forms`);
    texts.set(intent.eventId, text);
  }
  const doubts = new Set(deliveries.flatMap(({ state, intent }) => (state === 'IN_DOUBT' ? [intent.eventId] : [])));
  const byNumber = new Map(owed.map((each) => [each.number, each]));
  const times = new Map<number, number>();
  for (const { at, subject } of mails) {
    const [number = 0] = subject.split(' ').map(Number);
    const expected = byNumber.get(number);
    times.set(number, (times.get(number) ?? 0) + 1);
    if (!expected) findings.push(`mail ${subject} is not owed`);
    else if (at < expected.deadline) findings.push(`mail ${subject} came before its deadline`);
  }
  for (const [number, count] of times) if (count > 1) findings.push(`mail ${number} came ${count} times`);
  for (const { number, eventId } of owed) {
    if (!texts.has(eventId)) findings.push(`the message of ${eventId} is not on the log`);
    else if (!times.has(number) && !doubts.has(eventId)) findings.push(`mail ${number} did not come`);
  }
  return { owed: owed.length, mails: mails.length, inDoubt: doubts.size, findings };
}
