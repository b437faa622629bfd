import type { SQLInputValue } from 'node:sqlite';

export type Condition = readonly [sql: string, ...values: (SQLInputValue | undefined)[]];

/** The WHERE of a list: those conditions whose value was given. The SQL is ours, only values come from outside. */
export function conditionsOf(given: readonly Condition[]): {
  readonly where: string;
  readonly values: readonly SQLInputValue[];
} {
  const kept = given.filter(([, ...values]) => values.every((value) => value !== undefined));
  return {
    where: kept.length > 0 ? `WHERE ${kept.map(([sql]) => sql).join(' AND ')}` : '',
    values: kept.flatMap(([, ...values]) => values as SQLInputValue[]),
  };
}
