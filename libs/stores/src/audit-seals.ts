import type { AuditSeal } from '@carillon/domain/audit';
import type { LogId } from '@carillon/kernel';
import { integer, text, type AuditSeals, type Collection, type Documents } from '@carillon/ports';

type LogSeal = { readonly logId: LogId; readonly seal: AuditSeal };

const AUDIT_SEALS: Collection<LogSeal> = {
  name: 'audit_seals',
  key: ['logId', 'through'],
  fields: { logId: text(({ logId }) => logId), through: integer(({ seal }) => seal.through) },
  indexes: { through: { by: ['logId', 'through'] } },
  body: { of: ({ seal }) => seal },
  read: ({ logId, body }) => ({ logId: logId as LogId, seal: JSON.parse(body as string) as AuditSeal }),
};

function create(documents: Documents): AuditSeals {
  const seals = documents.collection(AUDIT_SEALS);
  return {
    async keep(logId, seal) {
      await seals.write({ logId, seal }, null);
    },
    async list(logId, after, limit) {
      const where = { logId, through: { after } };
      const { items } = await seals.page({ index: 'through', where, order: 'ascending' }, limit);
      return items.map(({ seal }) => seal);
    },
    async newest(logId) {
      const { items } = await seals.page({ index: 'through', where: { logId } }, 1);
      return items[0]?.seal ?? null;
    },
  };
}

export const auditSeals = { collections: [AUDIT_SEALS], create };
