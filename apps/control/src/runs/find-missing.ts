import { findResource, ruleTitle, type Configuration } from '@carillon/domain/configuration';
import type { Delivery } from '@carillon/domain/deliveries';
import { MAX_JOB_ITEMS } from '@carillon/domain/jobs';
import {
  MAX_RUN_ROWS,
  missingStateOf,
  ROW_DIFFERENCES,
  type MissingLookup,
  type MissingMessage,
  type MissingSelection,
  type Row,
  type CompareRun,
} from '@carillon/domain/runs';
import { CarillonError, type DeliveryId, type EventId } from '@carillon/kernel';
import { narrowRuleBook, unpublishedOf, unsendableRules } from '@carillon/stages';
import { unknownFilter } from '../names.ts';
import type { RoutePorts } from '../ports.ts';
import { createLookChecks, type LookCheckPorts, type LookChecks } from './look-checks.ts';
import { countMissing, refuseTooMany, type Missing } from './missing.ts';
import { configurationsOf, type RowDetailPorts } from './row-details.ts';
import { refuseUnfinished } from './show-run.ts';
import { createSlotFinder } from './slot-finder.ts';

export type FindMissingPorts = RowDetailPorts & LookCheckPorts & Pick<RoutePorts, 'clock' | 'jobs' | 'runs'>;

type Looking = {
  readonly selection: MissingSelection;
  readonly tooOld: Set<EventId>;
  readonly checks: LookChecks;
} & Pick<FindMissingPorts, 'slice'>;

const COMPARE_LESS = 'compare again over a shorter time range or with fewer notifications';

/** Rows whose slots are asked about at once. A row has two slots at most, and the ledger takes 1,000 ids. */
const BATCH_SIZE = 500;

/**
 * Returns the missing messages of a run as the ledger knows them now. A message is missing if *after* wants it, its slot is free,
 * or was given up and `stopped` is named, and no other message about the event notifies its person. Rejects with CarillonError `run_unfinished`, with `not_published` if the edit is not what is
 * published now, and with `wrong_state` for more rows than a run keeps or more messages than a job takes.
 */
export async function findMissing(
  run: CompareRun,
  selection: MissingSelection,
  ports: FindMissingPorts,
): Promise<Missing> {
  refuseUnfinished(run, await ports.jobs.get(run.job), ports.clock.now());
  refuseTooManyRows(run);
  const published = await ports.configuration.refresh();
  const { after } = await configurationsOf(run, ports);
  refuseUnknownRules(run, selection, after);
  refuseUnsendable(run, selection, after, ports);
  refuseUnpublished(run, after, published);
  const slotOf = await createSlotFinder(run, { after, published }, ports);
  const checks = await createLookChecks(run, { published, selection }, ports);
  const rows = await rowsOf(run, selection, ports);
  // Newest first: if there are too many messages, the newest that fit decide about the maximum age.
  rows.sort((a, b) => b.at - a.at || (a.eventId < b.eventId ? -1 : 1));
  const messages: MissingMessage[] = [];
  const tooOld = new Set<EventId>();
  for (let from = 0; from < rows.length; from += BATCH_SIZE) {
    const found = await missingOf(rows.slice(from, from + BATCH_SIZE), selection, { slotOf, ...ports });
    for (const { row } of found) if (row.at < selection.since) tooOld.add(row.eventId);
    const recent = found.filter(({ row }) => row.at >= selection.since);
    messages.push(...(await checks.sendable(recent)));
    if (messages.length > MAX_JOB_ITEMS) break;
    if (ports.slice.isExpired()) await ports.slice.yield();
  }
  const lookups = await askableOf(await lookupsOf(run, selection, ports), { selection, tooOld, checks, ...ports });
  refuseTooMany({ messages, lookups }, ports.clock.now());
  return countMissing({ messages, lookups, tooOld });
}

/** Returns the lookups that a job asks, newest first and one more than it takes at most. Adds events that are too old to `tooOld`. */
async function askableOf(
  found: readonly MissingLookup[],
  { selection, tooOld, checks, slice }: Looking,
): Promise<readonly MissingLookup[]> {
  for (const { at, eventId } of found) if (at < selection.since) tooOld.add(eventId);
  const recent = found.filter(({ at }) => at >= selection.since).toSorted((a, b) => b.at - a.at);
  const lookups: MissingLookup[] = [];
  for (let from = 0; from < recent.length && lookups.length <= MAX_JOB_ITEMS; from += BATCH_SIZE) {
    lookups.push(...(await checks.askable(recent.slice(from, from + BATCH_SIZE))));
    if (slice.isExpired()) await slice.yield();
  }
  return lookups;
}

function refuseTooManyRows({ id, counts }: CompareRun): void {
  const rows = ROW_DIFFERENCES.reduce((sum, difference) => sum + (counts?.rows?.differences[difference] ?? 0), 0);
  if (rows <= MAX_RUN_ROWS) return;
  throw new CarillonError(
    'wrong_state',
    `${id} has ${rows} rows and keeps ${MAX_RUN_ROWS} of them, so some missing messages are unknown: ${COMPARE_LESS}`,
  );
}

