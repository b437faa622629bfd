import { searchedAddresses } from '@carillon/domain/channels';
import { findRule, readRuleTitle, ruleTitle } from '@carillon/domain/configuration';
import type { Delivery } from '@carillon/domain/deliveries';
import { formatPosition } from '@carillon/domain/events';
import type { FoundEvent } from '@carillon/domain/runs';
import { stringifyJson, type Instant } from '@carillon/kernel';
import type { DeliveryFilter, EventRow } from '@carillon/ports';
import { narrowRuleBook, type RuleBook } from '@carillon/stages';
import { accountOf, accountOfDraftsOnly, accountOfSilence, accountOfState, type Account } from './account.ts';
import { joinDrafts, type FoundAccount } from './draft-accounts.ts';
import { draftFindings, type Drafts } from './draft-findings.ts';
import { isAbout, isIn, searchFor, type Searched } from './people.ts';
import { problemOf } from './row-gates.ts';
import type { TraceStep } from './steps.ts';
import { traceRow } from './trace.ts';
import type { TracePorts } from './trace-ports.ts';

export type WhyNotQuery = {
  readonly workspace: string;
  /** Whole address, person or unique_id, regardless of case. */
  readonly who: string;
  /** A notification, or a rule of one: `notification.rule`. */
  readonly notification: string;
  /** Arrival time: start inclusive, end exclusive. */
  readonly since: Instant;
  readonly before: Instant;
  /** Only this event. */
  readonly eventId?: string;
  /** `next` of the previous page. */
  readonly cursor?: string;
  /** Events found by a search, read instead of the whole time range. */
  readonly events?: readonly Pick<FoundEvent, 'eventId' | 'position'>[];
  /** Also evaluates these drafts. */
  readonly drafts?: Drafts;
};

export type WhyNot = {
  /** Newest first. */
  readonly accounts: readonly Account[];
  /** Events read and events evaluated again. */
  readonly looked: number;
  readonly judged: number;
  /** Deliveries found by recipient. */
  readonly deliveries: number;
  /** Oldest event read. Null if the whole time range was read. */
  readonly reached: Instant | null;
  readonly next: string | null;
};

/** Events per request. Each is evaluated again in about a millisecond; `next` continues after them. */
export const MAX_EVENTS = 300;
const BATCH_SIZE = 100;
const MAX_FOUND = 50;

/**
 * Explains per event why a notification did or did not notify a person. The ledger shows which events reached them.
 * Each event of the time range that is still on the log is evaluated again with its original configuration, which gives
 * the same result (promise 6).
 */
