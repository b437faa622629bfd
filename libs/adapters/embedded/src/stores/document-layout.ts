import { bodyField, type AnyCollection, type Field } from '@carillon/ports';

export type Column = { readonly name: string; readonly sqlType: 'TEXT' | 'INTEGER' };

/** How a collection lies in its table. */
export type Layout = {
  readonly table: string;
  /** Columns of the key. */
  readonly key: readonly string[];
  /** All columns that are written, in the order of the table. */
  readonly columns: readonly Column[];
  /** SQL that reads a field. */
  readonly reads: (field: string) => string;
  /** SQL that is true if a field has a value. */
  readonly present: (field: string) => string;
  /** SQL for fields of an index or a unique key, in which `_id` stands for the key. */
  readonly columnsOf: (fields: readonly string[]) => readonly string[];
  /** Fields that `_id` stands for, and the others as they are. */
  readonly expanded: (fields: readonly string[]) => readonly string[];
};

const snakeCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

export function layoutOf(collection: AnyCollection): Layout {
  const body = bodyField(collection);
  const fieldOf = (name: string): Field<never> => {
    const field = collection.fields[name];
    if (!field) throw new Error(`${collection.name} has no field ${name}`);
    return field;
  };
  const bodyColumn = body === 'body' ? 'document' : body;
  function reads(name: string): string {
    if (name === body && bodyColumn) return bodyColumn;
    if (name === collection.sequence) return name;
    const { column } = fieldOf(name);
    return typeof column === 'object' ? column.read : (column ?? snakeCase(name));
  }
  function present(name: string): string {
    const { column } = fieldOf(name);
    return (typeof column === 'object' ? column.present : null) ?? `${reads(name)} IS NOT NULL`;
  }
  const expanded = (names: readonly string[]): readonly string[] =>
    names.flatMap((name) => (name === '_id' ? (collection.sequence ?? collection.key) : name));
  const columns: readonly Column[] = [
    ...Object.entries(collection.fields)
      .filter(([, { column }]) => typeof column !== 'object')
      .map(([name, { type }]) => ({ name: reads(name), sqlType: type === 'integer' ? 'INTEGER' : 'TEXT' }) as const),
    ...(bodyColumn ? [{ name: bodyColumn, sqlType: 'TEXT' } as const] : []),
    ...(collection.parts ?? []).map((name) => ({ name, sqlType: 'TEXT' }) as const),
  ];
  return {
    table: collection.table ?? collection.name,
    key: collection.key.map(reads),
    columns,
    reads,
    present,
    columnsOf: (names) => expanded(names).map(reads),
    expanded,
  };
}
