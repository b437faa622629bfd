import {
  concernsDelivery,
  eraseAsking,
  eraseDelivery,
  eraseJobItems,
  eraseState,
  isEntryOf,
  isHashedName,
  isUndecided,
  renamedConsents,
  wordsName,
  type ErasurePlace,
} from '@carillon/domain/erasures';
import type { Consents } from '@carillon/domain/consent';
import type { Moment } from '@carillon/domain/deliveries';
import { formatMemory, nextDueOf, waitsOf } from '@carillon/domain/rules';
import { parseJson, stringifyJson, type Json } from '@carillon/kernel';
import { readTaskQueue, type ErasureWork } from '@carillon/ports';
import type { Row } from '../statements.ts';
import type { Reader } from '../reader.ts';
import { fromRow, toRow, WHOLE, type DeliveryRow, type DocumentRow } from '../stores/delivery-row.ts';
import type { RowWrite } from './erasure-writes.ts';

/** What becomes of a row that is of the person. `undecided` stays as it is for now. */
type RowWrites = { readonly kind: 'rows'; readonly writes: readonly RowWrite[] };
export type RowChange =
  | RowWrites
  | { readonly kind: 'delivery'; readonly row: DeliveryRow; readonly place: number }
  | { readonly kind: 'consents'; readonly person: string; readonly renamed: Consents }
  | { readonly kind: 'suppression'; readonly sequence: number; readonly under: string }
  | { readonly kind: 'undecided'; readonly id: string };

export type FoundRow = { readonly place: ErasurePlace; readonly key: string; readonly change: RowChange };

/** A table in the order of a unique column, or of an expression over its key. */
type Table = {
  readonly place: ErasurePlace;
  readonly table: string;
  /** Columns that identify a row. */
  readonly key: readonly string[];
  /** Columns that are read besides. */
  readonly columns: string;
  readonly judge: (row: Row, work: ErasureWork, moment: Moment) => RowChange | null;
};

const PAGE_ROWS = 200;

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const json = (value: unknown): Json => (typeof value === 'string' ? parseJson(value) : null);

const remove = (table: string, key: readonly string[], row: Row): RowWrites => ({
  kind: 'rows',
  writes: [
    {
      sql: `DELETE FROM ${table} WHERE ${key.map((column) => `${column} = ?`).join(' AND ')}`,
      values: key.map((column) => row[column] as string | number),
    },
  ],
});

const update = (
  table: string,
  set: string,
  values: RowWrite['values'],
  key: readonly string[],
  row: Row,
): RowWrites => ({
  kind: 'rows',
  writes: [
    {
      sql: `UPDATE ${table} SET ${set} WHERE ${key.map((column) => `${column} = ?`).join(' AND ')}`,
      values: [...values, ...key.map((column) => row[column] as string | number)],
    },
  ],
});

const deliveries: Table = {
  place: 'deliveries',
  table: 'deliveries',
  key: ['id'],
  columns: `workspace, ${WHOLE}`,
  judge(row, { matcher, takesUndecided = false }, moment) {
    if (!matcher.covers(text(row['workspace']))) return null;
    const found = row as unknown as DocumentRow;
    const delivery = fromRow(found);
    if (!concernsDelivery(delivery, matcher)) return null;
    if (isUndecided(delivery) && !takesUndecided) return { kind: 'undecided', id: delivery.id };
    return { kind: 'delivery', row: toRow(eraseDelivery(delivery, matcher, moment)), place: found.intent_place };
  },
};

const limits: Table = {
  place: 'limits',
  table: 'limit_entries',
  key: ['workspace', 'person'],
  columns: 'document',
  judge: (row, { matcher }) =>
    matcher.covers(text(row['workspace'])) && isEntryOf(text(row['person']), json(row['document']), matcher)
      ? remove('limit_entries', ['workspace', 'person'], row)
      : null,
};

type Wait = readonly [rule: string, due: number];

