import { createHash, hash } from 'node:crypto';
import type { AuditSeal } from '@carillon/domain/audit';
import type { LogId } from '@carillon/kernel';
import type { Ids } from '@carillon/ports';

/** Returns h₀ of a chain: the hash of the log id, so that records of another log cannot continue it. */
export const chainOf = (logId: LogId): string => hash('sha256', logId, 'hex');

/** hₙ = SHA-256(hₙ₋₁ ‖ position, 8 bytes, big-endian ‖ bytes of the record), as 64 hexadecimal digits. */
export function link(before: string, offset: number, value: Uint8Array): string {
  const position = Buffer.alloc(8);
  position.writeBigUInt64BE(BigInt(offset));
  return createHash('sha256').update(Buffer.from(before, 'hex')).update(position).update(value).digest('hex');
}

/** Returns a short hash to compare single records: 8 bytes as 16 hexadecimal digits. */
export const leafOf = (value: Uint8Array): string => hash('sha256', value, 'hex').slice(0, 16);

/** Returns the hash of a seal's fields besides the chain, as 64 hexadecimal digits. */
export const contentsOf = ({ since, configuration, leaves }: Omit<AuditSeal, 'mac'>): string =>
  hash('sha256', JSON.stringify([since, configuration, ...leaves]), 'hex');

type Sealed = Pick<AuditSeal, 'through' | 'hash'>;

/** Returns the MAC of a seal over all its fields, with the key of the deployment. */
export const macOf = (ids: Pick<Ids, 'keyed'>, logId: LogId, { through, hash: sealed }: Sealed, contents: string) =>
  ids.keyed('audit seal with contents', logId, String(through), sealed, contents);

/** Returns the MAC of a record about deleted audit entries, with the key of the deployment. */
export const cutMacOf = (ids: Pick<Ids, 'keyed'>, logId: LogId, before: number): string =>
  ids.keyed('audit cut', logId, String(before));

/**
 * Returns the MAC of seals before 0.1.0, which covers only the chain. Other fields of such a seal may be forged by
 * anyone who can write to the store.
 */
const macOfBefore = (ids: Pick<Ids, 'keyed'>, logId: LogId, { through, hash: sealed }: Sealed) =>
  ids.keyed('audit seal', logId, String(through), sealed);

/**
 * Returns true if this deployment wrote the seal. `contents` is null if unknown, as in log lines of versions before
 * 0.1.0.
 */
export const isGenuine = (
  ids: Pick<Ids, 'keyed'>,
  logId: LogId,
  seal: Sealed & Pick<AuditSeal, 'mac'>,
  contents: string | null,
): boolean =>
  (contents !== null && seal.mac === macOf(ids, logId, seal, contents)) || seal.mac === macOfBefore(ids, logId, seal);
