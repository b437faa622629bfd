import { DECISION_STATES, type Delivery, type DeliveryState, type OperatorDecision } from '@carillon/domain/deliveries';
import { MAX_JOB_ITEMS } from '@carillon/domain/jobs';
import { CarillonError, type DeliveryId } from '@carillon/kernel';
import { MAX_MANY, type DeadLetterRow, type DeliveryFilter, type EventLoopSlice } from '@carillon/ports';
import type { ControlPorts } from '../ports.ts';

const PAGE = 500;
/** Pages read for one choice. Only a filter that the store does not apply itself reads as many. */
const MAX_PAGES = 200;

type Page<Row> = { readonly items: readonly Row[]; readonly next: string | null };

/**
 * Returns what `keep` makes of the rows of a list, without nulls, up to {@link MAX_JOB_ITEMS}. `more` is true if some were left out
 * or not read. Yields between pages.
 */
export async function upToTheCeiling<Row, Kept>(
  read: (limit: number, cursor?: string) => Promise<Page<Row>>,
  keep: (row: Row) => Kept | null,
  slice: EventLoopSlice,
): Promise<{ readonly rows: readonly Kept[]; readonly more: boolean }> {
  const rows: Kept[] = [];
  let next: string | null | undefined = undefined;
  let pages = 0;
  do {
    // A backend may read a page without ever leaving its turn.
    if (next !== undefined && slice.isExpired()) await slice.yield();
    const page: Page<Row> = await read(PAGE, next);
    for (const row of page.items) {
      const kept = keep(row);
      if (kept !== null) rows.push(kept);
    }
    ({ next } = page);
    pages += 1;
  } while (next !== null && rows.length <= MAX_JOB_ITEMS && pages < MAX_PAGES);
  return { rows: rows.slice(0, MAX_JOB_ITEMS), more: next !== null || rows.length > MAX_JOB_ITEMS };
}

export type ChosenDeliveries = {
  readonly ids: readonly string[];
  readonly people: number;
  readonly byState: Readonly<Partial<Record<DeliveryState, number>>>;
  /** Whether the ceiling left some out. */
  readonly more: boolean;
};

type Seen = { readonly id: string; readonly state: DeliveryState; readonly person: string | null };

/** A recipient without a person in the rule is identified by the address. */
const seenOf = ({ id, state, intent }: Delivery): Seen => ({ id, state, person: intent.person ?? intent.to });

function chosenOf(rows: readonly Seen[], more: boolean): ChosenDeliveries {
  const byState: Partial<Record<DeliveryState, number>> = {};
  for (const { state } of rows) byState[state] = (byState[state] ?? 0) + 1;
  const people = new Set(rows.map(({ person }) => person));
  return { ids: rows.map(({ id }) => id), people: people.size, byState, more };
}

/** Returns those of the named deliveries of a workspace for which a decision is allowed in their current state. */
export async function chooseOf(
  ids: readonly string[],
  workspace: string,
  decision: OperatorDecision,
  { ledger }: Pick<ControlPorts, 'ledger'>,
): Promise<ChosenDeliveries> {
  const fitting: readonly DeliveryState[] = DECISION_STATES[decision];
  const unique = [...new Set(ids)] as DeliveryId[];
  const rows: Seen[] = [];
  for (let from = 0; from < unique.length; from += MAX_MANY) {
    const found = await ledger.many(unique.slice(from, from + MAX_MANY));
    rows.push(
      ...found.flatMap((delivery) =>
        delivery.slot.workspace === workspace && fitting.includes(delivery.state) ? [seenOf(delivery)] : [],
      ),
    );
  }
  return chosenOf(rows, false);
}

/** Returns the deliveries that match a filter and for which a decision is allowed now, newest first. */
export async function chooseDeliveries(
  filter: DeliveryFilter,
  decision: OperatorDecision,
  { ledger, slice }: Pick<ControlPorts, 'ledger' | 'slice'>,
): Promise<ChosenDeliveries> {
  const fitting: readonly DeliveryState[] = DECISION_STATES[decision];
  const states = filter.states ? fitting.filter((one) => filter.states?.includes(one)) : fitting;
  const { rows, more } = await upToTheCeiling(
    (limit, cursor) => ledger.list({ ...filter, states }, limit, cursor),
    seenOf,
    slice,
  );
  return chosenOf(rows, more);
}

