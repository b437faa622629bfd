import { searchedAddresses } from '@carillon/domain/channels';
import { readRuleTitle } from '@carillon/domain/configuration';
import type { Delivery } from '@carillon/domain/deliveries';
import { stringifyJson, type Instant } from '@carillon/kernel';
import type { DeliveryFilter, EventRow } from '@carillon/ports';
import { allGates, gate, gatesOfDelivery, type Evidence, type Gate, type GateName } from './gates.ts';
import { isAbout, isIn, searchFor, type NamedPerson } from './people.ts';
import type { TraceStep } from './steps.ts';
import { traceRow, type TracePorts } from './trace.ts';

export type Verdict = 'told' | 'waiting' | 'in_doubt' | 'stopped';

/** What one event and one rule came to for somebody. */
export type Account = {
  readonly at: Instant;
  readonly eventId: string;
  /** `notification.rule` */
  readonly rule: string;
  readonly verdict: Verdict;
  /** The first gate that is not passed; null: they were told. */
  readonly stoppedAt: GateName | null;
  readonly text: string;
  readonly deliveryId: string | null;
  readonly gates: readonly Gate[];
};

export type WhyNotQuery = {
  readonly workspace: string;
  /** The whole of an address, a person or a unique_id, whatever its case. */
  readonly who: string;
  /** A notification, or a rule of one: `notification.rule`. */
  readonly notification: string;
  /** Received at or after, and before. */
  readonly since: Instant;
  readonly before: Instant;
  /** Only this event. */
  readonly eventId?: string;
  /** The `next` of the answer before. */
  readonly cursor?: string;
};

export type WhyNot = {
  /** Newest first. */
  readonly accounts: readonly Account[];
  /** Events of the span that were looked at, and how many of them were judged again. */
  readonly looked: number;
  readonly judged: number;
  /** Deliveries of the ledger that were found by who they are to. */
  readonly deliveries: number;
  /** So far back; null: to the beginning of the span. */
  readonly reached: Instant | null;
  readonly next: string | null;
};

/** Events of one question: each is judged again, in about a millisecond. Behind them the question goes on by `next`. */
export const MAX_EVENTS = 300;
const BATCH_SIZE = 100;
const MAX_FOUND = 50;

/**
 * Why somebody was told by a notification, or not, event by event: the ledger says which events reached them, and each event of the span
 * that is still on the log is judged once more, by the configuration that judged it, which gives the same answer for ever (promise 6).
 */
export async function whyNot(query: WhyNotQuery, ports: TracePorts): Promise<WhyNot> {
  const { workspace, since, before, eventId, cursor } = query;
  const items: Account[] = [];
  const seen = new Set<string>();
  let judged = 0;
  const look = async (row: EventRow): Promise<void> => {
    const key = `${row.partition}@${row.offset}`;
    if (seen.has(key)) return;
    seen.add(key);
    const found = await accountsOf(row, query, ports);
    judged += 1;
    items.push(...found);
    if (ports.slice.isExpired()) await ports.slice.yield();
  };
  const inPlace = (rows: readonly EventRow[]): readonly EventRow[] => rows.filter((row) => row.workspace === workspace);
  if (eventId !== undefined) {
    for (const row of inPlace(await ports.readModels.event(eventId))) await look(row);
    return { accounts: newestFirst(items), looked: seen.size, judged, deliveries: 0, reached: null, next: null };
  }
  // Those who were found once are found at once, however many events lie between.
  const deliveries = cursor === undefined ? await deliveriesTo(query, ports) : [];
  for (const id of new Set(deliveries.map(({ intent }) => intent.eventId))) {
    for (const row of inPlace(await ports.readModels.event(id))) await look(row);
  }
  let next: string | null = cursor ?? null;
  let looked = 0;
  let reached: Instant | null = null;
  do {
    const page = await ports.readModels.events({ workspace, since, before }, BATCH_SIZE, next ?? undefined);
    for (const row of page.items) await look(row);
    looked += page.items.length;
    reached = page.items.at(-1)?.at ?? reached;
    ({ next } = page);
  } while (next !== null && looked < MAX_EVENTS);
  return {
    accounts: newestFirst(items),
    looked,
    judged,
    deliveries: deliveries.length,
    reached: next === null ? null : reached,
    next,
  };
}

const newestFirst = (accounts: readonly Account[]): readonly Account[] => accounts.toSorted((a, b) => b.at - a.at);

/** By each of the names that somebody may have, by an index each. */
async function deliveriesTo(
  { workspace, who, notification, since, before }: WhyNotQuery,
  { ledger }: TracePorts,
): Promise<readonly Delivery[]> {
  const name = readRuleTitle(notification)?.notification ?? notification;
  const place: DeliveryFilter = { workspace, notification: name, since, before };
  const names: readonly DeliveryFilter[] = [
    { to: searchedAddresses(who), toIsWhole: true },
    { person: who },
    { uniqueId: who },
  ];
  const pages = await Promise.all(names.map((one) => ledger.list({ ...place, ...one }, MAX_FOUND)));
  return [...new Map(pages.flatMap(({ items }) => items).map((one) => [one.id, one])).values()];
}

