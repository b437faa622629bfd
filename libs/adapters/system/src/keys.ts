import { createHash, randomBytes } from 'node:crypto';
import {
  closeSync,
  fstatSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { CarillonError, messageOf } from '@carillon/kernel';
import { base32 } from './base32.ts';

/** Folder inside the data folder that holds the key files; a backup of the embedded data carries what is in it. */
export const KEY_FOLDER = 'keys';
const KEY_BYTES = 32;

/** The keys of a deployment. Whoever loses the ledger key loses the memory of who was told what. */
export type Keys = {
  /** Never rotates: record keys and slot ids are made with it. */
  readonly ledgerKey: Uint8Array;
  /** Digests of API keys are made with it; it rests outside of the store. */
  readonly pepper: Uint8Array;
  /** Seals stored secrets. */
  readonly masterKey: Uint8Array;
  /** Names the ledger key without telling it: compared with the stored one at every start. */
  fingerprint(): string;
  /** Names all three, for processes that share a deployment: each has to have the same ones. */
  fingerprints(): { readonly ledger: string; readonly pepper: string; readonly master: string };
};

/**
 * Reads the deployment's keys from `<dataDir>/keys`, making those that are not there yet. Two processes that start at
 * once end with the same keys. A key comes from CARILLON_LEDGER_KEY, CARILLON_API_KEY_PEPPER or CARILLON_MASTER_KEY of
 * `env` where that is set: so may processes on several machines have the same ones.
 */
export function loadKeys(dataDir: string, env: Readonly<Record<string, string | undefined>> = {}): Keys {
  const folder = join(dataDir, KEY_FOLDER);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const load = (variable: string, file: string): Uint8Array => {
    const given = env[variable];
    return given ? decodeGiven(variable, given) : loadOrMake(join(folder, file));
  };
  const ledgerKey = load('CARILLON_LEDGER_KEY', 'ledger.key');
  const pepper = load('CARILLON_API_KEY_PEPPER', 'api-key-pepper.key');
  const masterKey = load('CARILLON_MASTER_KEY', 'master.key');
  const ledger = fingerprintOf('carillon ledger key', ledgerKey);
  return {
    ledgerKey,
    pepper,
    masterKey,
    fingerprint: () => ledger,
    fingerprints: () => ({
      ledger,
      pepper: fingerprintOf('carillon api key pepper', pepper),
      master: fingerprintOf('carillon master key', masterKey),
    }),
  };
}

const fingerprintOf = (what: string, key: Uint8Array): string =>
  base32(createHash('sha256').update(`${what}\0`).update(key).digest());

function decodeGiven(variable: string, text: string): Uint8Array {
  const trimmed = text.trim();
  const key = Buffer.from(trimmed, /^[0-9a-f]{64}$/i.test(trimmed) ? 'hex' : 'base64');
  if (key.length === KEY_BYTES) return key;
  throw new CarillonError(
    'invalid_configuration',
    `${variable} must be 32 bytes as hex or base64; make one with: openssl rand -hex 32`,
  );
}

function loadOrMake(file: string): Uint8Array {
  return read(file) ?? make(file) ?? read(file) ?? unreadable(file, 'it vanished while it was read');
}

function unreadable(file: string, why: string): never {
  throw new CarillonError('wrong_key', `${file} cannot be used: ${why}. Restore it from a backup of this deployment.`);
}

function read(file: string): Uint8Array | null {
  let handle: number;
  try {
    handle = openSync(file, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    return unreadable(file, messageOf(error));
  }
  try {
    const world = process.platform === 'win32' ? 0 : fstatSync(handle).mode & 0o007;
    if (world !== 0) unreadable(file, `everybody on this machine may read it (chmod 600 ${file})`);
    const text = readFileSync(handle, 'utf8').trim();
    return /^[0-9a-f]{64}$/.test(text) ? Buffer.from(text, 'hex') : unreadable(file, 'it does not hold 64 hex digits');
  } finally {
    closeSync(handle);
  }
}

/**
 * Writes a new key under a name of its own and links it to its place: nobody ever sees half a key, and of two makers
 * one wins. Null: the other one did.
 */
function make(file: string): Uint8Array | null {
  const key = randomBytes(KEY_BYTES);
  const fresh = `${file}.${randomBytes(6).toString('hex')}.new`;
  const handle = openSync(fresh, 'wx', 0o600);
  try {
    writeSync(handle, `${key.toString('hex')}\n`);
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
