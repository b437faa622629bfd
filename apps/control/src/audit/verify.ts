import type { AuditFault, AuditSeal, SealPlace } from '@carillon/domain/audit';
import type { LogRecord } from '@carillon/ports';
import type { ControlPorts } from '../ports.ts';
import { chainOf, contentsOf, isGenuine, leafOf, link } from './chain.ts';
import { anchorOf, cutBefore } from './cutting.ts';

/** A seal stored elsewhere, such as a log line. Without `contents` it comes from an earlier version. */
export type KeptSeal = Pick<AuditSeal, 'through' | 'hash' | 'mac'> & { readonly contents?: string | undefined };

export type AuditVerdict = {
  /** First stored position. Earlier entries were past their retention and deleted. */
  readonly begins: number;
  /** Number of stored records, including seals. */
  readonly records: number;
  /** Number of valid seals from all sources. */
  readonly seals: number;
  /** Last sealed position, or null. Later records are chained but could be truncated unnoticed. */
  readonly sealedThrough: number | null;
  /** Null if everything is unchanged. */
  readonly fault: AuditFault | null;
};

type VerifyPorts = Pick<ControlPorts, 'log' | 'ids' | 'codecs' | 'auditSeals' | 'slice'>;

const PAGE = 500;
/** Positions whose hashes are kept in memory for later seals. A sealer never seals more records at once. */
const AT_HAND = 20_000;
/** Seals of the store that are read at once, bounded by their memory. */
const SEALS = 50;

/**
 * Recomputes the chain from its start, or from the seal before deleted records, and compares every seal of the topic,
 * the store and `kept`. Returns the first mismatch. Reads the whole topic and all seals once.
 */
export async function verifyAudit(ports: VerifyPorts, kept: readonly KeptSeal[] = []): Promise<AuditVerdict> {
  for (;;) {
    const bounds = await ports.log.bounds('carillon.audit', 0);
    const verdict = await verifyWithin(bounds, ports, kept);
    // Records deleted during the run only count as missing if they are missing after the new start.
    if (verdict.fault === null || (await ports.log.bounds('carillon.audit', 0)).start === bounds.start) return verdict;
  }
}

type Bounds = Awaited<ReturnType<VerifyPorts['log']['bounds']>>;