/** Removes also the rows by which waits of rules are counted, but for those that are left. */
function withWaits(change: RowWrites, row: Row, left: readonly Wait[]): RowChange {
  const kept = new Set(left.map((wait) => JSON.stringify(wait)));
  const gone = (json(row['waits']) as unknown as readonly Wait[]).filter((wait) => !kept.has(JSON.stringify(wait)));
  const writes = gone.map(([rule, due]) => ({
    sql: 'DELETE FROM rule_waits WHERE rule = ? AND due = ? AND state_id = ?',
    values: [rule, due, text(row['id'])],
  }));
  return { kind: 'rows', writes: [...change.writes, ...writes] };
}

const ruleStates: Table = {
  place: 'rule_states',
  table: 'rule_states',
  key: ['id'],
  columns: 'record_offset, data, waits',
  judge(row, work) {
    const erased = eraseState(text(row['data']), Number(row['record_offset']), work);
    if (erased === null) return null;
    if (erased === 'removed') return withWaits(remove('rule_states', ['id'], row), row, []);
    const left = waitsOf(erased).map(({ rule, due }): Wait => [rule, due]);
    const values = [formatMemory(erased), nextDueOf(erased), JSON.stringify(left)];
    return withWaits(update('rule_states', 'data = ?, next_due = ?, waits = ?', values, ['id'], row), row, left);
  },
};

const tasks: Table = {
  place: 'lookup_tasks',
  table: 'tasks',
  key: ['id'],
  columns: 'kind, version, lease_until, done, data',
  judge(row, { matcher, takesUndecided = false }, { now }) {
    const { workspace } = readTaskQueue(text(row['kind']));
    const erased = matcher.covers(workspace) ? eraseAsking(json(row['data']), matcher) : null;
    if (!erased) return null;
    const done = row['done'] === 1;
    if (!done && !takesUndecided && Number(row['lease_until'] ?? 0) > now)
      return { kind: 'undecided', id: text(row['id']) };
    const version = Number(row['version']);
    const set = 'data = ?, done = 1, lease_until = NULL, next_at = ?, version = ?';
    return update('tasks', set, [stringifyJson(erased), now, version + 1], ['id', 'version'], row);
  },
};

const suppressions: Table = {
  place: 'suppressions',
  table: 'suppressions',
  key: ['sequence'],
  columns: 'workspace, address',
  judge(row, { matcher }) {
    const address = text(row['address']);
    if (!matcher.covers(text(row['workspace'])) || isHashedName(address) || !matcher.isPerson(address)) return null;
    return { kind: 'suppression', sequence: Number(row['sequence']), under: matcher.nameInstead(address) };
  },
};

const optOuts: Table = {
  place: 'opt_outs',
  table: 'consents',
  key: ['workspace', 'person'],
  columns: 'document',
  judge(row, { matcher }) {
    const person = text(row['person']);
    if (!matcher.covers(text(row['workspace'])) || isHashedName(person) || !matcher.isPerson(person)) return null;
    return {
      kind: 'consents',
      person,
      renamed: renamedConsents(json(row['document']) as unknown as Consents, matcher),
    };
  },
};

const inbox: Table = {
  place: 'inbox',
  table: 'inbox',
  key: ['id'],
  columns: 'workspace, recipient, message',
  judge: (row, { matcher }) =>
    matcher.covers(text(row['workspace'])) && isEntryOf(text(row['recipient']), json(row['message']), matcher)
      ? remove('inbox', ['id'], row)
      : null,
};

const fieldSamples: Table = {
  place: 'field_samples',
  table: 'field_rows',
  key: ['stream', 'partition', 'path'],
  columns: 'workspace, sample',
  judge(row, { matcher }) {
    const sample = row['sample'];
    if (typeof sample !== 'string' || !matcher.covers(text(row['workspace']))) return null;
    if (!wordsName(sample, matcher) && !matcher.isPerson(sample)) return null;
    return update('field_rows', 'sample = NULL', [], ['stream', 'partition', 'path'], row);
  },
};

