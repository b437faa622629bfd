import type { DeadLetterRow, DuplicateRow, EvaluationRow, EventRow, FieldRow, ReadModels } from '@carillon/ports';
import type { Reader } from '../reader.ts';
import type { Transaction, Write } from '../writing/protocol.ts';
import { conditionsOf } from './conditions.ts';
import { cursorAt, keysOf, pageOf } from './cursor.ts';
import {
  deadLetterOf,
  duplicateOf,
  evaluationOf,
  eventOf,
  fieldOf,
  type DeadLetterTableRow,
  type DuplicateTableRow,
  type EvaluationTableRow,
  type EventTableRow,
  type FieldTableRow,
} from './read-model-rows.ts';

type Rows = Parameters<ReadModels['put']>[0];

type Sql = Transaction['sql'];

function putEvent(sql: Sql, row: EventRow): void {
  sql.run(
    `INSERT OR REPLACE INTO event_rows (partition, record_offset, id, workspace, stream, at, bytes, config_number,
       reused, trace_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    row.partition,
    row.offset,
    row.id,
    row.workspace,
    row.stream,
    row.at,
    row.bytes,
    row.configNumber,
    row.reused ? 1 : 0,
    row.traceId,
  );
}

function putDuplicate(sql: Sql, row: DuplicateRow): void {
  sql.run(
    'INSERT OR REPLACE INTO duplicate_rows VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
    row.id,
    row.workspace,
    row.notification,
    row.intentId,
    row.eventId,
    row.deliveryId,
    row.at,
    row.detail,
  );
}

function putDeadLetter(sql: Sql, row: DeadLetterRow): void {
  // Projecting again must not forget that somebody has sent it on its way since.
  sql.run(
    `INSERT INTO dead_letter_rows (id, workspace, stage, topic, partition, record_offset, reason, at, own_partition,
       own_offset, redriven_at, redriven_by, dismissed_at, dismissed_by, receipt)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    row.id,
    row.workspace,
    row.stage,
    row.topic,
    row.partition,
    row.offset,
    row.reason,
    row.at,
    row.ownPartition,
    row.ownOffset,
    row.redrivenAt,
    row.redrivenBy,
    row.dismissedAt,
    row.dismissedBy,
    row.receipt === null ? null : JSON.stringify(row.receipt),
  );
}

function putEvaluation(sql: Sql, row: EvaluationRow, now: number): void {
  sql.run(
    `INSERT INTO evaluation_rows (partition, from_offset, to_offset, config_number, workspace, rule, fired, failed,
       sample_event_id, sample_error, written_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET fired = excluded.fired, failed = excluded.failed,
       sample_event_id = excluded.sample_event_id, sample_error = excluded.sample_error`,
    row.partition,
    row.from,
    row.to,
    row.configNumber,
    row.workspace,
    row.rule,
    row.fired,
    row.failed,
    row.sampleEventId,
    row.sampleError,
    now,
  );
}

function putField(sql: Sql, row: FieldRow): void {
  sql.run(
    `INSERT INTO field_rows VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET record_offset = excluded.record_offset, count = excluded.count,
       types = excluded.types, sample = excluded.sample, first_at = excluded.first_at, last_at = excluded.last_at,
       tables = excluded.tables
     WHERE excluded.record_offset > record_offset`,
    row.stream,
    row.partition,
    row.path,
    row.workspace,
    row.offset,
    row.count,
    JSON.stringify(row.types),
    row.sample,
    row.firstAt,
    row.lastAt,
    JSON.stringify(row.tables),
  );
}

export const readModelWrites = ({ sql, now }: Transaction) => ({
  'readModels.put'(rows: Rows): void {
    for (const row of rows.events ?? []) putEvent(sql, row);
    for (const row of rows.duplicates ?? []) putDuplicate(sql, row);
    for (const row of rows.deadLetters ?? []) putDeadLetter(sql, row);
    for (const row of rows.evaluations ?? []) putEvaluation(sql, row, now());
    for (const row of rows.fields ?? []) putField(sql, row);
  },
  'readModels.markRedriven'(id: string, at: number, by: string): void {
    sql.run('UPDATE dead_letter_rows SET redriven_at = ?, redriven_by = ? WHERE id = ?', at, by, id);
  },
  'readModels.markDismissed'(id: string, at: number, by: string): void {
    sql.run(
      'UPDATE dead_letter_rows SET dismissed_at = ?, dismissed_by = ? WHERE id = ? AND dismissed_at IS NULL',
      at,
      by,
      id,
    );
  },
  'readModels.markReopened'(id: string): void {
    sql.run('UPDATE dead_letter_rows SET dismissed_at = NULL, dismissed_by = NULL WHERE id = ?', id);
  },
});

const countOf = (rows: Rows): number =>
  (rows.events?.length ?? 0) +
  (rows.duplicates?.length ?? 0) +
  (rows.deadLetters?.length ?? 0) +
  (rows.evaluations?.length ?? 0) +
  (rows.fields?.length ?? 0);

