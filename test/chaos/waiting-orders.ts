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

/* Orders of which some are paid in time and some are viewed often, clients that send them, and what should come of the log that they left. */

const WAIT_S = 4;
const QUIET_S = 6;
/** "Placed (a) and not paid (b)", "nothing more viewed (c)", at most once an hour, and "viewed twice within a minute". */
const RULES: readonly RuleSpec[] = [
  {
    totals: [{ kind: 'count', where: kind('c'), within: 60 }],
    when: kind('a'),
    wait: { by: 'after', seconds: WAIT_S },
    unless: kind('b'),
    cooldown: null,
  },
  { totals: [], when: kind('c'), wait: { by: 'after_last', seconds: QUIET_S }, unless: null, cooldown: 3_600 },
  {
    totals: [{ kind: 'count', where: kind('c'), within: 60 }],
    when: { is: 'total', total: 0, atLeast: 2 },
    wait: null,
    unless: null,
    cooldown: 'until_false',
  },
];

function kind(name: EventBody['kind']) {
  return { is: 'kind', kind: name } as const;
}

/** Subject of the message of a rule about an event. Each event has a number. */
const subjectOf = (rule: number, number: number | string, total: number | string | undefined): string =>
  `r${rule} ${number}${total === undefined ? '' : ` ${total}`}`;

/** A notification with its own template, so that no message of one rule is a duplicate of another's. */
const filesOf = (rule: RuleSpec, at: number): readonly (readonly [name: string, text: string])[] => [
  [
    `workspaces/shop/templates/r${at}/email.yaml`,
    JSON.stringify({
      subject: subjectOf(at, '{{ number }}', rule.totals.length > 0 ? '{{ n }}' : undefined),
      from: 'Shop <shop@example.com>',
    }),
  ],
  [`workspaces/shop/templates/r${at}/email.txt`, 'Order {{ order_id }}.\n'],
  [
    `workspaces/shop/notifications/n${at}.yaml`,
    JSON.stringify({
      channels: { email: { template: `r${at}` } },
      rules: { [`r${at}`]: ruleBodyOf({ ...rule, isEnabled: true }) },
    }),
  ],
];

export const WAITING_FILES: Readonly<Record<string, string>> = {
  'workspaces/shop/workspace.yaml': 'name: Shop\n',
  'workspaces/shop/streams/orders.yaml': 'key: event.order_id\nsecurity: { api_keys: [backend] }\n',
  ...Object.fromEntries(RULES.flatMap(filesOf)),
};

type Post = { readonly number: number; readonly afterMs: number; readonly kind: EventBody['kind'] };

/** What happens to an order, in its order. A third is never paid, a third in time, the others around the deadline or later. */
function eventsOf(chance: () => number, number: () => number): readonly Post[] {
  const posts: Post[] = [{ number: number(), afterMs: 0, kind: 'a' }];
  const post = (afterMs: number, name: EventBody['kind']) => posts.push({ number: number(), afterMs, kind: name });
  const fate = chance();
  if (chance() < 0.2) {
    post(between(chance, 0, WAIT_S * 1_000), 'c');
    if (chance() < 0.5) post(between(chance, 0, 2 * WAIT_S * 1_000), 'c');
  }
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

/** A message that should have been sent: one per rule and event. */
export type Owed = {
  readonly subject: string;
  readonly rule: number;
  readonly eventId: EventId;
  /** Null: the rule fires at the event. */
  readonly deadline: number | null;
};

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
    firingsOf({ rules: RULES, records, grace: null }).map(({ rule, event, deadline, totals }) => {
      const record = records[event];
      if (record?.holds !== 'event') throw new Error('a firing without an event');
      const subject = subjectOf(rule, numbers[event] ?? 0, totals[0]);
      return { subject, rule, eventId: record.id as EventId, deadline };
    }),
  );
}

/** A message that a mail server took. */
export type TakenMail = { readonly at: number; readonly subject: string };

export type WaitingReport = {
  readonly owed: number;
  /** Messages owed that a rule makes at an event, by what it has counted. */
  readonly counted: number;
  readonly mails: number;
  readonly inDoubt: number;
  /** What is wrong, in words. */
  readonly findings: readonly string[];
};

type Left = { readonly intents: readonly Intent[]; readonly deliveries: readonly Delivery[] };

const nameOf = ({ eventId, rule }: Pick<Owed, 'eventId' | 'rule'>): string => `r${rule} of ${eventId}`;
/** The rule `n.r0` is rule 0. */
const nameOfIntent = ({ eventId, rule }: Intent): string => `${rule.split('.')[1]} of ${eventId}`;

/** Compares what a product left behind with what it owed: log, ledger and mail server. */
export function compareOwed(
  owed: readonly Owed[],
  { intents, deliveries }: Left,
  mails: readonly TakenMail[],
): WaitingReport {
  const onLog = compareIntents(owed, intents);
  const doubts = new Set(
    deliveries.flatMap(({ state, intent }) => (state === 'IN_DOUBT' ? [nameOfIntent(intent)] : [])),
  );
  return {
    owed: owed.length,
    counted: owed.filter(({ deadline }) => deadline === null).length,
    mails: mails.length,
    inDoubt: doubts.size,
    findings: [...onLog, ...compareMails(owed, mails, doubts)],
  };
}

function compareIntents(owed: readonly Owed[], intents: readonly Intent[]): readonly string[] {
  const findings: string[] = [];
  const byName = new Map(owed.map((each) => [nameOf(each), each]));
  const texts = new Map<string, string>();
  for (const intent of intents) {
    const name = nameOfIntent(intent);
    const expected = byName.get(name);
    if (!expected) findings.push(`the message ${name} is not owed`);
    else if ((intent.deadline ?? null) !== expected.deadline)
      findings.push(`the message ${name} has the deadline ${intent.deadline}`);
    const text = JSON.stringify(intent);
    if ((texts.get(name) ?? text) !== text) findings.push(`the message ${name} is on the log in two forms`);
    texts.set(name, text);
  }
  for (const name of byName.keys()) if (!texts.has(name)) findings.push(`the message ${name} is not on the log`);
  return findings;
}

function compareMails(
  owed: readonly Owed[],
  mails: readonly TakenMail[],
  doubts: ReadonlySet<string>,
): readonly string[] {
  const findings: string[] = [];
  const bySubject = new Map(owed.map((each) => [each.subject, each]));
  const times = new Map<string, number>();
  for (const { at, subject } of mails) {
    const expected = bySubject.get(subject);
    times.set(subject, (times.get(subject) ?? 0) + 1);
    if (!expected) findings.push(`mail "${subject}" is not owed`);
    else if (at < (expected.deadline ?? 0)) findings.push(`mail "${subject}" came before its deadline`);
  }
  for (const [subject, count] of times) if (count > 1) findings.push(`mail "${subject}" came ${count} times`);
  for (const each of owed)
    if (!times.has(each.subject) && !doubts.has(nameOf(each))) findings.push(`mail "${each.subject}" did not come`);
  return findings;
}
