import { isJsonObject, stringifyJson, type Json, type JsonObject } from '@carillon/kernel';
import type { Change, ChangeOp, ReadChange } from '../change.ts';
import type { ChangeFault } from '../change-json.ts';
import { exactDocument, exactJson } from '../exact-values.ts';
import { identifyingSource, readChangeSource } from './change-source.ts';
import type { ColumnType } from './column-type.ts';
import { unwrapExtendedJson } from './extended-json.ts';
import { readDebeziumRow, type DebeziumRow } from './read-row.ts';
import type { NumberTexts } from './typed-value.ts';

/** Records of Debezium that are no change of a row. */
export const SKIPPED_RECORDS = [
  'tombstone',
  'heartbeat',
  'schema_change',
  'transaction',
  'truncate',
  'message',
] as const;
export type SkippedRecord = (typeof SKIPPED_RECORDS)[number];

/** Result of reading a record of Debezium. `fault`: the record can never be read. */
export type DebeziumRead =
  | { readonly kind: 'change'; readonly read: ReadChange }
  | { readonly kind: 'skipped'; readonly reason: SkippedRecord }
  | { readonly kind: 'fault'; readonly fault: ChangeFault };

export const skipped = (reason: SkippedRecord): DebeziumRead => ({ kind: 'skipped', reason });
export const fault = (code: string, detail: string): DebeziumRead => ({ kind: 'fault', fault: { code, detail } });

/** A decoded envelope. Bytes are base64 text. */
export type Envelope = {
  readonly payload: JsonObject;
  /** Type from the schema. Null if the record came without a schema. */
  readonly type: ColumnType | null;
  /** Numbers of the payload that were read as text. */
  readonly numbers: NumberTexts;
  /** Reads the record's key. */
  readonly key: () => Json;
  /** Name of the integration. Null: a sender posted the envelope. */
  readonly integration: string | null;
};

const OPS: ReadonlyMap<Json | undefined, ChangeOp> = new Map<Json | undefined, ChangeOp>([
  ['c', 'create'],
  ['u', 'update'],
  ['d', 'delete'],
  ['r', 'snapshot'],
]);

/** Returns the change in an envelope of Debezium, or why it has none. */
export function readEnvelope(envelope: Envelope): DebeziumRead {
  const { payload } = envelope;
  const op = OPS.get(payload['op']);
  if (op !== undefined) return readChangeEnvelope(envelope, op);
  if (payload['op'] === 't') return skipped('truncate');
  if (payload['op'] === 'm') return skipped('message');
  if (payload['op'] !== undefined)
    return fault('unknown_op', 'The field `op` of the envelope is none of c, u, d, r, t, m.');
  return readMarker(payload);
}

function readMarker(payload: JsonObject): DebeziumRead {
  const names = Object.keys(payload);
  if (names.includes('ddl') || names.includes('tableChanges')) return skipped('schema_change');
  if (names.includes('status') && names.includes('event_count')) return skipped('transaction');
  if (names.length > 0 && names.every((name) => /^ts_(?:ms|us|ns)$/.test(name))) return skipped('heartbeat');
  return fault(
    'no_envelope',
    'The record is no envelope of Debezium: it has no `op`. Remove a transformation such as ExtractNewRecordState from ' +
      'the connector, or write `format: json` in the stream.',
  );
}

