import type { Instant, LogId } from '@carillon/kernel';

/**
 * Identity of the deployment, which files and log cannot hold. The configuration itself is on the topic
 * `carillon.config`.
 */
export type ConfigurationStore = {
  /** The log id and the keys' fingerprint, made once; a later call with other values answers the stored ones. */
  identity(fresh: {
    readonly logId: LogId;
    readonly keyFingerprint: string;
  }): Promise<{ readonly logId: LogId; readonly keyFingerprint: string }>;
};

/** A lease, stored as one document. Its holder does work meant for one process; two holders for a moment do no harm. */
export type LeaseStore = {
  /** Takes or renews the lease until `until`. Resolves to false if another holder's lease has not ended at `now`. */
  acquire(name: string, holder: string, now: Instant, until: Instant): Promise<boolean>;
  release(name: string, holder: string): Promise<void>;
};
