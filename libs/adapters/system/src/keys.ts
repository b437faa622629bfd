import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { CarillonError } from '@carillon/kernel';
import { base32 } from './base32.ts';
import { makeKeyFile } from './key-files.ts';
import { createFileMasterKeys, createGivenMasterKeys, type MasterKeys } from './master-keys.ts';
import { KEY_BYTES } from './sealer.ts';

/** Folder inside the data folder that holds the key files; a backup of the embedded data carries what is in it. */
export const KEY_FOLDER = 'keys';

/** The keys of a deployment. Whoever loses the ledger key loses the memory of who was told what. */
export type Keys = {
  /** Never rotates: record keys and slot ids are made with it. */
  readonly ledgerKey: Uint8Array;
  /** Digests of API keys are made with it; it rests outside of the store. */
  readonly pepper: Uint8Array;
  /** Wrap the data keys that seal stored secrets. */
  readonly masterKeys: MasterKeys;
  /** Names the ledger key without telling it: compared with the stored one at every start. */
  fingerprint(): string;
  /** Names all three, for processes that share a deployment; of the master keys the one that a start takes. */
  fingerprints(): { readonly ledger: string; readonly pepper: string; readonly master: string };
};

/**
 * Reads the deployment's keys from `<dataDir>/keys`, making those that are not there yet. Two processes that start at
 * once end with the same keys. A key comes from CARILLON_LEDGER_KEY, CARILLON_API_KEY_PEPPER or CARILLON_MASTER_KEY of
 * `env` where that is set: so may processes on several machines have the same ones. `unwrapped`: the master key as a command
 * of the operator printed it; then neither variable nor file is read.
 */
export function loadKeys(
  dataDir: string,
  env: Readonly<Record<string, string | undefined>> = {},
  unwrapped?: string,
): Keys {
  const folder = join(dataDir, KEY_FOLDER);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const load = (variable: string, file: string): Uint8Array => {
    const given = env[variable];
    return given ? decodeKey(variable, given) : makeKeyFile(join(folder, file));
  };
  const ledgerKey = load('CARILLON_LEDGER_KEY', 'ledger.key');
  const pepper = load('CARILLON_API_KEY_PEPPER', 'api-key-pepper.key');
  const masterKeys = masterKeysFrom(folder, env['CARILLON_MASTER_KEY'], unwrapped);
  const ledger = fingerprintOf('carillon ledger key', ledgerKey);
  return {
    ledgerKey,
    pepper,
    masterKeys,
    fingerprint: () => ledger,
    fingerprints: () => ({
      ledger,
      pepper: fingerprintOf('carillon api key pepper', pepper),
      master: masterKeys.starting().id,
    }),
  };
}

function masterKeysFrom(folder: string, given: string | undefined, unwrapped: string | undefined): MasterKeys {
  if (unwrapped !== undefined) {
    const what = 'what the command of CARILLON_MASTER_KEY_COMMAND prints';
    return createGivenMasterKeys('command', decodeKey(what, unwrapped));
  }
  if (given) return createGivenMasterKeys('environment', decodeKey('CARILLON_MASTER_KEY', given));
  return createFileMasterKeys(folder);
}

const fingerprintOf = (what: string, key: Uint8Array): string =>
  base32(createHash('sha256').update(`${what}\0`).update(key).digest());

/** 32 bytes as hex or base64; `what` names them where they are not, and they are never repeated. */
export function decodeKey(what: string, text: string): Uint8Array {
  const trimmed = text.trim();
  const key = Buffer.from(trimmed, /^[0-9a-f]{64}$/i.test(trimmed) ? 'hex' : 'base64');
  if (key.length === KEY_BYTES) return key;
  throw new CarillonError(
    'invalid_configuration',
    `${what} must be 32 bytes as hex or base64; make one with: openssl rand -hex 32`,
  );
}