/** Whether an operator may say of a dead letter that nothing is to be done: it is a receipt, or a change that is on no log. */
export const isDismissable = ({ stage }: Pick<DeadLetterRow, 'stage'>): boolean =>
  stage === 'receipts' || stage === 'append';

/**
 * Returns the dead letters of a workspace that were neither redriven nor dismissed, newest first. Parked receipts are
 * counted separately, because most would fail again and need a person. Changes of a source that are not on the log are
 * left out, because they cannot be redriven.
 */
export async function chooseDeadLetters(
  filter: Pick<Parameters<ControlPorts['readModels']['deadLetters']>[0], 'since' | 'before'> & { workspace: string },
  { readModels, slice }: Pick<ControlPorts, 'readModels' | 'slice'>,
): Promise<{ readonly ids: readonly string[]; readonly receipts: number; readonly more: boolean }> {
  const open = (ofReceipts: boolean) =>
    upToTheCeiling(
      (limit, cursor) => readModels.deadLetters({ ...filter, ofReceipts, open: true }, limit, cursor),
      ({ id, stage }) => (stage === 'append' ? null : id),
      slice,
    );
  const { rows, more } = await open(false);
  return { ids: rows, receipts: (await open(true)).rows.length, more };
}

/** A body that names its items in a field of its own, or sends a filter. */
type Choosing = { readonly filter?: unknown };
type Named<Body, Name extends keyof Body> = { readonly named: NonNullable<Body[Name]> };
type Filtered<Body extends Choosing> = { readonly filter: NonNullable<Body['filter']> };

const refused = (field: string, detail: string): CarillonError =>
  new CarillonError('invalid_request', `${field}: ${detail}`, { pointer: `/${field}` });

/** Returns the named items or the filter of a count. Throws CarillonError `invalid_request` for both and for neither. */
export function readCountedChoice<Body extends Choosing, Name extends keyof Body & string>(
  body: Body,
  name: Name,
): Named<Body, Name> | Filtered<Body> {
  const { [name]: named, filter } = body;
  if (named && filter) throw refused(name, 'list the items, or send filter; not both');
  if (named) return { named };
  if (!filter) throw refused(name, 'list the items, or send filter');
  return { filter };
}

/** Returns the named items, or the filter with its expected number. Throws CarillonError `invalid_request` for both and for neither. */
export function readChoice<
  Body extends Choosing & { readonly expected?: number | undefined },
  Name extends keyof Body & string,
>(body: Body, name: Name): Named<Body, Name> | (Filtered<Body> & { readonly expected: number }) {
  const { [name]: named, filter, expected } = body;
  if (named && (filter || expected !== undefined)) {
    throw refused(name, 'list the items, or send filter with expected; not both');
  }
  if (named) return { named };
  if (!filter) throw refused(name, 'list the items, or send filter with expected');
  if (expected === undefined) {
    throw refused('expected', 'send the number that GET …/count returned, so that no more items are changed');
  }
  return { filter, expected };
}

/** Throws CarillonError `conflict` if more items match than were counted, and `wrong_state` if none or too many match. */
export function requireExpected(
  { ids, more }: { readonly ids: readonly unknown[]; readonly more: boolean },
  expected: number,
  what: string,
): void {
  if (ids.length === 0) throw new CarillonError('wrong_state', `none of the matching items can be ${what}`);
  if (more) {
    throw new CarillonError(
      'wrong_state',
      `more than ${MAX_JOB_ITEMS} match, which is the limit of one job: narrow the filter, for example by time`,
    );
  }
  if (ids.length > expected) {
    throw new CarillonError(
      'conflict',
      `${ids.length} match now, and ${expected} were expected: review the list, then confirm again`,
    );
  }
}
