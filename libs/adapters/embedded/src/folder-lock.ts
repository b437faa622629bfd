import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { DatabaseSync } from 'node:sqlite';
import { CarillonError, formatInstant, type Instant } from '@carillon/kernel';
import { dataFiles, makePrivateFile } from './data-folder.ts';
import { resultCode } from './writing/commit.ts';

/** Who holds a data folder: written beside the lock for people to read, never believed by a program. */
export type Holder = { readonly pid: number; readonly host: string; readonly startedAt: string; readonly what: string };

const SQLITE_BUSY = 5;

/**
 * Takes the data folder for this process, or rejects with CarillonError `data_locked` naming who has it. The lock is one
 * that the operating system drops with the process, whatever ends it, so that nobody ever has to remove a stale one.
 * The lock file is opened by SQLite alone: closing it by any other handle in this process would let go of the lock.
 */
export function lockFolder(dataDir: string, what: string, now: Instant): { release(): void } {
  const { lock, holder } = dataFiles(dataDir);
  makePrivateFile(lock);
  const db = new DatabaseSync(lock, { timeout: 0 });
  try {
    db.exec('PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE');
  } catch (error) {
    db.close();
    if (resultCode(error) === SQLITE_BUSY) throw locked(dataDir);
    throw error;
  }
  const mine: Holder = { pid: process.pid, host: hostname(), startedAt: formatInstant(now), what };
  writeFileSync(`${holder}.new`, `${JSON.stringify(mine)}\n`, { mode: 0o600 });
  renameSync(`${holder}.new`, holder);
  return {
    release() {
      if (!db.isOpen) return;
      rmSync(holder, { force: true });
      db.close();
    },
  };
}

function locked(dataDir: string): CarillonError {
  const found = readHolder(dataDir);
  if (found?.pid === process.pid && found.host === hostname()) {
    return new CarillonError(
      'data_locked',
      `this process (pid ${found.pid}) has ${dataDir} open already; close it first`,
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

function readHolder(dataDir: string): Holder | null {
  try {
    return JSON.parse(readFileSync(dataFiles(dataDir).holder, 'utf8')) as Holder;
  } catch {
    return null;
  }
}
