import type { Change, ChangeOp } from '@carillon/domain/changes';
import { isJsonObject, stringifyJson, type Json, type JsonObject } from '@carillon/kernel';

/** Changed fields of a change that a list shows. */
const MAX_FIELDS = 20;
/** Characters of one value. */
const MAX_VALUE_LENGTH = 60;

/** A field of a row whose value changed. Values are JSON text, cut short. Null: the row has no such field. */
export type ChangedField = { readonly field: string; readonly before: string | null; readonly after: string | null };

/** Effect of a change on its row, for lists. */
export type ChangeSummary = {
  readonly op: ChangeOp;
  readonly table: string;
  readonly fields: readonly ChangedField[];
  /** Changed fields that are left out. */
  readonly more: number;
  /** Fields whose values the database did not send. */
  readonly unknown: readonly string[];
  /** True if the database sent the previous values of the row. */
  readonly beforeKnown: boolean;
};

/** Returns the fields of an updated row that changed. A row that was created or deleted has none. */
export function summarizeChange({ op, event, previous, unknown, source }: Change): ChangeSummary {
  const changed = op === 'update' && previous ? changedNames(previous, event, unknown) : [];
  const before = previous ?? {};
  const fields = changed.slice(0, MAX_FIELDS).map((field) => ({
    field,
    before: valueText(before, field),
    after: valueText(event, field),
  }));
  return {
    op,
    table: source.table,
    fields,
    more: changed.length - fields.length,
    unknown,
    beforeKnown: previous !== undefined,
  };
}

const changedNames = (before: JsonObject, after: JsonObject, unknown: readonly string[]): readonly string[] =>
  [...new Set([...Object.keys(after), ...Object.keys(before)])].filter(
    (name) => !unknown.includes(name) && !isSame(valueOf(before, name), valueOf(after, name)),
  );

const valueOf = (row: JsonObject, name: string): Json | undefined => (Object.hasOwn(row, name) ? row[name] : undefined);

/** Compares as expressions do: 1 equals 1.0, and the order of names does not count. */
function isSame(a: Json | undefined, b: Json | undefined): boolean {
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((value: Json, at) => isSame(value, b[at] as Json));
  }
  if (a !== undefined && b !== undefined && isJsonObject(a) && isJsonObject(b)) {
    const names = Object.keys(a);
    return names.length === Object.keys(b).length && names.every((name) => isSame(valueOf(a, name), valueOf(b, name)));
  }
  return a === b;
}

function valueText(row: JsonObject, name: string): string | null {
  const value = valueOf(row, name);
  if (value === undefined) return null;
  const text = stringifyJson(value);
  return text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH)}…` : text;
}
