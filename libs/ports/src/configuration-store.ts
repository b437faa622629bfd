import type { Instant, LogId } from '@carillon/kernel';

/** A secret as it rests: sealed under the master key, bound to workspace and name. */
export type SealedSecret = {
  readonly workspace: string;
  readonly name: string;
  readonly sealed: string;
  /** Last four characters of a fingerprint, so that people can tell two values apart. */
  readonly fingerprint: string;
  readonly updatedAt: Instant;
};

/**
 * What files and log cannot hold: the deployment's identity and its sealed secrets. (Configuration itself is the topic
 * `carillon.config`.)
 */
export type ConfigurationStore = {
  /** The log id and the ledger key's fingerprint, made once; a later call with other values answers the stored ones. */
  identity(fresh: {
    readonly logId: LogId;
    readonly keyFingerprint: string;
  }): Promise<{ readonly logId: LogId; readonly keyFingerprint: string }>;
  putSecret(secret: SealedSecret): Promise<void>;
  removeSecret(workspace: string, name: string): Promise<boolean>;
  secret(workspace: string, name: string): Promise<SealedSecret | null>;
  secrets(workspace?: string): Promise<readonly SealedSecret[]>;
};

/** One lease document: whoever holds it does what only one should, and nothing breaks if two do for a moment. */
export type LeaseStore = {
  /** Takes or renews the lease until `until`, unless another holds one that has not ended at `now`. */
  acquire(name: string, holder: string, now: Instant, until: Instant): Promise<boolean>;
  release(name: string, holder: string): Promise<void>;
};
