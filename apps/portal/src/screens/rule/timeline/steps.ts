import type { Schemas } from '../../../api/client.ts';
import { nameOf } from '../verdict.ts';
import type { Plan, PlannedEvent } from './plan.ts';

export type Step = Schemas['RuleTestStep'];

/** A line of the timeline: a planned event with what the rule made of it, or a deadline that passed. */
export type TimelineRow =
  | { readonly kind: 'event'; readonly planned: PlannedEvent; readonly step: Step | null }
  | { readonly kind: 'deadline'; readonly step: Step };

/** Returns the events of a plan and the deadlines of its test in the order of time. `steps` is null before the test. */
export function rowsOf({ events }: Plan, steps: readonly Step[] | null): readonly TimelineRow[] {
  const rows: TimelineRow[] = [];
  let next = 0;
  /** Adds the events before a place. An event that repeats another has no step. */
  const addUntil = (end: number): void => {
    for (const planned of events.slice(next, end)) rows.push({ kind: 'event', planned, step: null });
    next = Math.max(next, end);
  };
  for (const step of steps ?? []) {
    if (step.kind === 'deadline') rows.push({ kind: 'deadline', step });
    else if (step.event !== null) {
      addUntil(step.event);
      const planned = events[step.event];
      if (planned) rows.push({ kind: 'event', planned, step });
      next = step.event + 1;
    }
  }
  addUntil(events.length);
  return rows;
}

/** Fields that say what an event is, in the order in which they count. */
const KINDS = ['type', 'event', 'status', 'state', 'kind', 'name'] as const;

/** Returns the words for a planned event: those of a typed one follow its text. */
export function labelOf({ source, label }: PlannedEvent): string {
  if (source.kind !== 'pasted') return label;
  try {
    const body = JSON.parse(source.text) as Readonly<Record<string, unknown>>;
    const inner = typeof body['event'] === 'object' && body['event'] !== null ? (body['event'] as typeof body) : body;
    const kind = KINDS.map((name) => inner[name]).find((value) => typeof value === 'string' && value !== '');
    return typeof kind === 'string' ? kind : label;
  } catch {
    return label;
  }
}

export const timeOf = (row: TimelineRow): number => (row.kind === 'event' ? row.planned.at : Date.parse(row.step.at));

/** A wait, by the places of its rows. `to` is null if it goes on after the last row. */
export type Wait = { readonly from: number; readonly to: number | null; readonly until: string };

export function waitsOf(rows: readonly TimelineRow[]): readonly Wait[] {
  const open = new Map<string, Wait>();
  const waits: Wait[] = [];
  for (const [at, { step }] of rows.entries()) {
    if (step === null) continue;
    const entity = step.entity ?? '';
    const wait = open.get(entity);
    const until = step.waits_until;
    if (until !== null) open.set(entity, { from: wait?.from ?? at, to: null, until });
    else if (wait) {
      waits.push({ ...wait, to: at });
      open.delete(entity);
    }
  }
  return [...waits, ...open.values()].toSorted((one, other) => one.from - other.from);
}

const INSTANT = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z/g;
const capital = (words: string): string => words.slice(0, 1).toUpperCase() + words.slice(1);

/** Returns the decisions of a step, with times as `clock` writes them. */
export const decisionsOf = ({ decisions }: Step, clock: (at: string) => string): readonly string[] =>
  decisions.map((words) => capital(words.replaceAll(INSTANT, clock).replaceAll(/`([^`]*)`/g, '“$1”')));

/** Returns the outcome of a step as a short phrase. */
export function summaryOf(step: Step, clock: (at: string) => string): string {
  const { fired, recipients, asks, error, outcome } = step;
  if (fired) {
    const people = recipients.filter(({ notified_already: isRepeat }) => !isRepeat);
    const [first] = people;
    if (asks !== null && recipients.length === 0) return `Asks ${asks.integration} about ${asks.user_ids.join(', ')}`;
    if (first === undefined) return recipients.length === 0 ? 'Nobody is notified' : 'Notified already';
    return people.length === 1 ? `${nameOf(first)} is notified` : `${people.length} people are notified`;
  }
  if (error !== null) return `Error: ${error}`;
  const decisions = decisionsOf(step, clock);
  if (decisions.length > 0) return decisions.join('. ');
  return outcome === 'not_fired' ? 'Nothing' : capital(outcome.replaceAll('_', ' '));
}
