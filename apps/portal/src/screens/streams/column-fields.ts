import type { DatabaseTable } from '../sources/queries.ts';

/** A table that a stream reads, and its columns that no event has. */
export type ReadTable = { readonly table: string; readonly without: readonly string[] };
export type ReadColumn = DatabaseTable['columns'][number] & { readonly table: string };

/** Returns the columns that changes of these tables have, in the order of the tables. */
export const columnsOf = (read: readonly ReadTable[], tables: readonly DatabaseTable[]): readonly ReadColumn[] =>
  read.flatMap(({ table, without }) =>
    (tables.find((item) => item.table === table)?.columns ?? [])
      .filter(({ name }) => !without.includes(name))
      .map((column) => ({ table, ...column })),
  );

const NUMBER = /^(smallint|integer|bigint|numeric|real|double precision)\b/;

/** Returns the JSON type that values of a column mostly have. */
function jsonTypeOf(type: string): string {
  if (type.endsWith('[]')) return 'array';
  if (NUMBER.test(type)) return 'number';
  if (type === 'boolean') return type;
  return type === 'json' || type === 'jsonb' ? 'object' : 'string';
}

/** Returns columns as fields of events that nobody has seen yet. A name that needs quotes in an expression is left out. */
export function fieldsOfColumns(columns: readonly ReadColumn[]) {
  const types = new Map<string, readonly string[]>();
  for (const { name, type } of columns) {
    if (!/^[A-Za-z_]\w*$/.test(name)) continue;
    types.set(name, [...new Set([...(types.get(name) ?? []), jsonTypeOf(type)])]);
  }
  return [...types].map(([path, of]) => ({ path, types: of, sample: null, count: 0 }));
}
