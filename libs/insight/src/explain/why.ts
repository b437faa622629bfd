import { ruleTitle } from '@carillon/domain/configuration';
import { stringifyJson, type Instant } from '@carillon/kernel';
import type { EventRow } from '@carillon/ports';
import { isAbout, isIn, searchFor, personStory, type PersonStory } from './people.ts';
import type { TraceStep } from './steps.ts';
import { traceRow } from './trace.ts';
import type { TracePorts } from './trace-ports.ts';

/** What one event came to for an address. */
export type WhyLine = {
  readonly at: Instant;
  readonly workspace: string;
  readonly eventId: string;
  readonly rule: string;
  /** `not_named`: the event speaks of the address, and this rule named nobody by it. */
  readonly outcome: PersonStory['outcome'] | 'not_named';
  readonly state: string | null;
  readonly reason: string;
  readonly text: string;
  readonly deliveryId: string | null;
  readonly uniqueId: string | null;
};

export type WhyPage = { readonly items: readonly WhyLine[]; readonly looked: number; readonly next: string | null };

export type WhyQuery = {
  /** Left out: all. */
  readonly workspace?: string;
  /** Workspaces whose events are looked at; left out: all of them. */
  readonly sees?: (workspace: string) => boolean;
  /** An address, a person or a unique_id, whatever its case. */
  readonly address: string;
  /** Only what is just this, and not what begins with it or speaks of it among other words. */
  readonly isWhole?: boolean;
  readonly notification?: string;
  /** How many events are looked through, newest first. */
  readonly limit: number;
  readonly cursor?: string;
};

/**
 * Why somebody was told, or not, over the events of a workspace, or of all, that are still on the log, newest first. An event that
 * does not speak of the address makes no line.
 */
export async function whyAddress(query: WhyQuery, ports: TracePorts): Promise<WhyPage> {
  const { workspace, sees = () => true, limit, cursor } = query;
  const filter = workspace === undefined ? {} : { workspace };
  const page = await ports.readModels.events(filter, limit, cursor);
  const seen = page.items.filter((row) => sees(row.workspace));
  const items: WhyLine[] = [];
  for (const row of seen) {
    items.push(...(await linesOf(row, query, ports)));
    if (ports.slice.isExpired()) await ports.slice.yield();
  }
  return { items, looked: seen.length, next: page.next };
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
  const place = { at: row.at, workspace: row.workspace, eventId: row.id };
  const lines: WhyLine[] = [];
  for (const named of people.filter((one) => isWanted(one.rule) && isAbout(one, searched))) {
    const { rule, outcome, state, reason, text, message, recipient } = await personStory(named, ports.ledger);
    const { uniqueId } = recipient;
    lines.push({
      ...place,
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
  const told = new Set(lines.map(({ rule }) => rule));
  const silent = steps.filter((one) => JUDGED.has(one.step) && isWanted(one.rule) && !told.has(one.rule));
  // Of a rule with state only the newest decision.
  const stateful = new Set(remembered.map(({ placed }) => ruleTitle(placed)));
  const newest = new Map(silent.map((one) => [one.rule, one]));
  const counted = silent.filter((one) => !stateful.has(one.rule ?? '') || newest.get(one.rule) === one);
  return [...lines, ...counted.map((one) => ({ ...place, ...notNamed(one) }))];
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
