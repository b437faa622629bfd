import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, renameSync, rmSync, rmdirSync, writeFileSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Moment } from '@carillon/domain/deliveries';
import { CarillonError } from '@carillon/kernel';
import type { AnyCollection } from '@carillon/ports';
import { dataFiles, makeFolder, makePrivateFile, syncFolder } from '../data-folder.ts';
import { createDocumentTables, documentTable } from '../schema/document-tables.ts';
import { APPLICATION_ID, migrate } from '../schema/migrations.ts';
import { statementsOf } from '../statements.ts';
import { callOff } from './call-off.ts';
import { settleDocuments } from './carry-documents.ts';
import { carryOver, type CarriedOver } from './carry-over.ts';
import { outstanding, type Outstanding } from './outstanding.ts';

export type RestoreOptions = {
  readonly moment: Moment;
  /** Collections of `documents`. */
  readonly collections: readonly AnyCollection[];
  /** Which group reads which topic: what they have not read is what is done again. */
  readonly readers: readonly (readonly [group: string, topic: string])[];
  /** The data folder that the restored one replaces, not in use: what its ledger knows is carried over. */
  readonly newer?: string;
  /** Works on the unpacked folder before it gets its name. */
  readonly beforeReady?: (folder: string) => Promise<void>;
  /** Cancels everything that the backup had not sent, unless a person resends it. */
  readonly cancelUnsent?: boolean;
};

export type Restored = Outstanding & {
  /** Null: no newer folder was named. */
  readonly carriedOver: CarriedOver | null;
  /** Deliveries that waited and are CANCELLED now; null: nothing was called off. */
  readonly cancelled: number | null;
};

const refuse = (detail: string): CarillonError => new CarillonError('wrong_usage', detail);

/**
 * Unpacks a backup into an empty or new folder, and returns what a start over it will do. The folder appears completely
 * or not at all. Messages sent after the backup are unknown to it, so without `newer` or `cancelUnsent` messages
 * waiting at the time are sent again.
 */
export async function restoreBackup(file: string, dataDir: string, options: RestoreOptions): Promise<Restored> {
  if (existsSync(dataDir) && readdirSync(dataDir).length > 0) {
    throw refuse(`${dataDir} is not empty; restore into an empty folder, then start with it`);
  }
  if (!existsSync(file)) throw refuse(`there is no file ${file}`);
  const unfinished = `${dataDir.replace(/[/\\]+$/, '')}.${randomBytes(6).toString('hex')}.unfinished`;
  makeFolder(unfinished);
  try {
    const files = dataFiles(unfinished);
    makePrivateFile(files.database);
    await copyFile(file, files.database);
    unpackKeys(files.database, files.keys, file);
    const restored = settle(files.database, options);
    await options.beforeReady?.(unfinished);
    if (existsSync(dataDir)) rmdirSync(dataDir);
    renameSync(unfinished, dataDir);
    syncFolder(dirname(dataDir));
    return restored;
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    throw error;
  }
}

function unpackKeys(database: string, keyFolder: string, file: string): void {
  let db: DatabaseSync | null = null;
  try {
    db = new DatabaseSync(database);
    if (db.prepare('PRAGMA application_id').get()?.['application_id'] !== APPLICATION_ID)
      throw new Error('another application');
    if (db.prepare('PRAGMA quick_check(1)').get()?.['quick_check'] !== 'ok') throw new Error('damaged');
    const keys = db.prepare('SELECT name, content FROM backup_keys').all() as { name: string; content: Uint8Array }[];
    makeFolder(keyFolder);
    for (const { name, content } of keys) {
      if (!/^[a-z-]+\.key$/.test(name)) throw new Error('key name');
      writeFileSync(join(keyFolder, name), content, { mode: 0o600, flag: 'wx' });
    }
    db.exec('DROP TABLE backup_keys');
  } catch (error) {
    throw new CarillonError('wrong_usage', `${file} is not a whole backup of Carillon`, {}, { cause: error });
  } finally {
    db?.close();
  }
}

/** What the restore was asked to settle before anything starts over the data. */
function settle(database: string, { moment, collections, readers, newer, cancelUnsent }: RestoreOptions): Restored {
  const db = new DatabaseSync(database);
  try {
    migrate(db);
    // A backup of an earlier release lacks the tables of later collections, into which the newer folder is carried over.
    createDocumentTables(db, collections.map(documentTable));
    const sql = statementsOf(db);
    db.exec('BEGIN');
    const carriedOver = newer === undefined ? null : carryOver(sql, newer, moment, collections);
    for (const collection of collections) settleDocuments(collection, sql, moment.now);
    const cancelled = cancelUnsent ? callOff(sql, moment) : null;
    db.exec('COMMIT');
    return { ...outstanding(sql, readers), carriedOver, cancelled };
  } finally {
    db.close();
  }
}
