import { DatabaseSync } from 'node:sqlite';
import { CarillonError, isCarillonError, messageOf } from '@carillon/kernel';
import { statementsOf, type Statements } from './statements.ts';

/** Reads on this thread: each statement sees what was committed when it began. Pages are bounded, so none takes long. */
export type Reader = Omit<Statements, 'run'> & { close(): void };

export function openReader(file: string, busyTimeout: number): Reader {
  const db = new DatabaseSync(file, { readOnly: true, timeout: busyTimeout });
  const sql = statementsOf(db);
  let closed = false;

  const guarded = <Value>(read: () => Value): Value => {
    if (closed) throw new CarillonError('stopping', 'the data file is closed');
    try {
      return read();
    } catch (error) {
      if (isCarillonError(error)) throw error;
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
    get: (text, ...values) => guarded(() => sql.get(text, ...values)),
    iterate: (text, ...values) => guarded(() => sql.iterate(text, ...values)),
    close() {
      if (closed) return;
      closed = true;
      db.close();
    },
  };
}
