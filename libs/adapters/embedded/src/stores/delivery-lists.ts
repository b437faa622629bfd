import type { DeliveryFilter } from '@carillon/ports';
import type { Reader } from '../reader.ts';
import { HAS_ANOTHER_REASON, IS_NAMED_APART } from '../schema/deliveries.ts';
import { conditionsOf, type Condition } from './conditions.ts';
import { cursorAt, keysOf } from './cursor.ts';
import { BY_PHASE, inState, PHASES_OF_REASONS } from './delivery-phases.ts';
import { WHOLE, type DocumentRow } from './delivery-row.ts';

type Key = { readonly created_at: number; readonly id: string };

/** A scan of one index that returns the wanted rows in the order of the list. */
type Walk = { readonly index: string; readonly conditions: readonly Condition[] };

/** All texts with this prefix sort below the prefix followed by the highest character. */
const beginsWith = (beginning: string): Condition => [
  'recipient >= ? AND recipient < ?',
  beginning,
  `${beginning}\u{10FFFF}`,
];

const oneOf = (column: string, values: readonly string[]): Condition =>
  values.length === 1
    ? [`${column} = ?`, values[0]]
    : [`${column} IN (SELECT value FROM json_each(?))`, JSON.stringify(values)];

/** Workspaces are few and deliveries many: steps from one workspace to the next instead of reading every row. */
const WORKSPACES = `
  WITH RECURSIVE step (workspace) AS (
    SELECT min(workspace) FROM deliveries INDEXED BY deliveries_workspace
    UNION ALL
    SELECT (SELECT min(workspace) FROM deliveries INDEXED BY deliveries_workspace WHERE workspace > step.workspace)
    FROM step WHERE step.workspace IS NOT NULL
  )
  SELECT workspace FROM step WHERE workspace IS NOT NULL`;

export function workspacesOf(reader: Reader): readonly string[] {
  return (reader.all(WORKSPACES) as { readonly workspace: string }[]).map(({ workspace }) => workspace);
}

/** Along what a reason is found. */
function inReason(reason: string): { readonly index: string; readonly condition: Condition } {
  const phase = PHASES_OF_REASONS.get(reason);
  if (phase === undefined) return { index: 'INDEXED BY deliveries_reason', condition: [HAS_ANOTHER_REASON] };
  return { index: BY_PHASE, condition: ['phase = ?', phase] };
}

/** The other conditions of a filter, without the one that the walk is chosen by. */
function conditionsOfFilter(filter: DeliveryFilter): readonly Condition[] {
  const { states, reasons, channels, test } = filter;
  return [
    ['workspace = ?', filter.workspace],
    ['unique_id = ?', filter.uniqueId],
    ['event_id = ?', filter.eventId],
    ['person = ?', filter.person],
    ['notification = ?', filter.notification],
    ['rule = ?', filter.rule],
    ['created_at >= ?', filter.since],
    ['created_at < ?', filter.before],
    ...(test === undefined ? [] : ([[`is_test = ${test ? 1 : 0}`]] as const)),
    ...(states === undefined ? [] : [oneOf('state', states)]),
    ...(reasons === undefined ? [] : [oneOf('reason', reasons)]),
    ...(channels === undefined ? [] : [oneOf('channel', channels)]),
  ];
}

/**
 * The walks that together meet what a filter wants, in the order of the list each. Which index narrows most is said here: SQLite has no
 * statistics, and takes one that reads everything in a state. An index that begins with the workspace is walked in each of them.
 */
function walksOf(filter: DeliveryFilter, workspaces: () => readonly string[]): readonly Walk[] {
  const conditions = conditionsOfFilter(filter);
  const { workspace, states, reasons, channels } = filter;
  const alone = (index: string): readonly Walk[] => [{ index, conditions }];
  const inEach = (index: string, ...more: readonly Condition[]): readonly Walk[] => {
    if (workspace !== undefined) return [{ index, conditions: [...more, ...conditions] }];
    return workspaces().map((place) => ({ index, conditions: [['workspace = ?', place], ...more, ...conditions] }));
  };
  if (filter.to !== undefined) {
    const index = filter.eventId === undefined ? 'INDEXED BY deliveries_recipient' : 'INDEXED BY deliveries_event';
    const wanted = (text: string): Condition =>
      filter.toIsWhole === true ? ['recipient = ?', text] : beginsWith(text);
    return filter.to.map((text) => ({ index, conditions: [wanted(text), ...conditions] }));
  }
  if (filter.uniqueId !== undefined) return alone('INDEXED BY deliveries_slot');
  if (filter.person !== undefined) {
    // People identified by their address alone are not in the index of people.
    const byAddress: Condition = ['recipient = ?', filter.person];
    return [
      { index: 'INDEXED BY deliveries_person', conditions: [[IS_NAMED_APART], ...conditions] },
      { index: 'INDEXED BY deliveries_recipient', conditions: [byAddress, ...conditions] },
    ];
  }
  if (filter.eventId !== undefined) return alone('INDEXED BY deliveries_event');
  if (filter.test === true) return inEach('INDEXED BY deliveries_test');
  if (filter.rule !== undefined) return inEach('INDEXED BY deliveries_rule');
  if (reasons !== undefined)
    return reasons.flatMap((reason) => {
      const { index, condition } = inReason(reason);
      return inEach(index, condition, ['reason = ?', reason]);
    });
  if (filter.notification !== undefined) return inEach('INDEXED BY deliveries_notification');
  if (states !== undefined) {
    return states.flatMap((state) =>
      inState(state).flatMap(({ index, condition }) => {
        // What is being sent is found without its workspace.
        if (state === 'SENDING') return [{ index, conditions: [condition, ...conditions] }];
        return inEach(index, condition);
      }),
    );
  }
  if (channels !== undefined)
    return channels.flatMap((channel) => inEach('INDEXED BY deliveries_channel', ['channel = ?', channel]));
  return inEach('INDEXED BY deliveries_workspace');
}

const newestFirst = (one: Key, other: Key): number =>
  other.created_at - one.created_at || (one.id < other.id ? 1 : one.id > other.id ? -1 : 0);

/** A page of documents, newest first, and where the next one begins. */
export function listRows(
  reader: Reader,
  filter: DeliveryFilter,
  limit: number,
  cursor: string | undefined,
): { readonly rows: readonly DocumentRow[]; readonly next: string | null } {
  const [createdAt, id] = cursor === undefined ? [] : keysOf(cursor, 'number', 'string');
  const keys = walksOf(filter, () => workspacesOf(reader)).flatMap(({ index, conditions }) => {
    const { where, values } = conditionsOf([...conditions, ['(created_at, id) < (?, ?)', createdAt, id]]);
    const found = `SELECT created_at, id FROM deliveries ${index} ${where} ORDER BY created_at DESC, id DESC LIMIT ?`;
    return reader.all(found, ...values, limit + 1) as Key[];
  });
  // Two beginnings of an address may both be those of one.
  const sorted = [...new Map(keys.map((key) => [key.id, key])).values()].toSorted(newestFirst);
  const shown = sorted.slice(0, limit);
  const rows = shown.flatMap((key) => {
    const row = reader.get(`SELECT ${WHOLE} FROM deliveries WHERE id = ?`, key.id) as DocumentRow | undefined;
    return row ? [row] : [];
  });
  const last = shown.at(-1);
  return { rows, next: sorted.length > limit && last ? cursorAt(last.created_at, last.id) : null };
}
