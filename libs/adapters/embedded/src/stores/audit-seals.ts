import type { AuditSeal } from '@carillon/domain';
import type { AuditSeals } from '@carillon/ports';
import type { Reader } from '../reader.ts';
import type { Transaction, Write } from '../writing/protocol.ts';

export const auditSealWrites = ({ sql }: Pick<Transaction, 'sql'>) => ({
  'auditSeals.keep'(logId: string, through: number, document: string): void {
    sql.run('INSERT INTO audit_seals VALUES (?, ?, ?) ON CONFLICT DO NOTHING', logId, through, document);
  },
});
type AuditSealWrites = ReturnType<typeof auditSealWrites>;

const fromRow = (row: Readonly<Record<string, unknown>>): AuditSeal => JSON.parse(String(row['document'])) as AuditSeal;

export const createAuditSeals = (reader: Reader, write: Write<AuditSealWrites>): AuditSeals => ({
  async keep(logId, seal) {
    const document = JSON.stringify(seal);
    await write('auditSeals.keep', { bytes: 128 + document.length }, logId, seal.through, document);
  },
  async list(logId, after, limit) {
    const wanted = 'SELECT document FROM audit_seals WHERE log_id = ? AND through > ? ORDER BY through LIMIT ?';
    return reader.all(wanted, logId, after, limit).map(fromRow);
  },
  async newest(logId) {
    const wanted = 'SELECT document FROM audit_seals WHERE log_id = ? ORDER BY through DESC LIMIT 1';
    const row = reader.get(wanted, logId);
    return row ? fromRow(row) : null;
  },
});