export const createReadModels = (reader: Reader, write: Write<ReturnType<typeof readModelWrites>>): ReadModels => ({
  async put(rows) {
    const count = countOf(rows);
    if (count > 0) await write('readModels.put', { bytes: count * 512, rows: count }, rows);
  },
  async fields(stream, partition) {
    const { where, values } = conditionsOf([
      ['stream = ?', stream],
      ['partition = ?', partition],
    ]);
    const rows = reader.all(`SELECT * FROM field_rows ${where} ORDER BY path, partition`, ...values) as FieldTableRow[];
    return rows.map(fieldOf);
  },
  async event(id) {
    const rows = reader.all(
      'SELECT * FROM event_rows WHERE id = ? ORDER BY at, partition, record_offset',
      id,
    ) as EventTableRow[];
    return rows.map(eventOf);
  },
  async eventsWithIds(ids, mostOfEach) {
    // One statement for all ids, because most of the cost is per statement.
    const rows = reader.all(
      `SELECT event_rows.* FROM json_each(?) AS asked CROSS JOIN event_rows
        WHERE (partition, record_offset) IN
          (SELECT partition, record_offset FROM event_rows WHERE id = asked.value LIMIT ?)`,
      JSON.stringify([...new Set(ids)]),
      mostOfEach,
    ) as EventTableRow[];
    return rows.map(eventOf);
  },
  async events(filter, limit, cursor) {
    const [at, partition, offset] = cursor === undefined ? [] : keysOf(cursor, 'number', 'number', 'number');
    const { where, values } = conditionsOf([
      ['workspace = ?', filter.workspace],
      ['stream = ?', filter.stream],
      ['trace_id = ?', filter.traceId],
      ['at >= ?', filter.since],
      ['at < ?', filter.before],
      ['(at, partition, record_offset) < (?, ?, ?)', at, partition, offset],
    ]);
    const rows = reader.all(
      `SELECT * FROM event_rows ${where} ORDER BY at DESC, partition DESC, record_offset DESC LIMIT ?`,
      ...values,
      limit + 1,
    ) as EventTableRow[];
    return pageOf(rows, limit, eventOf, (row) => cursorAt(row.at, row.partition, row.record_offset));
  },
  async duplicatesOfEvent(eventId) {
    const rows = reader.all(
      'SELECT * FROM duplicate_rows WHERE event_id = ? ORDER BY at, id',
      eventId,
    ) as DuplicateTableRow[];
    return rows.map(duplicateOf);
  },
  async duplicatesOfDelivery(deliveryId) {
    const rows = reader.all(
      'SELECT * FROM duplicate_rows WHERE delivery_id = ? ORDER BY at, id',
      deliveryId,
    ) as DuplicateTableRow[];
    return rows.map(duplicateOf);
  },
  async duplicates(filter, limit, cursor) {
    const [at, id] = cursor === undefined ? [] : keysOf(cursor, 'number', 'string');
    const { where, values } = conditionsOf([
      ['workspace = ?', filter.workspace],
      ['event_id = ?', filter.eventId],
      ['delivery_id IN (SELECT value FROM json_each(?))', filter.deliveryIds && JSON.stringify(filter.deliveryIds)],
      ['at >= ?', filter.since],
      ['at < ?', filter.before],
      ['(at, id) < (?, ?)', at, id],
    ]);
    // Those of an event or of some deliveries are few; in the order of time all others would be looked at.
    const named = filter.deliveryIds ? 'delivery' : filter.eventId === undefined ? null : 'event';
    const index = named === null ? '' : `INDEXED BY duplicate_rows_${named}`;
    const rows = reader.all(
      `SELECT * FROM duplicate_rows ${index} ${where} ORDER BY at DESC, id DESC LIMIT ?`,
      ...values,
      limit + 1,
    ) as DuplicateTableRow[];
    return pageOf(rows, limit, duplicateOf, (row) => cursorAt(row.at, row.id));
  },
  ...deadLetterModels(reader, write),
  async evaluations(workspace, rule, limit) {
    const rows = reader.all(
      `SELECT * FROM evaluation_rows WHERE workspace = ? AND rule = ? ORDER BY (failed > 0) DESC, sequence DESC LIMIT ?`,
      workspace,
      rule,
      limit,
    ) as EvaluationTableRow[];
    return rows.map(evaluationOf);
  },
});

const deadLetterModels = (
  reader: Reader,
  write: Write<ReturnType<typeof readModelWrites>>,
): Pick<ReadModels, 'deadLetters' | 'deadLetter' | 'markRedriven' | 'markDismissed' | 'markReopened'> => ({
  async deadLetters(filter, limit, cursor) {
    const [at, id] = cursor === undefined ? [] : keysOf(cursor, 'number', 'string');
    const { where, values } = conditionsOf([
      ['workspace = ?', filter.workspace],
      ...(filter.ofReceipts === undefined ? [] : ([[`stage ${filter.ofReceipts ? '=' : '<>'} 'receipts'`]] as const)),
      ...(filter.open ? ([['redriven_at IS NULL AND dismissed_at IS NULL']] as const) : []),
      ['at >= ?', filter.since],
      ['at < ?', filter.before],
      ['(at, id) < (?, ?)', at, id],
    ]);
    const rows = reader.all(
      `SELECT * FROM dead_letter_rows ${where} ORDER BY at DESC, id DESC LIMIT ?`,
      ...values,
      limit + 1,
    ) as DeadLetterTableRow[];
    return pageOf(rows, limit, deadLetterOf, (row) => cursorAt(row.at, row.id));
  },
  async deadLetter(id) {
    const row = reader.get('SELECT * FROM dead_letter_rows WHERE id = ?', id) as DeadLetterTableRow | undefined;
    return row ? deadLetterOf(row) : null;
  },
  markRedriven: (id, at, by) => write('readModels.markRedriven', { bytes: 128 }, id, at, by),
  markDismissed: (id, at, by) => write('readModels.markDismissed', { bytes: 128 }, id, at, by),
  markReopened: (id) => write('readModels.markReopened', { bytes: 128 }, id),
});
