import type { KeyRotation, SecretVault } from '@carillon/ports';
import { createDataKeys, type DataKeyParts } from './data-keys.ts';
import { createKeyRotation } from './rotation.ts';
import { createFingerprints } from './sealer.ts';
import { createSealedValues, createSecretVault, type SealedValues } from './secret-vault.ts';

export { refuseStrangeMasterKey } from './data-keys.ts';
export type { MasterKeys } from './master-keys.ts';
export { createTextSealer, type TextSealer } from './sealer.ts';

export type Sealing = {
  readonly values: Pick<SealedValues, 'open'>;
  readonly vault: SecretVault;
  readonly rotation: KeyRotation;
};

/**
 * Master key → data key of a workspace → value. `alone` runs what must not happen while a backup copies data and keys.
 * Remembers open data keys, so that what is used is read from the store once.
 */
export function createSealing(
  parts: DataKeyParts & { readonly ledgerKey: Uint8Array; readonly alone: <T>(work: () => Promise<T>) => Promise<T> },
): Sealing {
  const dataKeys = createDataKeys(parts);
  const values = createSealedValues(parts, dataKeys);
  return {
    values,
    vault: createSecretVault(parts, dataKeys, values, createFingerprints(parts.ledgerKey)),
    rotation: createKeyRotation({ ...parts, dataKeys, values }),
  };
}
