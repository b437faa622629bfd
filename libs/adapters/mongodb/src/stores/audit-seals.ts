import type { AuditSeal } from '@carillon/domain';
import type { AuditSeals } from '@carillon/ports';
import type { Attempt } from '../attempts.ts';
import type { Collections } from '../collections.ts';
import { insertOnce } from '../compare-and-set.ts';
import { keyOf, type AuditSealDocument } from '../documents.ts';

const read = ({ body }: AuditSealDocument): AuditSeal => JSON.parse(body) as AuditSeal;

export const createAuditSeals = ({ auditSeals }: Collections, attempt: Attempt): AuditSeals => ({
  async keep(logId, seal) {
    const { through } = seal;
    const document = { _id: keyOf(logId, through), logId, through, body: JSON.stringify(seal) };
    // One that is there at this position stays, ours of an earlier try too.
    await attempt(() => insertOnce(auditSeals, document));
  },
  async list(logId, after, limit) {
    const wanted = { logId, through: { $gt: after } };
    const found = await attempt(() => auditSeals.find(wanted, { sort: { through: 1 }, limit }).toArray());
    return found.map(read);
  },
  async newest(logId) {
    const found = await attempt(() => auditSeals.findOne({ logId }, { sort: { through: -1 } }));
    return found ? read(found) : null;
  },
});
