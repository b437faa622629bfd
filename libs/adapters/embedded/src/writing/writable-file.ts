import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { CarillonError, messageOf, type Instant } from '@carillon/kernel';
import { establishLog } from '../log/establish.ts';
import { createDocumentTables } from '../schema/document-tables.ts';
import { migrate, MIGRATIONS, verifySlotIndex } from '../schema/migrations.ts';
import { statementsOf } from '../statements.ts';
import { littleOf, logIsFull } from '../wal/bounds.ts';
import { PAGE_BYTES, walOf, type WalState } from '../wal/wal.ts';
import { blamesFile, createCommit, failureOf, resultCode } from './commit.ts';
import { createOperations } from './operations.ts';
import { REWRITE } from '../erasure/erasure-writes.ts';
import type { Reply, Request, WriterSettings } from './protocol.ts';

export type WritableFile = {
  commit(now: Instant, requests: readonly Request[]): Reply[];
  /** The write-ahead log after the last commit. */
  log(): WalState;
  /** Copies a log that was left and is long. At a start nobody reads yet; the look at the pages that follows would hold it. */
  makeRoom(): void;
  /** Copies the little that others left of a log that is long enough to begin anew. */
  copyRest(): void;
  close(): void;
};

/**
 * Milliseconds to wait for short reads. All writes wait meanwhile, so readers of an old state that take longer are not
 * waited for.
 */
const SHORT_READ_MS = 100;

/** SQLite's result code for a disk without room. */
const FULL = 13;

const unreadable = (error: unknown): CarillonError | null =>
  blamesFile(error) ? new CarillonError('data_damaged', messageOf(error)) : null;

/**
 * An index over many rows is made by sorting them: in memory that takes gigabytes, and the folder for temporary files of a container is small.
 * The setting is the process's, which has no other connection while it migrates.
 */
const sortBesideFile = (db: DatabaseSync, file: string): void =>
  db.exec(`PRAGMA temp_store = FILE; PRAGMA temp_store_directory = '${dirname(file).replaceAll("'", "''")}'`);

/**
 * Opens the file for the writer: write-ahead log, a disk sync per commit, current schema. Throws `data_damaged` with
 * SQLite's message if the file is unreadable.
 */
export function openForWriting(
  settings: WriterSettings,
  migrating: (from: number, to: number) => void = () => undefined,
): WritableFile {
  const db = new DatabaseSync(settings.file, { timeout: settings.busyTimeout });
  try {
    db.exec(`
      PRAGMA page_size = ${PAGE_BYTES};
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA wal_autocheckpoint = 0;
      PRAGMA journal_size_limit = ${settings.walBounds.waitFrom};
      PRAGMA cache_size = -32768;
    `);
    if (settings.maxFileBytes !== null) {
      db.exec(`PRAGMA max_page_count = ${Math.max(1, Math.floor(settings.maxFileBytes / PAGE_BYTES))}`);
    }
    migrate(db, MIGRATIONS, (from, to) => {
      migrating(from, to);
      sortBesideFile(db, settings.file);
    });
    db.exec("PRAGMA temp_store = MEMORY; PRAGMA temp_store_directory = ''");
    verifySlotIndex(db);
    createDocumentTables(db, settings.documentTables);
    const sql = statementsOf(db);
    establishLog(db, sql, settings);
    let now = settings.createdAt;
    const wal = walOf(db);
    const bounds = settings.walBounds;
    let log = wal.state();
    /**
     * Copies everything that the file holds into new pages, in a temporary file beside it. Pages keep bytes of what was deleted or
     * overwritten until they are written again, and so do the write-ahead log and pages that are free.
     */
    function rewrite(): Reply {
      try {
        sortBesideFile(db, settings.file);
        try {
          db.exec('VACUUM');
        } finally {
          db.exec("PRAGMA temp_store = MEMORY; PRAGMA temp_store_directory = ''");
        }
        if (!wal.truncate(settings.busyTimeout)) throw logIsFull(wal.state().bytes);
        return { ok: true, value: undefined };
      } catch (error) {
        if (blamesFile(error)) throw error;
        if (resultCode(error) !== FULL) return { ok: false, failure: failureOf(error) };
        const message = 'the disk has no room for a copy of the data file; free some';
        return { ok: false, failure: { code: 'no_room', message } };
      }
    }

    const commit = createCommit(db, createOperations({ sql, now: () => now }));
    return {
      commit(at, requests) {
        now = at;
        try {
          if (log.bytes >= bounds.most && !wal.beginAnew(Math.min(SHORT_READ_MS, settings.busyTimeout)))
            throw logIsFull(log.bytes);
          const replies = commit(requests);
          const rewriting = requests.findIndex(({ name }) => name === REWRITE);
          if (rewriting !== -1) replies[rewriting] = rewrite();
          log = wal.state();
          return replies;
        } catch (error) {
          throw unreadable(error) ?? error;
        }
      },
      log: () => log,
      makeRoom() {
        if (log.bytes >= bounds.most / 2 && wal.beginAnew(settings.busyTimeout)) log = { bytes: 0, left: 0 };
      },
      copyRest() {
        if (log.bytes < bounds.copyFrom || log.left === 0 || log.left > littleOf(bounds)) return;
        try {
          log = wal.copy();
        } catch {
          // The commit is in the log. If copying keeps failing, the log grows to its bound, which is reported.
        }
      },
      close: () => db.close(),
    };
  } catch (error) {
    db.close();
    throw unreadable(error) ?? error;
  }
}
