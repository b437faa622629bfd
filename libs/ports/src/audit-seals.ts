import type { AuditSeal } from '@carillon/domain/audit';
import type { LogId } from '@carillon/kernel';

/** The seals of the audit, kept apart from the log that they hold: a log that was cut off is shorter than what it is sealed to. */
export type AuditSeals = {
  /**
   * Keeps a seal of a log; where one is kept at its position already, that one stays. Durable when it resolves. Called after
   * the seal stands on the log.
   */
  keep(logId: LogId, seal: AuditSeal): Promise<void>;
  /** Those that hold more than the position `after`, by position. */
  list(logId: LogId, after: number, limit: number): Promise<readonly AuditSeal[]>;
  /** The one that holds most. */
  newest(logId: LogId): Promise<AuditSeal | null>;
};