export async function whyNot(query: WhyNotQuery, ports: TracePorts): Promise<WhyNot> {
  const { workspace, since, before, eventId, cursor } = query;
  const question = questionOf(query, ports);
  const items: Account[] = [];
  const keys = new Set<string>();
  let judged = 0;
  const look = async (row: EventRow): Promise<void> => {
    const key = `${row.partition}@${row.offset}`;
    if (keys.has(key)) return;
    keys.add(key);
    const found = await accountsOf(row, question, ports);
    judged += 1;
    items.push(...found);
    if (ports.slice.isExpired()) await ports.slice.yield();
  };
  const inPlace = (rows: readonly EventRow[]): readonly EventRow[] => rows.filter((row) => row.workspace === workspace);
  if (eventId !== undefined) {
    for (const row of inPlace(await ports.readModels.event(eventId))) await look(row);
    return { accounts: newestFirst(items), looked: keys.size, judged, deliveries: 0, reached: null, next: null };
  }
  // Events of known deliveries come first, so that they are found however many events lie in between.
  const deliveries = cursor === undefined ? await deliveriesTo(query, ports) : [];
  for (const id of new Set(deliveries.map(({ intent }) => intent.eventId))) {
    for (const row of inPlace(await ports.readModels.event(id))) await look(row);
  }
  if (query.events) {
    for (const { eventId: id, position } of query.events) {
      for (const row of inPlace(await ports.readModels.event(id))) {
        if (formatPosition({ logId: ports.log.logId, topic: 'carillon.events', ...row }) === position) await look(row);
      }
    }
    const counts = { looked: query.events.length, judged, deliveries: deliveries.length };
    return { accounts: newestFirst(items), ...counts, reached: null, next: null };
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

/** Finds deliveries by each possible name of a person, with one index per name. */
async function deliveriesTo(
  { workspace, who, notification, since, before }: WhyNotQuery,
  { ledger }: TracePorts,
): Promise<readonly Delivery[]> {
  const name = readRuleTitle(notification)?.notification ?? notification;
  const within: DeliveryFilter = { workspace, notification: name, since, before };
  const names: readonly DeliveryFilter[] = [
    { to: searchedAddresses(who), toIsWhole: true },
    { person: who },
    { uniqueId: who },
  ];
  const pages = await Promise.all(names.map((filter) => ledger.list({ ...within, ...filter }, MAX_FOUND)));
  return [...new Map(pages.flatMap(({ items }) => items).map((delivery) => [delivery.id, delivery])).values()];
}

/** Parts of a question that are equal for all events. */
type Question = {
  readonly searched: Searched;
  readonly isWanted: (rule: string | null) => rule is string;
  readonly drafts: { readonly drafts: Drafts; readonly book: RuleBook } | null;
};

function questionOf({ who, notification, drafts }: WhyNotQuery, { book }: Pick<TracePorts, 'book'>): Question {
  const isWanted = (rule: string | null): rule is string =>
    rule !== null && (rule === notification || rule.startsWith(`${notification}.`));
  return {
    searched: searchFor(who, true),
    isWanted,
    drafts: drafts ? { drafts, book: narrowRuleBook(book, (placed) => isWanted(ruleTitle(placed))) } : null,
  };
}

async function accountsOf(row: EventRow, question: Question, ports: TracePorts): Promise<readonly Account[]> {
  const { searched, isWanted, drafts } = question;
  const { steps, people, event, remembered } = await traceRow(row, 0, ports);
  const rememberedRules = new Map(remembered.map((each) => [ruleTitle(each.placed), each]));
  const named = people.filter((person) => isWanted(person.rule) && isAbout(person, searched));
  const found: FoundAccount[] = [];
  for (const person of named) {
    const { channel, deliveryId: slot } = person.message ?? { channel: null, deliveryId: null };
    found.push({ account: await accountOf(row, person, ports, rememberedRules.get(person.rule)), channel, slot });
  }
  const isAboutEvent = event !== null && isIn(stringifyJson(event.body), searched);
  const namedRules = new Set(named.map(({ rule }) => rule));
  const silent = steps.filter((each) => JUDGED.has(each.step) && isWanted(each.rule) && !namedRules.has(each.rule));
  // The last step of a rule counts: for a lookup it is more specific than the firing.
  const silentSteps = new Map(silent.map((each) => [each.rule ?? '', each]));
  const silentAccount = (rule: string, step: TraceStep): Account => {
    const state = rememberedRules.get(rule);
    return state && event ? accountOfState(row, rule, event, state) : accountOfSilence(row, rule, step, steps);
  };
  if (isAboutEvent) {
    for (const [rule, step] of silentSteps) {
      found.push({ account: silentAccount(rule, step), channel: null, slot: null });
    }
  }
  if (!drafts || !event) return found.map(({ account }) => account);
  const wanted = { ...drafts, searched, named, isAboutEvent: isAboutEvent || named.length > 0 };
  const findings = await draftFindings(event, wanted, ports);
  const published = await ports.configuration.at(row.configNumber);
  const { workspace } = row;
  const accountOfMessage = (rule: string): Account => {
    const step = silentSteps.get(rule);
    if (step) return silentAccount(rule, step);
    const title = readRuleTitle(rule);
    return accountOfDraftsOnly(row, rule, problemOf(title && findRule(published, workspace, title), event));
  };
  return joinDrafts(found, findings, { ...drafts, event, workspace, isAboutEvent, accountOf: accountOfMessage });
}

const JUDGED: ReadonlySet<TraceStep['step']> = new Set(['rule', 'trigger']);
