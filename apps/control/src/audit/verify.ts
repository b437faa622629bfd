import type { AuditFault, AuditSeal, SealPlace } from '@carillon/domain/audit';
import type { LogRecord } from '@carillon/ports';
import type { ControlPorts } from '../ports.ts';
import { chainOf, contentsOf, isGenuine, leafOf, link } from './chain.ts';
import { anchorOf, cutBefore } from './cutting.ts';

/** A seal as somebody kept it elsewhere: a line of a log. Without `contents` it is of an earlier version. */
export type KeptSeal = Pick<AuditSeal, 'through' | 'hash' | 'mac'> & { readonly contents?: string | undefined };

export type AuditVerdict = {
  /** First position that the audit holds: what stood before was taken away, as it was older than the audit is kept. */
  readonly begins: number;
  /** Records that are there, seals among them. */
  readonly records: number;
  /** Seals that hold, wherever they were found. */
  readonly seals: number;
  /** Last position that a seal holds; null: none does. What came since is chained and could still be cut off unseen. */
  readonly sealedThrough: number | null;
  /** Null: all is as it was written. */
  readonly fault: AuditFault | null;
};

type VerifyPorts = Pick<ControlPorts, 'log' | 'ids' | 'codecs' | 'auditSeals' | 'slice'>;

const PAGE = 500;
/** Positions whose hashes stay at hand for seals that come later; a keeper that was away for long seals more at once than this never. */
const AT_HAND = 20_000;
/** Seals of the store that are read at once: as many records as one tells of, it holds in memory. */
const SEALS = 50;

/**
 * Follows the chain from its start, or from where older records were taken away, and holds every seal against it: those on the topic, in the store, and those that were kept
 * elsewhere. Answers the first thing that does not fit. Costs one reading of the whole topic and of the seals beside it.
 */
export async function verifyAudit(ports: VerifyPorts, kept: readonly KeptSeal[] = []): Promise<AuditVerdict> {
  for (;;) {
    const bounds = await ports.log.bounds('carillon.audit', 0);
    const verdict = await verifyWithin(bounds, ports, kept);
    // What was taken away while it was looked for is missed only if it is missed from the new start on.
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
  /** Seals that are still to be held, by position. */
  const waiting = new Map<number, HeldSeal[]>();
  /** Those that were held and are to be found on the topic too. */
  const missed = new Map<string, HeldSeal>();
  const leavesOf = new Map<number, string>();
  const hashes = new Map<number, string>();
  const found = new Map<number, string>();
  // What was taken away ends with a seal, from whose hash the chain goes on.
  const anchor = await anchorOf(ports, start);
  let hash = anchor?.hash ?? chainOf(logId);
  let [next, records, seals] = [anchor ? start : 0, 0, 0];
  let sealedThrough: number | null = anchor?.through ?? null;
  if (anchor) hashes.set(anchor.through, anchor.hash);
  /** Up to where the audit itself says that records were taken away. */
  let cut = 0;
  /** Through which position the seals of the store were read. */
  let stored = anchor ? start - 1 : -1;

  const verdict = (fault: AuditFault | null): AuditVerdict => ({ begins: start, records, seals, sealedThrough, fault });
  for (const seal of kept) {
    // What it holds was taken away: of the last such seal the hash is left to hold it against.
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

  /** Reads a seal with all that it says; what a genuine one tells of single records is known from here on. */
  function told(place: SealPlace, seal: AuditSeal): HeldSeal {
    const genuine = isGenuine(ids, logId, seal, contentsOf(seal));
    if (genuine) for (const [at, leaf] of seal.leaves.entries()) leavesOf.set(seal.since + at, leaf);
    return heldSeal(place, seal, genuine);
  }

  /** Reads the seals of the store through a position, and one that holds more: its first leaf tells what was taken out before it. */
  async function readStored(through: number): Promise<void> {
    while (stored <= through) {
      const page = await auditSeals.list(logId, stored, SEALS);
      for (const seal of page) waitFor(told('store', seal));
      stored = page.at(-1)?.through ?? Number.POSITIVE_INFINITY;
    }
  }

  /** Holds a seal against the chain at its position. */
  function faultOf({ place, through, hash: sealed, isGenuine: genuine }: HeldSeal, at: number): AuditFault | null {
    const seal = { place, through };
    if (!genuine) return { kind: 'forged_seal', position: at, seal };
    // What it holds was taken away.
    if (anchor && through < anchor.through) return null;
    if (sealed !== hashes.get(through)) return { ...firstDifference(through, found, leavesOf), seal };
    seals += 1;
    sealedThrough = Math.max(sealedThrough ?? 0, through);
    return null;
  }

  /** Holds one record and the seals of its position. */
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
      const seal = told('topic', decoded.value.seal);
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
      // What stands behind a place is needed to tell what was taken from it: a page is known before its seals are held.
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
  // A seal stands on the topic before anywhere else. Those that were written meanwhile are there behind the end that was seen first.
  stored = Number.POSITIVE_INFINITY;
  const second = await followTo((await log.bounds('carillon.audit', 0)).end);
  if (second) return verdict(second);
  // Records that the audit does not know to be taken away were taken by somebody else.
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

/** Which record is not what the seals tell of it. */
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

/** What the chain is held against. */
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
