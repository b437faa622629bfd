import {
  chmodSync,
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  type BigIntStats,
} from 'node:fs';
import { hostname } from 'node:os';
import { DatabaseSync } from 'node:sqlite';
import { CarillonError, formatInstant, type Instant } from '@carillon/kernel';
import { dataFiles, makePrivateFile } from './data-folder.ts';
import { resultCode } from './writing/commit.ts';

/**
 * Process that holds a data folder. Written next to the lock for people to read, and removed when the holder closes in
 * order.
 */
export type Holder = {
  readonly pid: number;
  readonly host: string;
  readonly startedAt: string;
  readonly what: string;
  readonly dataFile: FileIdentity;
  /** The file that tells this: a copy that is written over the files that it was made of leaves the data file the same. */
  readonly itself: FileIdentity;
};

/** Identity of a file that survives writing and renaming, but not copying. */
type FileIdentity = { readonly inode: string; readonly bornNs: string };

export type FolderLock = {
  /** True if the previous holder released the folder in order, or there was none. */
  readonly afterCleanStop: boolean;
  release(): void;
  /** Lets go of it as a crash would: whoever comes next sees that the stop was not clean. */
  abandon(): void;
};

const SQLITE_BUSY = 5;

/**
 * Locks the data folder for this process. Throws CarillonError `data_locked` with the holder, or `data_copied` if the
 * folder was copied while in use, because the copy may be inconsistent. The operating system drops the lock when the
 * process ends, so no stale lock ever remains. Only SQLite opens the lock file, because closing any other handle would
 * release the lock.
 */
export function lockFolder(dataDir: string, what: string, now: Instant): FolderLock {
  const { lock, holder, database } = dataFiles(dataDir);
  makePrivateFile(lock);
  const db = new DatabaseSync(lock, { timeout: 0 });
  try {
    db.exec('PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE');
  } catch (error) {
    db.close();
    if (resultCode(error) === SQLITE_BUSY) throw locked(dataDir);
    throw error;
  }
  // Without a data file the data was moved aside for a fresh start, so this is no partial copy.
  const before = existsSync(database) ? readHolder(dataDir) : null;
  makePrivateFile(database);
  if (before && (isAnother(database, before.dataFile) || isAnother(holder, before.itself))) {
    db.close();
    throw copied(dataDir, before, holder);
  }
  const dataFile = identityOf(statSync(database, { bigint: true }));
  writeHolder(holder, { pid: process.pid, host: hostname(), startedAt: formatInstant(now), what, dataFile });
  return {
    afterCleanStop: before === null,
    release() {
      if (!db.isOpen) return;
      rmSync(holder, { force: true });
      db.close();
    },
    abandon() {
      if (db.isOpen) db.close();
    },
  };
}

function writeHolder(holder: string, mine: Omit<Holder, 'itself'>): void {
  const file = openSync(`${holder}.new`, 'w', 0o600);
  try {
    const whole: Holder = { ...mine, itself: identityOf(fstatSync(file, { bigint: true })) };
    writeFileSync(file, `${JSON.stringify(whole)}\n`);
  } finally {
    closeSync(file);
  }
  renameSync(`${holder}.new`, holder);
}

const identityOf = ({ ino, birthtimeNs }: BigIntStats): FileIdentity => ({
  inode: String(ino),
  bornNs: String(birthtimeNs),
});

/** Updates the change time, so that it is later than the creation time on file systems that keep both. */
function changeNothing(file: string): void {
  try {
    chmodSync(file, statSync(file).mode);
  } catch {
    // The process belongs to another user, so its start time cannot be read. Only its number is compared.
  }
}

function isAnother(file: string, before: FileIdentity | undefined): boolean {
  if (!before) return false;
  changeNothing(file);
  const stats = statSync(file, { bigint: true });
  const found = identityOf(stats);
  // The number of a file that was removed may be given to its copy. Where a file system does not know when a file was made,
  // the time of its last change stands there.
  const isOfOtherTime = stats.birthtimeNs !== stats.ctimeNs && before.bornNs !== found.bornNs;
  return before.inode !== found.inode || isOfOtherTime;
}

function locked(dataDir: string): CarillonError {
  const found = readHolder(dataDir);
  if (found?.pid === process.pid && found.host === hostname()) {
    return new CarillonError(
      'data_locked',
      `this process (pid ${found.pid}) has opened ${dataDir} already; close it first`,
    );
  }
  const who = found
    ? `${found.what}, pid ${found.pid} on ${found.host}, since ${found.startedAt}`
    : 'a process that is just starting';
  const stop = found ? `stop it (kill ${found.pid})` : 'stop it';
  return new CarillonError(
    'data_locked',
    `${dataDir} is held by ${who}; ${stop}, or use another folder with --data-dir`,
  );
}

const copied = (
  dataDir: string,
  { what, pid, host, startedAt }: Omit<Holder, 'dataFile' | 'itself'>,
  holder: string,
): CarillonError =>
  new CarillonError(
    'data_copied',
    `${dataDir} is a copy of a data folder that was in use: ${what}, pid ${pid} on ${host}, had it since ${startedAt}. Writes ` +
      'during the copy may be incomplete in it, so Carillon did not start. Make a copy with `carillon backup` and unpack it with ' +
      `\`carillon restore\`. Only if that process had already ended when the folder was copied: delete ${holder} and start again`,
  );

/** Null if it is missing or unreadable. A file of an earlier release may lack fields. */
function readHolder(dataDir: string): (Omit<Holder, 'dataFile' | 'itself'> & Partial<Holder>) | null {
  try {
    return JSON.parse(readFileSync(dataFiles(dataDir).holder, 'utf8')) as Holder;
  } catch {
    return null;
  }
}
