import { DatabaseSync } from 'node:sqlite';
import { CarillonError, isCarillonError, messageOf } from '@carillon/kernel';
import { blamesFile } from './writing/commit.ts';
import type { DamageKnown } from './writing/protocol.ts';
import { statementsOf, type Statements } from './statements.ts';

/** Pages of indexes stay in memory: ids of events are spread over their whole index. */
const CACHE_KIB = 16_384;

/** Reads on this thread: each statement sees what was committed when it began. Pages are bounded, so none takes long. */
export type Reader = Omit<Statements, 'run'> & { close(): void };

export function openReader(file: string, busyTimeout: number, damage: DamageKnown): Reader {
  const db = new DatabaseSync(file, { readOnly: true, timeout: busyTimeout });
  db.exec(`PRAGMA cache_size = -${CACHE_KIB}`);
  const sql = statementsOf(db);
  let closed = false;

  const guarded = <Value>(read: () => Value): Value => {
    if (closed) throw new CarillonError('stopping', 'the data file is closed');
    const damaged = damage.known();
    if (damaged !== null) throw new CarillonError('log_unavailable', damaged);
    try {
      return read();
    } catch (error) {
      if (isCarillonError(error)) throw error;
      if (blamesFile(error))
        throw new CarillonError('log_unavailable', damage.found(messageOf(error)), {}, { cause: error });
      throw new CarillonError(
        'log_unavailable',
        `reading the data file failed (${messageOf(error)})`,
        {},
        { cause: error },
      );
    }
  };

  return {
    all: (text, ...values) => guarded(() => sql.all(text, ...values)),
    visit: (text, values, visit) => guarded(() => sql.visit(text, values, visit)),
    get: (text, ...values) => guarded(() => sql.get(text, ...values)),
    *iterate(text, ...values) {
      const rows = guarded(() => sql.iterate(text, ...values));
      try {
        for (let next = guarded(() => rows.next()); next.done !== true; next = guarded(() => rows.next()))
          yield next.value;
      } finally {
        rows.return?.();
      }
    },
    close() {
      if (closed) return;
      closed = true;
      db.close();
    },
  };
}
