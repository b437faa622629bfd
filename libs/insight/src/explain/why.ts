import { ruleTitle } from '@carillon/domain/configuration';
import { stringifyJson, type Instant } from '@carillon/kernel';
import type { EventRow } from '@carillon/ports';
import { isAbout, isIn, searchFor, personStory, type PersonStory } from './people.ts';
import type { TraceStep } from './steps.ts';
import { traceRow } from './trace.ts';
import type { TracePorts } from './trace-ports.ts';

/** Outcome of one event and rule for an address. */
export type WhyLine = {
  readonly at: Instant;
  readonly workspace: string;
  readonly eventId: string;
  readonly rule: string;
  /** `not_named`: the event contains the address, but this rule has no such recipient. */
  readonly outcome: PersonStory['outcome'] | 'not_named';
  readonly state: string | null;
  readonly reason: string;
  readonly text: string;
  readonly deliveryId: string | null;
  readonly uniqueId: string | null;
};

export type WhyPage = { readonly items: readonly WhyLine[]; readonly looked: number; readonly next: string | null };

export type WhyQuery = {
  /** Defaults to all workspaces. */
  readonly workspace?: string;
  /** Limits the workspaces that are read. Defaults to all. */
  readonly sees?: (workspace: string) => boolean;
  /** Address, person or unique_id, regardless of case. */
  readonly address: string;
  /** Requires the whole value instead of a prefix or a part of a text. */
  readonly isWhole?: boolean;
  readonly notification?: string;
  /** Maximum number of events to read, newest first. */
  readonly limit: number;
  readonly cursor?: string;
};

/**
 * Explains why a person was or was not notified, over all events on the log of one or all workspaces, newest first.
 * Events that do not contain the address are skipped.
 */
export async function whyAddress(query: WhyQuery, ports: TracePorts): Promise<WhyPage> {
  const { workspace, sees = () => true, limit, cursor } = query;
  const filter = workspace === undefined ? {} : { workspace };
  const page = await ports.readModels.events(filter, limit, cursor);
  const visible = page.items.filter((row) => sees(row.workspace));
  const items: WhyLine[] = [];
  for (const row of visible) {
    items.push(...(await linesOf(row, query, ports)));
    if (ports.slice.isExpired()) await ports.slice.yield();
  }
  return { items, looked: visible.length, next: page.next };
}

async function linesOf(
  row: EventRow,
  { address, isWhole = false, notification }: WhyQuery,
  ports: TracePorts,
): Promise<WhyLine[]> {
  const searched = searchFor(address, isWhole);
  const { steps, people, event, remembered } = await traceRow(row, 0, ports);
  const isWanted = (rule: string | null): rule is string =>
    rule !== null && (notification === undefined || rule === notification || rule.startsWith(`${notification}.`));
  const eventFacts = { at: row.at, workspace: row.workspace, eventId: row.id };
  const lines: WhyLine[] = [];
  for (const named of people.filter((person) => isWanted(person.rule) && isAbout(person, searched))) {
    const { rule, outcome, state, reason, text, message, recipient } = await personStory(named, ports.ledger);
    const { uniqueId } = recipient;
    lines.push({
      ...eventFacts,
      rule,
      outcome,
      state,
      reason,
      text,
      deliveryId: message?.deliveryId ?? null,
      uniqueId: uniqueId === '' ? null : uniqueId,
    });
  }
  if (event === null || !isIn(stringifyJson(event.body), searched)) return lines;
  const namedRules = new Set(lines.map(({ rule }) => rule));
  const silent = steps.filter((each) => JUDGED.has(each.step) && isWanted(each.rule) && !namedRules.has(each.rule));
  // For a rule with stored state, list only its newest decision.
  const stateful = new Set(remembered.map(({ placed }) => ruleTitle(placed)));
  const newest = new Map(silent.map((each) => [each.rule, each]));
  const counted = silent.filter((each) => !stateful.has(each.rule ?? '') || newest.get(each.rule) === each);
  return [...lines, ...counted.map((each) => ({ ...eventFacts, ...notNamed(each) }))];
}

const JUDGED: ReadonlySet<TraceStep['step']> = new Set(['rule', 'trigger']);

const notNamed = ({ step, rule, reason, text }: TraceStep): Omit<WhyLine, 'at' | 'workspace' | 'eventId'> => ({
  rule: rule ?? '',
  outcome: 'not_named',
  state: null,
  reason: reason ?? 'not_named',
  text: step === 'trigger' ? `${text}, none with this address` : text,
  deliveryId: null,
  uniqueId: null,
});
