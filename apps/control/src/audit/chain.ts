import { createHash, hash } from 'node:crypto';
import type { AuditSeal } from '@carillon/domain/audit';
import type { LogId } from '@carillon/kernel';
import type { Ids } from '@carillon/ports';

/** What a chain begins with: h₀ is the hash of the log's id, so that no part of another log continues it. */
export const chainOf = (logId: LogId): string => hash('sha256', logId, 'hex');

/** hₙ = SHA-256(hₙ₋₁ ‖ position, 8 bytes, big-endian ‖ bytes of the record), as 64 hexadecimal digits. */
export function link(before: string, offset: number, value: Uint8Array): string {
  const position = Buffer.alloc(8);
  position.writeBigUInt64BE(BigInt(offset));
  return createHash('sha256').update(Buffer.from(before, 'hex')).update(position).update(value).digest('hex');
}

/** Tells one record from another in a seal: 8 bytes as 16 hexadecimal digits. */
export const leafOf = (value: Uint8Array): string => hash('sha256', value, 'hex').slice(0, 16);

/** What a seal says besides the chain, as 64 hexadecimal digits. */
export const contentsOf = ({ since, configuration, leaves }: Omit<AuditSeal, 'mac'>): string =>
  hash('sha256', JSON.stringify([since, configuration, ...leaves]), 'hex');

type Sealed = Pick<AuditSeal, 'through' | 'hash'>;

/** What only who has the key of the deployment can write under a seal: over all that it says. */
export const macOf = (ids: Pick<Ids, 'keyed'>, logId: LogId, { through, hash: sealed }: Sealed, contents: string) =>
  ids.keyed('audit seal with contents', logId, String(through), sealed, contents);

/** What only who has the key of the deployment can write under a record that says up to where the audit was cut. */
export const cutMacOf = (ids: Pick<Ids, 'keyed'>, logId: LogId, before: number): string =>
  ids.keyed('audit cut', logId, String(before));

/** Versions before 0.1.0 held the chain alone: of such a seal the position counts, and who can write to the store may have changed the rest. */
const macOfBefore = (ids: Pick<Ids, 'keyed'>, logId: LogId, { through, hash: sealed }: Sealed) =>
  ids.keyed('audit seal', logId, String(through), sealed);

/** Whether this deployment wrote a seal. `contents` null: it is not told, as by a line of a version that held the chain alone. */
export const isGenuine = (
  ids: Pick<Ids, 'keyed'>,
  logId: LogId,
  seal: Sealed & Pick<AuditSeal, 'mac'>,
  contents: string | null,
): boolean =>
  (contents !== null && seal.mac === macOf(ids, logId, seal, contents)) || seal.mac === macOfBefore(ids, logId, seal);
