/**
 * The writer's thread, which alone writes to the file and waits for the disk. It responds to a batch after its COMMIT
 * has returned.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { CarillonError, isCarillonError, messageOf } from '@carillon/kernel';
import { openForWriting, type WritableFile } from './writable-file.ts';
import { failureOf } from './commit.ts';
import type { FromWriter, Reply, ToWriter, WriterSettings } from './protocol.ts';

const port = parentPort;
if (!port) throw new Error('internal error: this file runs only as a worker thread');
const settings = workerData as WriterSettings;
const answer = (message: FromWriter): void => port.postMessage(message);

let file: WritableFile | null = null;

const passing = (cause: unknown): CarillonError =>
  new CarillonError(
    'log_unavailable',
    `writing to the data file failed (${messageOf(cause)}); free disk space or check the disk; Carillon then continues by itself`,
  );

/** After a failure of the storage the connection is thrown away: the next batch begins with a fresh look at the file. */
function commit(batch: Extract<ToWriter, { kind: 'batch' }>): readonly Reply[] {
  try {
    file ??= openForWriting(settings);
    return file.commit(batch.now, batch.requests);
  } catch (error) {
    discard();
    const failure = failureOf(isCarillonError(error) ? error : passing(error));
    return batch.requests.map(() => ({ ok: false, failure }));
  }
}

function discard(): void {
  try {
    file?.close();
  } catch {
    // A connection that failed may fail to close as well; there is nothing of value left in it.
  }
  file = null;
}

port.on('message', (message: ToWriter) => {
  if (message.kind === 'batch') {
    const replies = commit(message);
    answer({ kind: 'replies', replies, log: file?.log() ?? null });
    file?.copyRest();
    return;
  }
  discard();
  answer({ kind: 'closed' });
  port.close();
});

try {
  file = openForWriting(settings, (from, to) => answer({ kind: 'migrating', from, to }));
  file.makeRoom();
  answer({ kind: 'ready', log: file.log() });
} catch (error) {
  answer({ kind: 'unopened', failure: failureOf(error) });
  port.close();
}