const ruleErrors: Table = {
  place: 'rule_errors',
  table: 'evaluation_rows',
  key: ['sequence'],
  columns: 'workspace, sample_event_id, sample_error',
  judge(row, { matcher, isErasedEvent }) {
    const error = row['sample_error'];
    if (typeof error !== 'string' || !matcher.covers(text(row['workspace']))) return null;
    if (!isErasedEvent(row['sample_event_id'] as string | null) && !wordsName(error, matcher)) return null;
    return update('evaluation_rows', 'sample_error = NULL', [], ['sequence'], row);
  },
};

const deadLetters: Table = {
  place: 'dead_letters',
  table: 'dead_letter_rows',
  key: ['id'],
  columns: 'workspace, reason, receipt',
  judge(row, { matcher }) {
    const workspace = typeof row['workspace'] === 'string' ? row['workspace'] : null;
    const receipt = text(row['receipt']);
    if (!matcher.covers(workspace) && workspace !== null) return null;
    if (!wordsName(text(row['reason']), matcher) && !matcher.mentions(receipt)) return null;
    return update('dead_letter_rows', "reason = 'erased', receipt = NULL", [], ['id'], row);
  },
};

const cohortMembers: Table = {
  place: 'cohort_members',
  table: 'cohort_members',
  key: ['cohort_key', 'user_id'],
  columns: 'inside',
  judge: (row, { matcher }) =>
    matcher.isPerson(text(row['user_id'])) && matcher.covers(workspaceOfCohort(text(row['cohort_key'])))
      ? remove('cohort_members', ['cohort_key', 'user_id'], row)
      : null,
};

/** The key of a cohort is JSON and begins with its workspace. */
function workspaceOfCohort(key: string): string | null {
  const parts = json(key);
  return Array.isArray(parts) && typeof parts[0] === 'string' ? parts[0] : null;
}

const jobItems: Table = {
  place: 'job_items',
  table: 'jobs',
  key: ['id'],
  columns: 'workspace, items',
  judge(row, { matcher }) {
    const workspace = typeof row['workspace'] === 'string' ? row['workspace'] : null;
    if (workspace !== null && !matcher.covers(workspace)) return null;
    const erased = eraseJobItems(json(row['items']), matcher);
    return erased && update('jobs', 'items = ?', [stringifyJson(erased)], ['id'], row);
  },
};

/** Every table that holds something of the people who are notified. */
const TABLES: readonly Table[] = [
  deliveries,
  limits,
  ruleStates,
  tasks,
  suppressions,
  optOuts,
  inbox,
  fieldSamples,
  ruleErrors,
  deadLetters,
  cohortMembers,
  jobItems,
];

/** Reads the tables page by page, and yields what of each page is of the person. */
export async function* scanRows(
  reader: Pick<Reader, 'all'>,
  work: ErasureWork,
  moment: Moment,
  pause: () => Promise<unknown>,
): AsyncGenerator<readonly FoundRow[]> {
  for (const { place, table, key, columns, judge } of TABLES) {
    const keys = key.join(', ');
    let last: readonly (string | number)[] | null = null;
    for (;;) {
      const where: string = last === null ? '' : `WHERE (${keys}) > (${key.map(() => '?').join(', ')})`;
      const rows: Row[] = reader.all(
        `SELECT ${keys}, ${columns} FROM ${table} ${where} ORDER BY ${keys} LIMIT ${PAGE_ROWS}`,
        ...(last ?? []),
      );
      const found = rows.flatMap((row): FoundRow[] => {
        const change = judge(row, work, moment);
        return change ? [{ place, key: key.map((column) => String(row[column])).join(' '), change }] : [];
      });
      if (found.length > 0) yield found;
      const end = rows.at(-1);
      if (!end || rows.length < PAGE_ROWS) break;
      last = key.map((column) => end[column] as string | number);
      await pause();
    }
  }
}
