import type { AuditEntry, AuditSeal } from '@carillon/domain/audit';
import { SYSTEM_ACTOR } from '@carillon/domain/people';
import { parseInstant, type Duration, type Instant, type LogId } from '@carillon/kernel';
import type { LeaseStore } from '@carillon/ports';
import type { ControlPorts } from '../ports.ts';
import { writeAudit } from './audit-log.ts';
import { chainOf, contentsOf, isGenuine, leafOf, link, macOf } from './chain.ts';
import { anchorOf, cutAudit } from './cutting.ts';
import { publishedAs } from './published-by.ts';

/**
 * A seal is written after this many records or milliseconds. Records after the newest seal could be truncated
 * unnoticed.
 */
const SEAL = { records: 100, span: 60_000 } as const;
/** Lease of the sealer in milliseconds, renewed every second. After a crash another process takes over. */
const LEASE: Duration = 15_000;
/** Time that a publishing request has to write its own record. */
const GRACE: Duration = 30_000;
/** Interval of deleting old records, so that each deletion is small. */
const CUT_EVERY: Duration = 3_600_000;
const PAGE = 500;
/** Records before the newest seal among which requests with younger configurations are found. */
const LOOK_BACK = 1_000;
const MAX_REQUESTS = 10_000;

export type AuditSealerPorts = Pick<
  ControlPorts,
  'log' | 'codecs' | 'ids' | 'clock' | 'configuration' | 'auditSeals'
> & {
  readonly leases: Pick<LeaseStore, 'acquire' | 'release'>;
  /** Reports a seal so that others can store it: a line of this process's log. */
  readonly sealed: (seal: AuditSeal, contents: string) => void;
};

export type AuditSealer = {
  /**
   * One round: if this process holds the lease `audit`, reads on, adds entries lost in crashes, and seals. Rejects if
   * log or store fail.
   */
  round(): Promise<void>;
  /** Seals the remaining records and releases the lease. */
  end(): Promise<void>;
};

type Fold = {
  next: number;
  hash: string;
  /** First position that the next seal covers. */
  since: number;
  leaves: string[];
  /** Records other than seals, with the time of the oldest. */
  unsealed: number;
  oldestAt: Instant;
  /** Configuration number below which every configuration is audited. */
  configuration: number;
  /** Audit entries by request: id, and whether the outcome is recorded. */
  readonly requests: Map<string, { readonly id: string; readonly ended: boolean }>;
  readonly numbers: Set<number>;
};

/**
 * Creates the sealer, which works while it holds the lease `audit`. Two holders for a moment do no harm: seals of both
 * are valid, and added entries derive their id from the configuration number.
 */
