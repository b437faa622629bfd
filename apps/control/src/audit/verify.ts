import type { AuditSeal } from '@carillon/domain';
import type { ControlPorts } from '../ports.ts';
import { chainOf, leafOf, link, macOf } from './chain.ts';

/** A seal as somebody kept it elsewhere: a line of a log. */
export type KeptSeal = Pick<AuditSeal, 'through' | 'hash' | 'mac'>;

/** Where a seal was found. */
export type SealPlace = 'topic' | 'store' | 'kept';

/**
 * What was done to the audit. `forged_seal`: a seal that this deployment did not write, or that was changed. `cut_off`: a seal
 * holds records that are there no more.
 */
export type AuditFault = {
  readonly kind: 'changed' | 'missing' | 'inserted' | 'cut_off' | 'forged_seal';
  /** Of the record that is not as it was; of what was cut off, the first that is gone. */
  readonly position: number;
  /** The first seal that fails. */
  readonly seal: { readonly place: SealPlace; readonly through: number } | null;
};

export type AuditVerdict = {
  /** Records that are there, seals among them. */
  readonly records: number;
  /** Seals that hold, wherever they were found. */
  readonly seals: number;
  /** Last position that a seal holds; null: none does. What came since is chained and could still be cut off unseen. */
  readonly sealedThrough: number | null;
  /** Null: all is as it was written. */
  readonly fault: AuditFault | null;
};

type VerifyPorts = Pick<ControlPorts, 'log' | 'ids' | 'codecs' | 'auditSeals'>;

const PAGE = 500;
/** Positions whose hashes stay at hand for seals that come later; a keeper that was away for long seals more at once than this never. */
const AT_HAND = 20_000;

/**
 * Follows the chain from its start and holds every seal against it: those on the topic, in the store, and those that were kept
 * elsewhere. Answers the first thing that does not fit. Costs one reading of the whole topic.
 */
export async function verifyAudit(ports: VerifyPorts, kept: readonly KeptSeal[] = []): Promise<AuditVerdict> {
  const { log, ids, codecs, auditSeals } = ports;
  const { logId } = log;
  const { start, end } = await log.bounds('carillon.audit', 0);
  const waiting = new Map<number, { readonly place: SealPlace; readonly seal: KeptSeal }[]>();
  const leavesOf = new Map<number, string>();
  for (const seal of kept) waitFor('kept', seal);
  for (let after = -1; ;) {
    const page = await auditSeals.list(logId, after, PAGE);
    for (const seal of page) {
      waitFor('store', seal);
      for (const [at, leaf] of seal.leaves.entries()) leavesOf.set(seal.since + at, leaf);
    }
    const last = page.at(-1);
    if (!last) break;
    after = last.through;
  }
  const onTopic = new Set<string>();
  const hashes = new Map<number, string>();
  const found = new Map<number, string>();
  let hash = chainOf(logId);
  let [next, records, seals] = [0, 0, 0];
  let sealedThrough: number | null = null;

  function waitFor(place: SealPlace, seal: KeptSeal): void {
    waiting.set(seal.through, [...(waiting.get(seal.through) ?? []), { place, seal }]);
  }
  const verdict = (fault: AuditFault | null): AuditVerdict => ({ records, seals, sealedThrough, fault });
  const isGenuine = (seal: KeptSeal): boolean => seal.mac === macOf(ids, logId, seal);

  /** Holds a seal against the chain at its position. */
  function faultOf(place: SealPlace, seal: KeptSeal, at: number): AuditFault | null {
    const named = { place, through: seal.through };
    if (!isGenuine(seal)) return { kind: 'forged_seal', position: at, seal: named };
    if (seal.hash !== hashes.get(seal.through)) return { ...firstDifference(seal.through), seal: named };
    seals += 1;
    sealedThrough = Math.max(sealedThrough ?? 0, seal.through);
    return null;
  }

  /** Which record is not what the seals tell of it. */
  function firstDifference(through: number): Pick<AuditFault, 'kind' | 'position'> {
    for (const [position, value] of found) {
      const leaf = leavesOf.get(position);
      if (position > through) break;
      if (leaf === undefined || leaf === value) continue;
      if (value === leavesOf.get(position + 1)) return { kind: 'missing', position };
      if (found.get(position + 1) === leaf) return { kind: 'inserted', position };
      return { kind: 'changed', position };
    }
    return { kind: 'changed', position: through };
  }

  while (next < end) {
    const page = await log.read('carillon.audit', 0, next, PAGE);
    if (page.length === 0) break;
    // What stands behind a place is needed to tell what was taken from it: a page is known before its seals are held.
    for (const { offset, value } of page) found.set(offset, leafOf(value));
    for (const { offset, value } of page) {
      if (offset !== next) return verdict({ kind: 'missing', position: next, seal: null });
      hash = link(hash, offset, value);
      hashes.set(offset, hash);
      hashes.delete(offset - AT_HAND);
      found.delete(offset - AT_HAND);
      next = offset + 1;
      records += 1;
      const decoded = codecs.audit.decode(value);
      if (decoded.ok && decoded.value.kind === 'seal') {
        const { seal } = decoded.value;
        onTopic.add(sealName(seal));
        if (isGenuine(seal)) for (const [at, leaf] of seal.leaves.entries()) leavesOf.set(seal.since + at, leaf);
        const fault = faultOf('topic', seal, offset);
        if (fault) return verdict(fault);
      }
      for (const { place, seal } of waiting.get(offset) ?? []) {
        const fault = faultOf(place, seal, offset);
        if (fault) return verdict(fault);
      }
    }
  }
  if (start > 0 && records === 0) return verdict({ kind: 'missing', position: 0, seal: null });
  // A seal stands on the topic before anywhere else: one that is not there was cut off, with all that came behind it.
  for (const [through, those] of [...waiting].toSorted(([a], [b]) => a - b)) {
    for (const { place, seal } of those) {
      if (!isGenuine(seal)) return verdict({ kind: 'forged_seal', position: through, seal: { place, through } });
      if (through >= next || !onTopic.has(sealName(seal))) {
        return verdict({ kind: 'cut_off', position: next, seal: { place, through } });
      }
    }
  }
  return verdict(null);
}

const sealName = ({ through, mac }: KeptSeal): string => `${through} ${mac}`;