function readChangeEnvelope(envelope: Envelope, op: ChangeOp): DebeziumRead {
  const { source } = envelope.payload;
  if (!isJsonObject(source)) return fault('no_source', 'The envelope has no `source`, so the change has no identity.');
  const readSource = readChangeSource(source, envelope.integration);
  if (typeof readSource === 'string') return fault('no_source', `The \`source\` of the envelope lacks ${readSource}.`);
  const before = rowOf(envelope, 'before');
  const after = rowOf(envelope, 'after');
  if (typeof before === 'string' || typeof after === 'string') {
    const field = typeof before === 'string' ? `before.${before}` : `after.${after as string}`;
    return fault(
      'schema_mismatch',
      `The value of \`${field.slice(0, 200)}\` is not what the schema of the envelope says.`,
    );
  }
  const rows = rowsOf(op, before, op === 'delete' && before === null ? keyOf(envelope) : after);
  if (rows === null) return fault('no_row', noRowText(op, source));
  const change: Change = { ...rows, source: readSource };
  const { before: rawBefore = null, after: rawAfter = null } = envelope.payload;
  const identity = [op, ...[rawBefore, rawAfter, identifyingSource(source)].map(stringifyJson)];
  return { kind: 'change', read: { change, identity } };
}

/** The row before or after. Null: the envelope has none. Text: the name of the column that is not of its type. */
function rowOf({ payload, type, numbers }: Envelope, side: 'before' | 'after'): DebeziumRow | string | null {
  const row = payload[side];
  if (row === null || row === undefined) return null;
  // MongoDB's connector writes documents as text.
  if (typeof row === 'string') return documentOf(row) ?? '';
  if (!isJsonObject(row)) return '';
  if (type === null) return readDebeziumRow(row, null);
  const rowType = type.kind === 'struct' ? type.fields.get(side) : undefined;
  return rowType?.kind === 'struct' ? readDebeziumRow(row, { struct: rowType, numbers }) : '';
}

function documentOf(text: string): DebeziumRow | undefined {
  const document = exactDocument(text);
  if (!isJsonObject(document)) return undefined;
  return readDebeziumRow(unwrapExtendedJson(document) as JsonObject, null) as DebeziumRow;
}

/** MongoDB sends no row of a deleted document, unless its collection keeps images. The record's key has the `_id`. */
function keyOf({ key, payload: { source } }: Envelope): DebeziumRow | null {
  if (!isJsonObject(source) || source['connector'] !== 'mongodb') return null;
  const read = key();
  const id = isJsonObject(read) ? read['id'] : undefined;
  return typeof id === 'string' ? { row: { _id: unwrapExtendedJson(exactJson(id)) }, unsent: [], tooLarge: [] } : null;
}

type Rows = Pick<Change, 'op' | 'event' | 'previous' | 'unknown'>;

function rowsOf(op: ChangeOp, before: DebeziumRow | null, after: DebeziumRow | null): Rows | null {
  if (op === 'delete') {
    const deleted = before ?? after;
    return deleted && { op, event: deleted.row, previous: deleted.row, unknown: unknownOf(deleted) };
  }
  if (after === null) return null;
  if (op !== 'update') return { op, event: after.row, previous: null, unknown: unknownOf(after) };
  if (before === null) return { op, event: after.row, unknown: unknownOf(after) };
  return { op, previous: before.row, ...withKnown(after, before) };
}

/** A value that the database did not send again is that of the row before, if the envelope has it there. */
function withKnown(after: DebeziumRow, before: DebeziumRow): Pick<Rows, 'event' | 'unknown'> {
  const known = new Set(after.unsent.filter((name) => Object.hasOwn(before.row, name)));
  const event = known.size === 0 ? after.row : { ...after.row, ...pick(before.row, [...known]) };
  return {
    event,
    unknown: [...new Set([...unknownOf(after).filter((name) => !known.has(name)), ...unknownOf(before)])],
  };
}

const unknownOf = ({ unsent, tooLarge }: DebeziumRow): readonly string[] => [...unsent, ...tooLarge];

const pick = (row: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(names.map((name) => [name, row[name] ?? null]));

const noRowText = (op: ChangeOp, { connector }: JsonObject): string =>
  connector === 'mongodb'
    ? `The envelope of the ${op} has no document. Set \`capture.mode\` of the connector to change_streams_update_full_with_pre_image.`
    : `The envelope of the ${op} has no row: \`before\` and \`after\` are null or missing.`;
