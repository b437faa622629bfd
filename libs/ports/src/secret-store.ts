import type { Actor } from '@carillon/domain/people';
import type { Instant } from '@carillon/kernel';

/** A secret as it rests: sealed under a data key of its workspace, bound to workspace, name and version. */
export type SealedSecret = {
  /** '' for the deployment's own. */
  readonly workspace: string;
  readonly name: string;
  /** 1 for the first value, one more with each new one. Sealing the same value again leaves it. */
  readonly version: number;
  /** Id of the data key. '' for what an early version sealed in another way, which does not open any more. */
  readonly dataKey: string;
  /** Encrypted value. Two encryptions always differ, even of equal values. */
  readonly sealed: string;
  /** Four characters, so that people can tell two values apart. */
  readonly fingerprint: string;
  /** When the value was set, and by whom. */
  readonly updatedAt: Instant;
  readonly updatedBy: Actor;
};

/** A data key under one master key. */
export type WrappedKey = {
  /** Fingerprint of the master key. The key cannot be derived from it. */
  readonly master: string;
  readonly wrapped: string;
};

/** A key that encrypts values of one workspace. It is stored encrypted under each valid master key. */
export type DataKey = {
  readonly id: string;
  /** '' for the deployment's own. */
  readonly workspace: string;
  /** 1 for the first of a workspace. The highest one seals, all of them open. */
  readonly generation: number;
  /** Incremented with each change of `wraps`. */
  readonly revision: number;
  /** In the order in which the master keys came to count; never empty. */
  readonly wraps: readonly WrappedKey[];
  readonly madeAt: Instant;
};

/** Sealed secrets and wrapped data keys. Nothing in it opens without a master key, which is kept elsewhere. */
export type SecretStore = {
  secret(workspace: string, name: string): Promise<SealedSecret | null>;
  /** By workspace, then name. */
  secrets(workspace?: string): Promise<readonly SealedSecret[]>;
  /**
   * Writes the secret if the stored sealed text equals `replacing`, or if none is stored and `replacing` is null.
   * `stale`: another writer was first, and nothing changed. Idempotent.
   */
  putSecret(secret: SealedSecret, replacing: string | null): Promise<'done' | 'stale'>;
  removeSecret(workspace: string, name: string): Promise<boolean>;
  /** By workspace, then generation. */
  dataKeys(): Promise<readonly DataKey[]>;
  /** False where the workspace has a key of this generation already: of several that make one at once, one wins. */
  insertDataKey(key: DataKey): Promise<boolean>;
  /** Stores `wraps` if the stored revision is one below that of `key`. Safe to repeat. */
  rewrapDataKey(key: DataKey): Promise<'done' | 'stale'>;
  /** Removes a data key that encrypts no secret. Returns false if it still encrypts one, or if it does not exist. */
  removeDataKey(key: DataKey): Promise<boolean>;
};
