import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CarillonError } from '@carillon/kernel';
import type { MasterKeySource } from '@carillon/ports';
import { makeKeyFile, readKeyFile } from './key-files.ts';
import { KEY_BYTES, masterKeyOf, type MasterKey } from './sealer.ts';

/** File of the second master key, while there are two. A backup of the embedded data contains both files. */
const NEXT_FILE = 'master-next.key';
export const MASTER_FILE = 'master.key';

/** The master keys that this process holds: the one that it started with, and during a rotation a second one. */
export type MasterKeys = {
  readonly source: MasterKeySource;
  /** Returns the key that the next start uses. */
  starting(): MasterKey;
  held(): readonly MasterKey[];
  /**
   * Holds a second master key. If keys are files, the key is on disk when this returns, so that a restart holds it too.
   * `null` takes the second key that is already held, else a new one if keys are files. Throws `conflict` if another
   * second key is held.
   */
  take(bytes: Uint8Array | null): MasterKey;
  /**
   * Makes a master key the one that later starts use. The others stay held. Throws `conflict` if only the operator can
   * change that.
   */
  settle(id: string): void;
  /** Drops all keys but this one. */
  keepOnly(id: string): void;
};

const conflict = (detail: string): CarillonError => new CarillonError('conflict', detail);

/** Keys whose first one the operator gave. Only the operator can change which key a start uses. */
export function createGivenMasterKeys(source: 'environment' | 'command', bytes: Uint8Array): MasterKeys {
  const own = masterKeyOf(bytes);
  let held: readonly MasterKey[] = [own];
  const where =
    source === 'environment' ? 'CARILLON_MASTER_KEY' : 'what the command of CARILLON_MASTER_KEY_COMMAND prints';
  return {
    source,
    starting: () => own,
    held: () => held,
    take(given) {
      const [, second] = held;
      if (given === null && second) return second;
      if (given === null) {
        throw new CarillonError(
          'invalid_request',
          `master_key: this process takes its key from ${where}, so give the new one; make it with: openssl rand -hex 32`,
        );
      }
      const next = masterKeyOf(given);
      if (next.id !== own.id) held = [own, next];
      return next;
    },
    settle(id) {
      if (id === own.id) return;
      throw conflict(
        `after a restart this process would use the other key: first put the key that is to stay into ${where}, and restart every role`,
      );
    },
    keepOnly: (id) => void (held = held.filter((one) => one.id === id)),
  };
}

const anotherBegun =
  'keys/master-next.key holds another new master key: rotate to that one, or undo the rotation with --cancel';

/** Keys in files of the data folder. Makes the first key if there is none. */
export function createFileMasterKeys(folder: string): MasterKeys {
  const file = join(folder, MASTER_FILE);
  const nextFile = join(folder, NEXT_FILE);
  let own = masterKeyOf(makeKeyFile(file));
  const waiting = readKeyFile(nextFile);
  let next = waiting && masterKeyOf(waiting);
  let held: readonly MasterKey[] = next === null ? [own] : [own, next];
  return {
    source: 'file',
    starting: () => own,
    held: () => held,
    take(given) {
      if (given !== null && masterKeyOf(given).id === own.id) return own;
      if (next !== null && given !== null && masterKeyOf(given).id !== next.id) throw conflict(anotherBegun);
      if (next !== null) return next;
      // The key is on disk before it wraps anything, because a kill could lose it otherwise.
      next = masterKeyOf(makeKeyFile(nextFile, given ?? randomBytes(KEY_BYTES)));
      syncFolder(nextFile);
      held = [own, next];
      return next;
    },
    settle(id) {
      if (next !== null && id === next.id) {
        renameSync(nextFile, file);
        own = next;
      } else {
        rmSync(nextFile, { force: true });
      }
      next = null;
      syncFolder(file);
    },
    keepOnly: (id) => void (held = held.filter((one) => one.id === id)),
  };
}

function syncFolder(file: string): void {
  if (process.platform === 'win32') return;
  const handle = openSync(dirname(file), 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
