import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CarillonError } from '@carillon/kernel';
import type { Backend } from './backend.ts';

/** Error codes of paths that no user could write. */
const NO_PLACE: ReadonlySet<unknown> = new Set([
  'ENOTDIR',
  'ENOENT',
  'EACCES',
  'EPERM',
  'EROFS',
  'ENAMETOOLONG',
  'EINVAL',
]);

export async function backupTo(file: string, backend: Backend): Promise<{ bytes: number }> {
  if (file.includes('\0'))
    throw new CarillonError('invalid_request', 'file: a file name cannot contain a NUL character');
  // Never overwrite a file, because it may be an older backup.
  if (existsSync(file)) throw new CarillonError('invalid_request', `file: ${file} exists already: choose a new name`);
  if (!existsSync(dirname(file))) {
    throw new CarillonError('invalid_request', `file: there is no folder ${dirname(file)} on the server`);
  }
  try {
    await backend.backup(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (!NO_PLACE.has(code)) throw error;
    const detail = `file: the server cannot write there (${code}); name a file in a folder of its own`;
    throw new CarillonError('invalid_request', detail, {}, { cause: error });
  }
  return { bytes: (await stat(file)).size };
}