async function accountsOf(row: EventRow, query: WhyNotQuery, ports: TracePorts): Promise<readonly Account[]> {
  const { who, notification } = query;
  const { steps, people, body } = await traceRow(row, 0, ports);
  const searched = searchFor(who, true);
  const isWanted = (rule: string | null): rule is string =>
    rule !== null && (rule === notification || rule.startsWith(`${notification}.`));
  const named = people.filter((one) => isWanted(one.rule) && isAbout(one, searched));
  const items: Account[] = [];
  for (const one of named) items.push(await accountOf(row, one, ports));
  if (body === null || !isIn(stringifyJson(body), searched)) return items;
  const told = new Set(named.map(({ rule }) => rule));
  const silent = steps.filter((one) => JUDGED.has(one.step) && isWanted(one.rule) && !told.has(one.rule));
  // The last step of a rule counts: where it asks a partner, the asking says more than that it fired.
  const rules = new Map(silent.map((one) => [one.rule ?? '', one]));
  for (const [rule, step] of rules) items.push(unnamed(row, rule, step, steps));
  return items;
}

const JUDGED: ReadonlySet<TraceStep['step']> = new Set(['rule', 'trigger']);

/** What stands fast before anybody is named. */
function arrived({ id, at, stream }: EventRow): Gate {
  const evidence: Evidence[] = [{ kind: 'event', id }];
  return gate('event', 'passed', `received on ${stream}`, { at, evidence, source: 'projection' });
}
const sawIt = ({ at, configNumber }: EventRow, rule: string): Gate =>
  gate('rule', 'passed', `judged by configuration ${configNumber}`, {
    at,
    evidence: [{ kind: 'rule', id: rule }],
    source: 'log',
  });

async function accountOf(row: EventRow, named: NamedPerson, { ledger }: TracePorts): Promise<Account> {
  const { rule, dropped, message } = named;
  const before = [
    arrived(row),
    sawIt(row, rule),
    gate('condition', 'passed', 'its condition was met', { at: row.at, source: 'log' }),
  ];
  const found = gate('recipient', 'passed', `recipient ${named.place} of the rule`, { at: row.at, source: 'log' });
  const ending = (deliveryId: string | null, gates: readonly Gate[]): Account =>
    concluded(row, rule, deliveryId, [...before, ...gates]);
  if (dropped) {
    const text = dropped.detail;
    return ending(null, [gate('recipient', 'stopped', text, { at: row.at, lines: [dropped.reason], source: 'log' })]);
  }
  if (!message) {
    const text = 'the notification has no channel that could tell them: no address for any of its channels';
    return ending(null, [found, gate('address', 'stopped', text, { at: row.at, source: 'log' })]);
  }
  const delivery = await ledger.get(message.deliveryId);
  if (!delivery) {
    return ending(null, [found, gate('provider', 'waiting', 'not in the ledger yet', { source: 'ledger' })]);
  }
  const digest = delivery.digestedIn === undefined ? null : await ledger.get(delivery.digestedIn);
  return ending(delivery.id, [found, ...gatesOfDelivery(delivery, message.intentId, digest)]);
}

/** The event speaks of them, and the rule named nobody by it. */
function unnamed(row: EventRow, rule: string, judged: TraceStep, steps: readonly TraceStep[]): Account {
  const facts = { at: row.at, lines: judged.lines, source: 'log' } as const;
  if (judged.reason === 'disabled') {
    const off = gate('rule', 'stopped', 'the rule was switched off', {
      ...facts,
      evidence: [{ kind: 'rule', id: rule }],
    });
    return concluded(row, rule, null, [arrived(row), off]);
  }
  const before = [arrived(row), sawIt(row, rule)];
  if (judged.reason !== null) {
    return concluded(row, rule, null, [...before, gate('condition', 'stopped', judged.text, facts)]);
  }
  const fired = gate('condition', 'passed', judged.text, facts);
  const asked = steps.filter((one) => one.step === 'lookup');
  const isOpen = asked.length > 0 && asked.every((one) => one.state !== 'recorded');
  const recipient = isOpen
    ? gate('recipient', 'waiting', asked.at(-1)?.text ?? '', { ...facts, lines: [] })
    : gate('recipient', 'stopped', `${judged.text}, none of them by this name`, {
        ...facts,
        lines: [...judged.lines, ...asked.flatMap(({ lines }) => lines)],
      });
  return concluded(row, rule, null, [...before, fired, recipient]);
}

function concluded(row: EventRow, rule: string, deliveryId: string | null, known: readonly Gate[]): Account {
  const gates = allGates(known);
  const stop = gates.find(({ result }) => result === 'stopped' || result === 'waiting' || result === 'in_doubt');
  const last = known.findLast(({ result }) => result === 'passed');
  const verdict: Verdict = stop === undefined ? 'told' : (stop.result as Verdict);
  return {
    at: row.at,
    eventId: row.id,
    rule,
    verdict,
    stoppedAt: stop?.gate ?? null,
    text: stop?.text ?? last?.text ?? '',
    deliveryId,
    gates,
  };
}
