import fc from 'fast-check';
import type { PostgresDatabase } from '@carillon/testing/services';
import { COLUMNS, type Column } from './columns.ts';

type Values = ReadonlyMap<Column, string | null>;

const valuesOf = (columns: readonly Column[]): fc.Arbitrary<Values> =>
  fc
    .tuple(...columns.map(({ values }) => values))
    .map((row) => new Map(columns.map((column, at) => [column, row[at] ?? null])));

type Kind = 'insert' | 'update' | 'touch' | 'rekey' | 'delete' | 'begin' | 'commit' | 'rollback';

/** `row` chooses among the rows that exist. */
type Statement = { readonly kind: Kind; readonly table: number; readonly row: number; readonly values: Values };

const KINDS: readonly fc.WeightedArbitrary<Kind>[] = [
  { weight: 30, arbitrary: fc.constant('insert') },
  { weight: 35, arbitrary: fc.constant('update') },
  { weight: 8, arbitrary: fc.constant('touch') },
  { weight: 8, arbitrary: fc.constant('rekey') },
  { weight: 12, arbitrary: fc.constant('delete') },
  { weight: 4, arbitrary: fc.constant('begin') },
  { weight: 4, arbitrary: fc.constant('commit') },
  { weight: 1, arbitrary: fc.constant('rollback') },
];

const statement: fc.Arbitrary<Statement> = fc.oneof(...KINDS).chain((kind) =>
  fc.record({
    kind: fc.constant(kind),
    table: fc.nat(),
    row: fc.nat(),
    values: kind === 'insert' ? valuesOf(COLUMNS) : fc.subarray([...COLUMNS], { minLength: 1 }).chain(valuesOf),
  }),
);

/** Runs random statements, and keeps which rows exist. */
export class RandomStatements {
  readonly #database: PostgresDatabase;
  readonly #tables: readonly string[];
  #rows: ReadonlyMap<string, readonly number[]>;
  #rowsBefore: ReadonlyMap<string, readonly number[]> | null = null;
  #id = 0;

  constructor(database: PostgresDatabase, tables: readonly string[]) {
    this.#database = database;
    this.#tables = tables;
    this.#rows = new Map(tables.map((table) => [table, []]));
  }

  /** Runs statements until `count` changed a row, and ends the last transaction. */
  async run(count: number, seed: number): Promise<void> {
    const sample = fc.sample(statement, { numRuns: count * 2, seed });
    let changed = 0;
    for (const next of sample) {
      if (changed === count) break;
      if (await this.#runOne(next)) changed += 1;
    }
    if (this.#rowsBefore !== null) await this.#end('COMMIT');
  }

  /** Whether it changed a row. */
  async #runOne({ kind, table: number, row, values }: Statement): Promise<boolean> {
    const table = this.#tables[number % this.#tables.length] ?? '';
    const ids = this.#rows.get(table) ?? [];
    const id = ids[row % Math.max(ids.length, 1)];
    if (kind === 'begin') {
      if (this.#rowsBefore === null) {
        this.#rowsBefore = this.#rows;
        await this.#database.run('BEGIN');
      }
      return false;
    }
    if (kind === 'commit' || kind === 'rollback') {
      if (this.#rowsBefore !== null) await this.#end(kind === 'commit' ? 'COMMIT' : 'ROLLBACK');
      return false;
    }
    if (kind === 'insert') {
      this.#id += 1;
      await this.#insert(table, this.#id, values);
      this.#keep(table, [...ids, this.#id]);
      return true;
    }
    if (id === undefined) return false;
    if (kind === 'delete') {
      await this.#database.run(`DELETE FROM ${table} WHERE id = $1`, [id]);
      this.#keep(
        table,
        ids.filter((other) => other !== id),
      );
    } else if (kind === 'touch') {
      await this.#database.run(`UPDATE ${table} SET small = small WHERE id = $1`, [id]);
    } else {
      if (kind === 'rekey') this.#id += 1;
      const key = kind === 'rekey' ? this.#id : id;
      await this.#update(table, id, key, values);
      this.#keep(table, [...ids.filter((other) => other !== id), key]);
    }
    return true;
  }

  #keep(table: string, ids: readonly number[]): void {
    this.#rows = new Map([...this.#rows, [table, ids]]);
  }

  async #end(how: 'COMMIT' | 'ROLLBACK'): Promise<void> {
    await this.#database.run(how);
    if (how === 'ROLLBACK') this.#rows = this.#rowsBefore ?? this.#rows;
    this.#rowsBefore = null;
  }

  async #insert(table: string, id: number, values: Values): Promise<void> {
    const columns = [...values.keys()];
    const names = columns.map(({ name }) => `, ${name}`).join('');
    const casts = columns.map(({ type }, at) => `, $${at + 2}::text::${type}`).join('');
    await this.#database.run(`INSERT INTO ${table} (id${names}) VALUES ($1${casts})`, [id, ...values.values()]);
  }

  async #update(table: string, id: number, key: number, values: Values): Promise<void> {
    const sets = [...values.keys()].map(({ name, type }, at) => `, ${name} = $${at + 3}::text::${type}`).join('');
    await this.#database.run(`UPDATE ${table} SET id = $2${sets} WHERE id = $1`, [id, key, ...values.values()]);
  }
}
