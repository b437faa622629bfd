import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';

/** Runs SQL with each text prepared once. Rows are what the SQL says they are: name their shape where it is written. */
export type Statements = {
  all<Row>(sql: string, ...values: readonly SQLInputValue[]): Row[];
  get<Row>(sql: string, ...values: readonly SQLInputValue[]): Row | undefined;
  /** Rows one by one; stop early to bound what is read. */
  iterate<Row>(sql: string, ...values: readonly SQLInputValue[]): IterableIterator<Row>;
  /** Number of rows changed. */
  run(sql: string, ...values: readonly SQLInputValue[]): number;
};

export function statementsOf(db: DatabaseSync): Statements {
  const prepared = new Map<string, StatementSync>();
  const statement = (sql: string): StatementSync => {
    const known = prepared.get(sql);
    if (known) return known;
    const made = db.prepare(sql);
    prepared.set(sql, made);
    return made;
  };
  return {
    all: <Row>(sql: string, ...values: readonly SQLInputValue[]) => statement(sql).all(...values) as Row[],
    get: <Row>(sql: string, ...values: readonly SQLInputValue[]) => statement(sql).get(...values) as Row | undefined,
    iterate: <Row>(sql: string, ...values: readonly SQLInputValue[]) =>
      statement(sql).iterate(...values) as IterableIterator<Row>,
    run: (sql, ...values) => Number(statement(sql).run(...values).changes),
  };
}
