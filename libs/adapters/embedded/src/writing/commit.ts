import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { isCarillonError, messageOf } from '@carillon/kernel';
import type { Failure, Operations, Reply, Request } from './protocol.ts';

/** SQLite's result codes that blame the request (its values, its SQL); every other one blames the file or the disk. */
const REQUEST_FAULTS: ReadonlySet<number> = new Set([
  1 /* error */, 18 /* too big */, 19 /* constraint */, 20 /* mismatch */, 21 /* misuse */, 25 /* range */,
]);

/** SQLite's primary result code; 0 for an error that is none of SQLite's. */
export const resultCode = (error: unknown): number =>
  error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : 0;

const DAMAGED: ReadonlySet<number> = new Set([11 /* corrupt */, 26 /* not a database */]);

/** The file itself is damaged: no repetition helps, and writing on could make it worse. */
export const blamesFile = (error: unknown): boolean => DAMAGED.has(resultCode(error));

const blamesStorage = (error: unknown): boolean => resultCode(error) !== 0 && !REQUEST_FAULTS.has(resultCode(error));

export const failureOf = (error: unknown): Failure =>
  isCarillonError(error) ? { code: error.code, message: error.detail } : { code: null, message: messageOf(error) };

/**
 * Commits a batch of requests as one transaction, each in a savepoint: a request that fails takes back its own changes
 * and no others'; appends that came together are one request (`joining.ts`), and fail together. Throws when the storage fails; then
 * nothing of the batch counts as written.
 */
export function createCommit(db: DatabaseSync, operations: Operations) {
  const prepare = (sql: string): StatementSync => db.prepare(sql);
  const [begin, commit] = [prepare('BEGIN IMMEDIATE'), prepare('COMMIT')];
  const [save, release, undo] = [
    prepare('SAVEPOINT request'),
    prepare('RELEASE request'),
    prepare('ROLLBACK TO request'),
  ];

  const attempt = (name: string, args: readonly unknown[]): Reply => {
    const operation = operations[name];
    if (!operation)
      return { ok: false, failure: { code: null, message: `internal error: there is no write operation ${name}` } };
    save.run();
    try {
      const value = operation(...(args as never[]));
      release.run();
      return { ok: true, value };
    } catch (error) {
      if (blamesStorage(error)) throw error;
      undo.run();
      release.run();
      return { ok: false, failure: failureOf(error) };
    }
  };

  return (requests: readonly Request[]): Reply[] => {
    begin.run();
    try {
      const replies = requests.map((request) => attempt(request.name, request.args));
      commit.run();
      return replies;
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK');
      throw error;
    }
  };
}
