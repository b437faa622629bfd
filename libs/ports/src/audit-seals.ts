import type { AuditSeal } from '@carillon/domain/audit';
import type { LogId } from '@carillon/kernel';

/** Seals of the audit, stored apart from the log, so that a truncated log can be detected. */
export type AuditSeals = {
  /**
   * Stores a seal of a log. Called after the seal was written to the log. An existing seal at the same position is
   * kept. Durable when the promise resolves.
   */
  keep(logId: LogId, seal: AuditSeal): Promise<void>;
  /** Lists seals that cover more entries than `after`, in order of position. */
  list(logId: LogId, after: number, limit: number): Promise<readonly AuditSeal[]>;
  /** Returns the seal that covers the most entries. */
  newest(logId: LogId): Promise<AuditSeal | null>;
};
