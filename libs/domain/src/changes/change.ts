import { parseInstant, type Instant, type JsonObject } from '@carillon/kernel';
import { CHANGE_OPS } from '@carillon/shapes/values';

export { CHANGE_OPS };
export type ChangeOp = (typeof CHANGE_OPS)[number];

/** Where a change was read. */
export type ChangeSource = {
  readonly integration: string;
  /** `schema.table`. */
  readonly table: string;
  /** Number of the transaction in the database. */
  readonly tx: number;
  /** Commit position and number within the transaction, such as `0/1948580:3`. */
  readonly position: string;
  /** Commit time, RFC 3339 in UTC with microseconds. */
  readonly at: string;
};

let latest: { readonly text: string; readonly at: Instant | undefined } = { text: '', at: undefined };

/** Returns the commit time of a change, or undefined if it is none. All changes of a transaction have the same text. */
export function committedAt({ at: text }: Pick<ChangeSource, 'at'>): Instant | undefined {
  if (text !== latest.text) latest = { text, at: parseInstant(text) };
  return latest.at;
}

/** A row that was created, updated or deleted. The log stores a change as one JSON object with these names. */
export type Change = {
  readonly op: ChangeOp;
  /** The row, after the change. The deleted row for `delete`. */
  readonly event: JsonObject;
  /** The row before the change. Null on `create` and `snapshot`. Undefined if the database did not send it. */
  readonly previous?: JsonObject | null;
  /** Names of fields that `event` or `previous` lacks although the row has them. A row that has the field knows its value. */
  readonly unknown: readonly string[];
  readonly source: ChangeSource;
};

/** A change as a reader hands it over. `identity` is the same each time the same change is read; event ids derive from it. */
export type ReadChange = { readonly change: Change; readonly identity: readonly string[] };

/** A change that its reader could not read. It becomes a dead letter, and reading continues behind it. */
export type UnreadableChange = Pick<ReadChange, 'identity'> & {
  readonly source: ChangeSource;
  /** Only for the log of the engine, because its text may hold values of the row. */
  readonly error: unknown;
};
