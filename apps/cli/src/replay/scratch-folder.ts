import { lstatSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CarillonError, type LogId } from '@carillon/kernel';

const OTHERS_ANYTHING = 0o077;

/** The folder of scratch files on a cluster. Deployments on one machine have folders of their own. */
export const temporaryScratchFolder = (logId: LogId): string => join(tmpdir(), `carillon-runs-${logId}`);

/**
 * Makes a folder for scratch files that only this user may read. Throws CarillonError `invalid_configuration` if another user owns it or
 * may use it, because every user of a machine may make folders in its temporary folder.
 */
export function makeScratchFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (process.platform === 'win32') return;
  const found = lstatSync(folder);
  if (found.isDirectory() && found.uid === process.getuid?.() && (found.mode & OTHERS_ANYTHING) === 0) return;
  throw new CarillonError(
    'invalid_configuration',
    `${folder} cannot hold scratch files, because other users may use it. Remove it, or set TMPDIR to a private folder`,
  );
}