/** Throws `invalid_request` for a rule that the run did not compare, because an empty list would look as if nothing was missing. */
function refuseUnknownRules(
  { notifications, workspace }: CompareRun,
  { rules }: MissingSelection,
  after: Configuration,
): void {
  if (rules === null) return;
  const known = notifications.flatMap((name) =>
    Object.keys(findResource(after, 'notification', workspace, name)?.body.rules ?? {}).map(
      (rule) => `${name}.${rule}`,
    ),
  );
  const unknown = rules.find((rule) => !known.includes(rule));
  if (unknown !== undefined) throw unknownFilter('rule', 'rule in this comparison with the name', unknown, known);
}

/** Throws `wrong_state` for chosen rules whose messages the event, the deadline and the totals of a row do not give. */
function refuseUnsendable(
  { notifications, workspace }: CompareRun,
  { differences, rules }: MissingSelection,
  after: Configuration,
  { book }: Pick<FindMissingPorts, 'book'>,
): void {
  const compared = narrowRuleBook(
    book,
    (placed) =>
      placed.workspace === workspace &&
      notifications.includes(placed.notification.ref.name) &&
      (rules === null || rules.includes(ruleTitle(placed))),
  );
  const titles = unsendableRules(after, compared, differences.includes('needs_lookup'));
  if (titles.length === 0) return;
  throw new CarillonError(
    'wrong_state',
    `messages of these rules cannot be sent, because they show values of earlier events: ${titles.join(', ')}. Choose the other rules of the comparison under rules`,
  );
}

function refuseUnpublished(
  { id, notifications, workspace }: CompareRun,
  after: Configuration,
  published: Configuration,
): void {
  const refs = unpublishedOf({ after, published }, notifications, workspace);
  if (refs.length === 0) return;
  const names = refs.map(({ kind, name }) => `${kind} ${name}`).join(', ');
  const verb = refs.length === 1 ? 'is' : 'are';
  throw new CarillonError(
    'not_published',
    `${names} ${verb} not published as compared in ${id}: publish the edit, or compare again with what is published now`,
  );
}

/** Reads the rows of the chosen differences and rules. */
async function rowsOf(
  { id }: CompareRun,
  { differences, rules }: MissingSelection,
  { runs, slice }: Pick<FindMissingPorts, 'runs' | 'slice'>,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const difference of differences.filter((each) => each !== 'needs_lookup')) {
    let cursor: string | undefined;
    do {
      const page = await runs.rows({ run: id, difference }, BATCH_SIZE, cursor);
      const chosen = page.items.filter(({ rule }) => rules === null || rules.includes(rule));
      // Nobody knows whether an uncertain message is right.
      rows.push(...chosen.filter(({ isCold }) => isCold !== true));
      cursor = page.next ?? undefined;
      if (slice.isExpired()) await slice.yield();
    } while (cursor !== undefined);
  }
  return rows;
}

/**
 * Reads the lookups of the chosen rules. Empty unless `needs_lookup` is chosen. Rejects with `wrong_state` if the run keeps as many as it can,
 * because others may be unknown.
 */
async function lookupsOf(
  { id }: CompareRun,
  { differences, rules }: MissingSelection,
  { runs, slice }: Pick<FindMissingPorts, 'runs' | 'slice'>,
): Promise<readonly MissingLookup[]> {
  const lookups: MissingLookup[] = [];
  if (!differences.includes('needs_lookup')) return lookups;
  let read = 0;
  let cursor: string | undefined;
  do {
    const page = await runs.lookups(id, BATCH_SIZE, cursor);
    read += page.items.length;
    lookups.push(...page.items.filter(({ rule }) => rules === null || rules.includes(rule)));
    cursor = page.next ?? undefined;
    if (slice.isExpired()) await slice.yield();
  } while (cursor !== undefined);
  if (read < MAX_RUN_ROWS) return lookups;
  throw new CarillonError(
    'wrong_state',
    `${id} reached its limit of ${read} events that need a lookup, so some may be missing: ${COMPARE_LESS}`,
  );
}

/** Returns those of some rows whose messages may be sent. */
async function missingOf(
  rows: readonly Row[],
  { slotStates }: MissingSelection,
  { slotOf, ledger }: { readonly slotOf: (row: Row) => Promise<DeliveryId> } & Pick<FindMissingPorts, 'ledger'>,
): Promise<readonly MissingMessage[]> {
  const messages: MissingMessage[] = [];
  for (const row of rows) messages.push({ slot: await slotOf(row), row });
  const slotsOf = ({ slot, row }: MissingMessage): readonly DeliveryId[] =>
    row.oldSlot === null ? [slot] : [slot, row.oldSlot];
  const read = async (ids: readonly DeliveryId[]): Promise<readonly Delivery[]> =>
    ids.length > 0 ? ledger.many(ids) : [];
  const deliveries = await read([...new Set(messages.flatMap(slotsOf))]);
  const digests = await read([...new Set(deliveries.flatMap(({ digestedIn }) => digestedIn ?? []))]);
  const known = new Map([...deliveries, ...digests].map((delivery) => [delivery.id, delivery]));
  return messages.flatMap((message) => {
    const state = missingStateOf(slotsOf(message), known);
    if (state === null || !slotStates.includes(state.slotState)) return [];
    return { slot: message.slot, row: { ...message.row, ...state } };
  });
}
