import { CarillonError } from '@carillon/kernel';
import type { SealedSecret, SecretVault } from '@carillon/ports';
import type { DataKeyParts, DataKeys } from './data-keys.ts';
import { openValue, sealValue } from './sealer.ts';

/** Writers of one secret that come between; nobody has that many. */
const MAX_TRIES = 50;

export type SealedValues = {
  /** Decrypts a secret. Rejects with `wrong_key` if the key does not fit. */
  open(secret: SealedSecret): Promise<string>;
  /** Seals the value under the newest data key of the workspace; false where somebody else wrote it first, or it is so already. */
  renew(secret: SealedSecret): Promise<boolean>;
};

export function createSealedValues({ store }: Pick<DataKeyParts, 'store'>, dataKeys: DataKeys): SealedValues {
  async function open(secret: SealedSecret): Promise<string> {
    const key = secret.dataKey === '' ? null : await dataKeys.byId(secret.dataKey);
    const value = key && openValue(key, secret, secret.sealed);
    if (value === null) throw new CarillonError('wrong_key', wordsFor(secret));
    return value;
  }
  return {
    open,
    async renew(secret) {
      const { id, key } = await dataKeys.newest(secret.workspace);
      if (id === secret.dataKey) return false;
      const sealed = sealValue(key, secret, await open(secret));
      return (await store.putSecret({ ...secret, dataKey: id, sealed }, secret.sealed)) === 'done';
    },
  };
}

function wordsFor({ workspace, name, dataKey }: SealedSecret): string {
  const which = `the stored secret ${name} of ${workspace === '' ? 'the deployment' : `workspace ${workspace}`}`;
  return dataKey === ''
    ? `${which} was encrypted by an early version and cannot be decrypted any more: set it again`
    : `${which} cannot be decrypted: start with the current master key, or set the secret again`;
}

/** Stores secrets. Only `createSecrets` can read them. */
export function createSecretVault(
  { store, clock }: Pick<DataKeyParts, 'store' | 'clock'>,
  dataKeys: DataKeys,
  values: SealedValues,
  fingerprint: (workspace: string, name: string, value: string) => string,
): SecretVault {
  return {
    async set(workspace, name, value, by) {
      for (let tries = 0; tries < MAX_TRIES; tries += 1) {
        const before = await store.secret(workspace, name);
        const version = (before?.version ?? 0) + 1;
        const { id, key } = await dataKeys.newest(workspace);
        const secret: SealedSecret = {
          workspace,
          name,
          version,
          dataKey: id,
          sealed: sealValue(key, { workspace, name, version }, value),
          fingerprint: fingerprint(workspace, name, value),
          updatedAt: clock.now(),
          updatedBy: by,
        };
        if ((await store.putSecret(secret, before?.sealed ?? null)) === 'stale') continue;
        // A newer data key may have been made meanwhile, and whoever encrypts all anew may have passed this one.
        await values.renew(secret);
        return secret;
      }
      throw new CarillonError('conflict', `several requests set ${name} at once: try again`);
    },
    remove: (workspace, name) => store.removeSecret(workspace, name),
    list: (workspace) => store.secrets(workspace),
  };
}
