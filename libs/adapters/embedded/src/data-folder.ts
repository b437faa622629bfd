import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';

/** Where things lie in a data folder. `keys` is filled by whoever makes keys; here they are only carried by backups. */
export const dataFiles = (dataDir: string) => ({
  database: join(dataDir, 'carillon.db'),
  lock: join(dataDir, 'carillon.lock'),
  holder: join(dataDir, 'carillon.lock.json'),
  keys: join(dataDir, 'keys'),
});

/** Makes the folder for its owner alone: it holds addresses, messages and keys. */
export const makeFolder = (dataDir: string): void => void mkdirSync(dataDir, { recursive: true, mode: 0o700 });

/** Makes the file, if it is not there, readable for its owner alone; what SQLite puts beside it inherits that. */
export const makePrivateFile = (file: string): void => closeSync(openSync(file, 'a', 0o600));

/** Makes a rename in this folder survive a loss of power. */
export function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
