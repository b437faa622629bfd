import { createIds, loadKeys, refuseStrangeMasterKey, systemClock } from '@carillon/adapter-system';
import { CarillonError } from '@carillon/kernel';
import { keyFromCommand } from '../key-command.ts';
import type { Backend } from './backend.ts';
import type { Environment, ProcessSettings } from './settings.ts';

export type Keys = ReturnType<typeof loadKeys>;

const COMMAND = 'CARILLON_MASTER_KEY_COMMAND';

/** Reads or makes the keys of a data folder; the master key comes from a command where one is named. */
export async function readKeys(dataDir: string, env: Environment): Promise<Keys> {
  const command = env[COMMAND];
  if (!command) return loadKeys(dataDir, env);
  if (env['CARILLON_MASTER_KEY']) {
    throw new CarillonError('wrong_usage', `CARILLON_MASTER_KEY and ${COMMAND} are both set: unset one of them`);
  }
  return loadKeys(dataDir, env, await keyFromCommand(COMMAND, command));
}

/** Reads or makes this process's keys and holds them against what the stores were written with. */
export async function openKeys(settings: ProcessSettings, env: Environment, backend: Backend): Promise<Keys> {
  const keys = await readKeys(settings.dataDir, env);
  const { logId } = backend.log;
  const stored = await backend.configurationStore.identity({ logId, keyFingerprint: fingerprintFor(backend, keys) });
  const problem = foreignKey(backend, keys, stored.keyFingerprint);
  if (problem !== null) throw new CarillonError('wrong_key', problem);
  if (stored.logId !== logId) {
    throw new CarillonError(
      'wrong_log',
      `the store belongs to log ${stored.logId}, this is ${logId}; restore log and stores from one backup, or name an empty store`,
    );
  }
  const { ledgerKey, masterKeys } = keys;
  const ids = createIds(ledgerKey);
  await refuseStrangeMasterKey({ store: backend.secretStore, masterKeys, ids, clock: systemClock });
  return keys;
}

/**
 * Returns the fingerprint that the log must match. A data folder holds its own keys; the processes of a cluster must
 * all be given the same keys. The master key is not included, because it can be rotated and the data keys show whether
 * it is valid.
 */
export const fingerprintFor = ({ kind }: Backend, keys: Keys): string => {
  const { ledger, pepper } = keys.fingerprints();
  return kind === 'embedded' ? ledger : [ledger, pepper].join('.');
};

/** Describes which key differs from the stored fingerprints, or null. */
export function foreignKey(backend: Backend, keys: Keys, stored: string): string | null {
  const known = stored.split('.');
  const ours = fingerprintFor(backend, keys).split('.');
  const names = ['ledger.key', 'api-key-pepper.key'];
  const variables = ['CARILLON_LEDGER_KEY', 'CARILLON_API_KEY_PEPPER'];
  const index = ours.findIndex((one, at) => one !== known[at]);
  if (index === -1) return null;
  const where =
    backend.kind === 'embedded'
      ? 'restore it from the backup of this folder'
      : `copy the keys of the process that started first, or set ${variables[index]}`;
  return `keys/${names[index]} is not the key that this data was written with; ${where}`;
}
