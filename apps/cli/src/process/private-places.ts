import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { CarillonError } from '@carillon/kernel';
import { OWNER_TOKEN_FILE } from '../data-files.ts';

const OTHERS_WRITE = 0o002;
const OTHERS_ANYTHING = 0o007;
/** The data file, its write-ahead log, its index of shared memory, and what a restore leaves. */
const DATABASE = /^carillon\.db(?:-wal|-shm)?$/;

/**
 * Looks at the start whether others on this machine could read the owner token or the data, or put files of their own
 * into the data folder; keys are looked at when they are read. Throws CarillonError `invalid_configuration` with the command
 * that mends it. A folder that is not there yet is made for us alone.
 */
export function refuseOpenPlaces(dataDir: string): void {
  if (process.platform === 'win32') return;
  const folder = modeOf(dataDir);
  if (folder === null) return;
  if ((folder & OTHERS_WRITE) !== 0)
    refuse(dataDir, 'every user of this machine may write there', openFolderFix(dataDir));
  for (const name of readdirSync(dataDir)) {
    if (name !== OWNER_TOKEN_FILE && !DATABASE.test(name)) continue;
    const file = join(dataDir, name);
    if (((modeOf(file) ?? 0) & OTHERS_ANYTHING) === 0) continue;
    refuse(file, 'every user of this machine may read it', `chmod 600 ${file}`);
  }
}

/** Some mounted volumes are open to all and stay so, as an `emptyDir` of Kubernetes does for whoever is not root. */
const openFolderFix = (dataDir: string): string =>
  `chmod 700 ${dataDir}; where it is a volume that cannot be changed, --data-dir ${join(dataDir, 'carillon')}, which is then made for you alone`;

function refuse(place: string, why: string, mend: string): never {
  throw new CarillonError('invalid_configuration', `${place} cannot be used: ${why} (${mend})`);
}

/** Null: it is not there. */
const modeOf = (place: string): number | null => statSync(place, { throwIfNoEntry: false })?.mode ?? null;