async function verifyWithin(
  { start, end }: Bounds,
  ports: VerifyPorts,
  kept: readonly KeptSeal[],
): Promise<AuditVerdict> {
  const { log, ids, codecs, auditSeals, slice } = ports;
  const { logId } = log;
  /** Seals still to be compared, by position. */
  const waiting = new Map<number, HeldSeal[]>();
  /** Compared seals that must also be found on the topic. */
  const missed = new Map<string, HeldSeal>();
  const leavesOf = new Map<number, string>();
  const hashes = new Map<number, string>();
  const found = new Map<number, string>();
  // Deleted records end with a seal, whose hash continues the chain.
  const anchor = await anchorOf(ports, start);
  let hash = anchor?.hash ?? chainOf(logId);
  let [next, records, seals] = [anchor ? start : 0, 0, 0];
  let sealedThrough: number | null = anchor?.through ?? null;
  if (anchor) hashes.set(anchor.through, anchor.hash);
  /** Position up to which the audit itself reports deletion. */
  let cut = 0;
  /** Position up to which the store's seals were read. */
  let stored = anchor ? start - 1 : -1;

  const verdict = (fault: AuditFault | null): AuditVerdict => ({ begins: start, records, seals, sealedThrough, fault });
  for (const seal of kept) {
    // The records of this seal were deleted. Only the hash of the newest such seal can be compared.
    if (anchor && seal.through < anchor.through) continue;
    if (anchor && seal.through === anchor.through) {
      if (seal.hash === anchor.hash) continue;
      return verdict({ kind: 'changed', position: seal.through, seal: { place: 'kept', through: seal.through } });
    }
    waitFor(heldSeal('kept', seal, isGenuine(ids, logId, seal, seal.contents ?? null)));
  }

  function waitFor(seal: HeldSeal): void {
    waiting.set(seal.through, [...(waiting.get(seal.through) ?? []), seal]);
  }

  /** Registers a seal. A valid one also provides the hashes of its records. */
  function register(place: SealPlace, seal: AuditSeal): HeldSeal {
    const genuine = isGenuine(ids, logId, seal, contentsOf(seal));
    if (genuine) for (const [at, leaf] of seal.leaves.entries()) leavesOf.set(seal.since + at, leaf);
    return heldSeal(place, seal, genuine);
  }

  /** Reads the store's seals up to a position, and one beyond it, whose hashes show records removed before it. */
  async function readStored(through: number): Promise<void> {
    while (stored <= through) {
      const page = await auditSeals.list(logId, stored, SEALS);
      for (const seal of page) waitFor(register('store', seal));
      stored = page.at(-1)?.through ?? Number.POSITIVE_INFINITY;
    }
  }

  /** Compares a seal with the chain at its position. */
  function faultOf({ place, through, hash: sealed, isGenuine: genuine }: HeldSeal, at: number): AuditFault | null {
    const seal = { place, through };
    if (!genuine) return { kind: 'forged_seal', position: at, seal };
    // Its records were deleted.
    if (anchor && through < anchor.through) return null;
    if (sealed !== hashes.get(through)) return { ...firstDifference(through, found, leavesOf), seal };
    seals += 1;
    sealedThrough = Math.max(sealedThrough ?? 0, through);
    return null;
  }

  /** Checks one record and the seals at its position. */
  function follow({ offset, value }: Pick<LogRecord, 'offset' | 'value'>): AuditFault | null {
    if (offset !== next) return { kind: 'missing', position: next, seal: null };
    hash = link(hash, offset, value);
    hashes.set(offset, hash);
    for (const map of [hashes, found, leavesOf]) map.delete(offset - AT_HAND);
    next = offset + 1;
    records += 1;
    const decoded = codecs.audit.decode(value);
    if (decoded.ok && decoded.value.kind === 'entry') cut = Math.max(cut, cutBefore(ports, decoded.value) ?? 0);
    if (decoded.ok && decoded.value.kind === 'seal') {
      const seal = register('topic', decoded.value.seal);
      missed.delete(seal.name);
      const fault = faultOf(seal, offset);
      if (fault) return fault;
    }
    for (const seal of waiting.get(offset) ?? []) {
      const fault = faultOf(seal, offset);
      if (fault) return fault;
      missed.set(seal.name, seal);
    }
    waiting.delete(offset);
    return null;
  }

  async function followTo(bound: number): Promise<AuditFault | null> {
    while (next < bound) {
      const page = await log.read('carillon.audit', 0, next, PAGE);
      if (page.length === 0) break;
      await readStored(page.at(-1)?.offset ?? next);
      // Records after a position are needed to see what was removed there, so a page is hashed before its seals are
      // compared.
      for (const { offset, value } of page) found.set(offset, leafOf(value));
      for (const record of page) {
        if (slice.isExpired()) await slice.yield();
        const fault = follow(record);
        if (fault) return fault;
      }
    }
    return null;
  }

  const first = await followTo(end);
  if (first) return verdict(first);
  if (start > 0 && records === 0) return verdict({ kind: 'missing', position: 0, seal: null });
  await readStored(next);
  // Seals are written to the topic before the store, so seals written meanwhile are found after the previously seen
  // end.
  stored = Number.POSITIVE_INFINITY;
  const second = await followTo((await log.bounds('carillon.audit', 0)).end);
  if (second) return verdict(second);
  // A deletion without an audit entry was made by someone else.
  if (anchor && cut < start) return verdict({ kind: 'missing', position: cut, seal: null });
  return verdict(faultOfLost([...missed.values(), ...[...waiting.values()].flat()], next));
}

/** Returns the fault of the first seal that was not found on the topic: the log was cut off from `end`, or the seal is forged. */
function faultOfLost(seals: readonly HeldSeal[], end: number): AuditFault | null {
  const [lost] = seals.toSorted((a, b) => a.through - b.through);
  if (!lost) return null;
  const { place, through } = lost;
  if (!lost.isGenuine) return { kind: 'forged_seal', position: through, seal: { place, through } };
  return { kind: 'cut_off', position: end, seal: { place, through } };
}

/** Returns the first record that differs from the hashes in the seals. */
function firstDifference(
  through: number,
  found: ReadonlyMap<number, string>,
  leavesOf: ReadonlyMap<number, string>,
): Pick<AuditFault, 'kind' | 'position'> {
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

/** A seal to compare with the chain. */
type HeldSeal = {
  readonly place: SealPlace;
  readonly through: number;
  readonly hash: string;
  readonly name: string;
  readonly isGenuine: boolean;
};

const nameOf = ({ through, mac }: KeptSeal): string => `${through} ${mac}`;
const heldSeal = (place: SealPlace, seal: KeptSeal, genuine: boolean): HeldSeal => ({
  place,
  through: seal.through,
  hash: seal.hash,
  name: nameOf(seal),
  isGenuine: genuine,
});
