/**
 * A thread that copies the write-ahead log into the data file whenever it is asked to: the writer goes on meanwhile. It repeats
 * that until little is left of what was written in the meantime, or until somebody who reads an old state lets it get no further.
 */
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '@carillon/kernel';
import { blamesFile } from '../writing/commit.ts';
import type { Copied, CopySettings, ToCopier } from './copier.ts';
import { walOf, type WalState } from './wal.ts';

const port = parentPort;
if (!port) throw new Error('internal error: this file runs only as a worker thread');
const { file, busyTimeout, little } = workerData as CopySettings;
const db = new DatabaseSync(file, { timeout: busyTimeout });
// Copied pages must be on disk before the log starts over and overwrites them.
db.exec('PRAGMA synchronous = FULL');
const wal = walOf(db);
const copiedOf = ({ bytes, left }: WalState): number => bytes - left;

function copyAll(): Copied {
  try {
    for (let before = wal.state(); ;) {
      const after = wal.copy();
      if (after.left <= little) return { kind: 'done' };
      if (copiedOf(after) <= copiedOf(before)) return { kind: 'held' };
      before = after;
    }
  } catch (error) {
    return { kind: 'failed', why: messageOf(error), damaged: blamesFile(error) };
  }
}

port.on('message', (message: ToCopier) => {
  if (message === 'copy') {
    port.postMessage(copyAll());
    return;
  }
  db.close();
  port.close();
});
