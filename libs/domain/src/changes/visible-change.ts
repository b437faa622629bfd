import type { JsonObject } from '@carillon/kernel';
import { FORBIDDEN_NAMES } from '../events/limits.ts';
import type { Change, ChangeOp, ChangeSource } from './change.ts';

/** Names that expressions see for a change besides `event` and `time`. */
export type VisibleChange = {
  readonly op: ChangeOp;
  /** The row before. Without fields on create and snapshot. Undefined: the database did not send it. */
  readonly previous?: JsonObject;
  readonly source: Omit<ChangeSource, 'at'>;
  /** Undefined: every value is known. */
  readonly unknown?: UnknownValues;
};

/** Values of a change that the log does not have. */
export type UnknownValues = {
  /** A row that lacks a field of these names may have had any value there. */
  readonly fields: readonly string[];
  readonly table: string;
};

/** Why a value of a change is not known: of a field, or of the whole row before. */
export const UNKNOWN_REASONS = ['field_unknown', 'before_unknown'] as const;
export type UnknownReason = (typeof UNKNOWN_REASONS)[number];

/** `previous` of the first event of an entity, and of a created row: without fields. Known by its identity. */
export const NO_PREVIOUS: JsonObject = Object.freeze(Object.create(null) as JsonObject);

/** Returns what expressions see of a change. */
export function visibleChange({ op, previous, unknown: fields, source }: Change): VisibleChange {
  const { integration, table, tx, position } = source;
  const place = { integration, table, tx, position };
  if (previous === undefined) return { op, source: place, unknown: { fields, table } };
  const known = { op, source: place, previous: previous ?? NO_PREVIOUS };
  return fields.length === 0 ? known : { ...known, unknown: { fields, table } };
}

/** Returns the row before for a message. Undefined on create and snapshot, and if the database did not send it. */
export const rowBefore = ({ op, previous }: Pick<VisibleChange, 'op' | 'previous'>): JsonObject | undefined =>
  op === 'create' || op === 'snapshot' ? undefined : previous;

/** Returns the error of a value that is not known, with what makes it known. */
export function unknownText(reason: UnknownReason, field: string, { table }: UnknownValues): string {
  const fix = `${replicaIdentitySql(table)} makes the database send the whole row before each change.`;
  return reason === 'before_unknown'
    ? `before_unknown: the database did not send the row before. ${fix}`
    : FORBIDDEN_NAMES.includes(field)
      ? `field_unknown: Carillon never keeps a column named ${field}. Rename the column.`
      : `field_unknown: ${field.slice(0, 100)} did not change and was not sent, or has more than 64 KiB. ` +
        `If the value has more than 64 KiB, Carillon never keeps it. Otherwise ${fix}`;
}

/** SQL after which the database sends the whole row before a change. `table` is `schema.table`. */
export function replicaIdentitySql(table: string): string {
  const [schema = '', ...name] = table.split('.');
  return `ALTER TABLE ${quoteTable(schema, name.join('.'))} REPLICA IDENTITY FULL;`;
}

/** Returns a table's name for SQL. A table may be called as a keyword without quotes, a schema may not. */
export function quoteTable(schema: string, table: string): string {
  const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;
  return `${schema === 'public' ? schema : quote(schema)}.${/^[a-z_][a-z0-9_]*$/.test(table) ? table : quote(table)}`;
}
