import type { AuditRecord } from '@carillon/domain/audit';
import type { EventLog, NewRecord, RecordCodecs } from '@carillon/ports';

export type AuditLogPorts = { readonly log: EventLog; readonly codecs: Pick<RecordCodecs, 'audit'> };

/** Returns the log record of an audit entry. */
export const onAudit = (record: AuditRecord, codecs: AuditLogPorts['codecs']): NewRecord => ({
  topic: 'carillon.audit',
  partition: 0,
  key: 'audit',
  value: codecs.audit.encode(record),
  headers: {},
});

/** Resolves when the record is durable. If it rejects, the record may or may not be stored. */
export async function writeAudit(record: AuditRecord, { log, codecs }: AuditLogPorts): Promise<void> {
  await log.append([onAudit(record, codecs)]);
}
