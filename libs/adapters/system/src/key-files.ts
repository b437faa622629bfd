import { randomBytes } from 'node:crypto';
import { closeSync, fstatSync, fsyncSync, linkSync, openSync, readFileSync, unlinkSync, writeSync } from 'node:fs';
import { CarillonError, messageOf } from '@carillon/kernel';
import { KEY_BYTES } from './sealer.ts';

/** Reads a key file, making it of these bytes where it is not there; of several that make it at once, one wins. */
export function makeKeyFile(file: string, bytes: Uint8Array = randomBytes(KEY_BYTES)): Uint8Array {
  return (
    readKeyFile(file) ??
    make(file, bytes) ??
    readKeyFile(file) ??
    unreadable(file, 'the file disappeared while it was read')
  );
}

function unreadable(file: string, why: string): never {
  throw new CarillonError('wrong_key', `${file} cannot be used: ${why}. Restore it from a backup of this deployment.`);
}

/** Null where there is none. Throws `wrong_key` where it is damaged, or others may read it. */
export function readKeyFile(file: string): Uint8Array | null {
  let handle: number;
  try {
    handle = openSync(file, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    return unreadable(file, messageOf(error));
  }
  try {
    const world = process.platform === 'win32' ? 0 : fstatSync(handle).mode & 0o007;
    if (world !== 0) unreadable(file, `every user of this machine may read it (chmod 600 ${file})`);
    const text = readFileSync(handle, 'utf8').trim();
    return /^[0-9a-f]{64}$/.test(text)
      ? Buffer.from(text, 'hex')
      : unreadable(file, 'the file does not contain 64 hex digits');
  } finally {
    closeSync(handle);
  }
}

/**
 * Writes a key to a temporary file and links it to its name, so that nobody ever sees half a key, and one of two
 * concurrent writers wins. Returns null if the other writer won.
 */
function make(file: string, key: Uint8Array): Uint8Array | null {
  const fresh = `${file}.${randomBytes(6).toString('hex')}.new`;
  const handle = openSync(fresh, 'wx', 0o600);
  try {
    writeSync(handle, `${Buffer.from(key).toString('hex')}\n`);
    fsyncSync(handle);
    linkSync(fresh, file);
    return key;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return null;
    throw error;
  } finally {
    closeSync(handle);
    unlinkSync(fresh);
  }
}