export function createAuditSealer(ports: AuditSealerPorts, holder: string): AuditSealer {
  const { log, codecs, ids, clock, auditSeals, leases } = ports;
  const { logId } = log;
  const isOurs = (seal: AuditSeal): boolean => isGenuine(ids, logId, seal, contentsOf(seal));
  let fold: Fold | null = null;
  let cutAt: Instant = 0;

  async function begin(): Promise<Fold> {
    const [newest, { start, end }] = await Promise.all([auditSeals.newest(logId), log.bounds('carillon.audit', 0)]);
    // A seal with another key or beyond the end of the log is not continued; `verify` reports it.
    const isUsable = newest !== null && isOurs(newest) && newest.through < end;
    const seal = isUsable ? newest : await anchorOf(ports, start);
    const begun = foldAfter(seal, start, logId);
    for (let at = Math.max(0, begun.next - LOOK_BACK); at < begun.next;) {
      const records = await log.read('carillon.audit', 0, at, PAGE);
      for (const { value, offset } of records) if (offset < begun.next) await remember(begun, value);
      if (records.length === 0) break;
      at = (records.at(-1)?.offset ?? at) + 1;
    }
    return begun;
  }

  /** Returns true if the record is an entry. Stores a seal that a crash kept from the store. */
  async function remember(into: Fold, value: Uint8Array): Promise<boolean> {
    const decoded = codecs.audit.decode(value);
    if (!decoded.ok) return true;
    const record = decoded.value;
    if (record.kind === 'seal') {
      if (isOurs(record.seal)) await auditSeals.keep(logId, record.seal);
      return false;
    }
    if (record.number !== null) into.numbers.add(record.number);
    if (record.requestId !== null) {
      into.requests.set(record.requestId, { id: record.id, ended: record.outcome !== 'begun' });
      const [oldest] = into.requests.keys();
      if (into.requests.size > MAX_REQUESTS && oldest !== undefined) into.requests.delete(oldest);
    }
    return true;
  }

  async function readOn(into: Fold): Promise<void> {
    for (;;) {
      const records = await log.read('carillon.audit', 0, into.next, PAGE);
      if (records.length === 0) return;
      for (const { offset, value, time } of records) {
        const isEntry = await remember(into, value);
        if (offset !== into.next) {
          // `verify` reports a gap. A seal covers only records after the gap.
          into.since = offset;
          into.leaves = [];
        }
        into.hash = link(into.hash, offset, value);
        into.leaves.push(leafOf(value));
        into.next = offset + 1;
        if (!isEntry) continue;
        if (into.unsealed === 0) into.oldestAt = time;
        into.unsealed += 1;
      }
      if (into.unsealed >= SEAL.records) await sealUp(into);
    }
  }

  async function sealUp(into: Fold): Promise<void> {
    const through = into.next - 1;
    const { since, hash, leaves, configuration } = into;
    const sealed = { since, through, hash, configuration, leaves };
    const contents = contentsOf(sealed);
    const made: AuditSeal = { ...sealed, mac: macOf(ids, logId, sealed, contents) };
    // Writes to the log first, because a seal that only the store has indicates a truncated log.
    await writeAudit({ kind: 'seal', id: ids.random('audit'), at: clock.now(), seal: made }, ports);
    await auditSeals.keep(logId, made);
    ports.sealed(made, contents);
    into.since = into.next;
    into.leaves = [];
    into.unsealed = 0;
  }

  const isDue = (of: Fold): boolean => of.unsealed > 0 && Math.abs(clock.now() - of.oldestAt) >= SEAL.span;

  return {
    async round() {
      const now = clock.now();
      if (!(await leases.acquire('audit', holder, now, now + LEASE))) {
        fold = null;
        return;
      }
      try {
        fold ??= await begin();
        await readOn(fold);
        await makeGood(fold, ports);
        await readOn(fold);
        if (isDue(fold)) await sealUp(fold);
      } catch (error) {
        // Reads everything again that was or may have been written.
        fold = null;
        throw error;
      }
      if (Math.abs(now - cutAt) < CUT_EVERY) return;
      // A failed deletion is retried after an hour too, because each try is audited.
      cutAt = now;
      await cutAudit(ports, isOurs);
    },
    async end() {
      const ending = fold;
      fold = null;
      if (!ending) return;
      await readOn(ending);
      if (ending.unsealed > 0) await sealUp(ending);
      await leases.release('audit', holder);
    },
  };
}

/** Returns the state after a seal, or at the start of the audit without one. */
function foldAfter(seal: AuditSeal | null, start: number, logId: LogId): Fold {
  const next = seal ? seal.through + 1 : start;
  return {
    next,
    hash: seal ? seal.hash : chainOf(logId),
    since: next,
    leaves: [],
    unsealed: 0,
    oldestAt: 0,
    configuration: seal?.configuration ?? 0,
    requests: new Map(),
    numbers: new Set(),
  };
}

/** Adds entries for configurations without one, because their publisher crashed. */
async function makeGood(into: Fold, ports: AuditSealerPorts): Promise<void> {
  const { clock, configuration, ids, log } = ports;
  const { number: newest } = configuration.current();
  const now = clock.now();
  for (; into.configuration <= newest; into.configuration += 1) {
    const number = into.configuration;
    const publication = configuration.history.publication(number);
    // A void publication changed nothing.
    if (!publication || into.numbers.has(number)) continue;
    // An outcome without the number belongs to another action: a lost response is recorded as failed although its
    // publication took effect.
    const request = publication.by.requestId === null ? undefined : into.requests.get(publication.by.requestId);
    if (Math.abs(now - (parseInstant(publication.at) ?? 0)) < GRACE) return;
    const entry: AuditEntry = {
      kind: 'entry',
      // An existing outcome stays; this entry is added next to it.
      id: request?.ended === false ? request.id : ids.derive('audit', log.logId, 'configuration', String(number)),
      at: now,
      actor: publication.by.actor ?? SYSTEM_ACTOR,
      what: 'configuration.publish',
      workspace: workspaceOf(publication.refs.map((ref) => ref.workspace)),
      from: { address: null, userAgent: null },
      requestId: publication.by.requestId,
      ...publishedAs(number, publication.refs, configuration.history),
      outcome: 'done',
      code: null,
      detail: null,
    };
    await writeAudit(entry, ports);
  }
}

const workspaceOf = (names: readonly string[]): string | null => {
  const [first, ...others] = [...new Set(names)];
  return first === undefined || first === '' || others.length > 0 ? null : first;
};
