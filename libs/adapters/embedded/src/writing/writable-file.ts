import { DatabaseSync } from 'node:sqlite';
import { CarillonError, messageOf, type Instant } from '@carillon/kernel';
import { establishLog } from '../log/establish.ts';
import { migrate, verifySlotIndex } from '../schema/migrations.ts';
import { statementsOf } from '../statements.ts';
import { blamesFile, createCommit } from './commit.ts';
import { createOperations } from './operations.ts';
import type { Reply, Request, WriterSettings } from './protocol.ts';

export type WritableFile = {
  commit(now: Instant, requests: readonly Request[]): Reply[];
  close(): void;
};

const PAGE_BYTES = 4096;
const unreadable = (error: unknown): CarillonError | null =>
  blamesFile(error) ? new CarillonError('data_damaged', messageOf(error)) : null;

/**
 * Opens the file for the one writer: write-ahead log, every commit on the disk before it counts, schema up to date. Throws
 * `data_damaged` with SQLite's words where the file cannot be read.
 */
export function openForWriting(settings: WriterSettings): WritableFile {
  const db = new DatabaseSync(settings.file, { timeout: settings.busyTimeout });
  try {
    db.exec(`
      PRAGMA page_size = ${PAGE_BYTES};
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA wal_autocheckpoint = 4000;
      PRAGMA journal_size_limit = 67108864;
      PRAGMA cache_size = -32768;
      PRAGMA temp_store = MEMORY;
    `);
    if (settings.maxFileBytes !== null) {
      db.exec(`PRAGMA max_page_count = ${Math.max(1, Math.floor(settings.maxFileBytes / PAGE_BYTES))}`);
    }
    migrate(db);
    verifySlotIndex(db);
    const sql = statementsOf(db);
    establishLog(db, sql, settings);
    let now = settings.createdAt;
    const commit = createCommit(db, createOperations({ sql, now: () => now }));
    return {
      commit(at, requests) {
        now = at;
        try {
          return commit(requests);
        } catch (error) {
          throw unreadable(error) ?? error;
        }
      },
      close: () => db.close(),
    };
  } catch (error) {
    db.close();
    throw unreadable(error) ?? error;
  }
}
