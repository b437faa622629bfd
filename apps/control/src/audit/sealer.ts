import type { AuditEntry, AuditSeal } from '@carillon/domain/audit';
import { SYSTEM_ACTOR } from '@carillon/domain/people';
import { parseInstant, type Duration, type Instant, type LogId } from '@carillon/kernel';
import type { LeaseStore } from '@carillon/ports';
import type { ControlPorts } from '../ports.ts';
import { writeAudit } from './audit-log.ts';
import { chainOf, contentsOf, isGenuine, leafOf, link, macOf } from './chain.ts';
import { anchorOf, cutAudit } from './cutting.ts';
import { publishedAs } from './published-by.ts';

/** A seal holds so many records, or those of so long: what came since the newest seal could be cut off unseen. */
const SEAL = { records: 100, span: 60_000 } as const;
/** The holder comes every second; another one takes over so long after it died. */
const LEASE: Duration = 15_000;
/** A request that published may still be about to write its own record. */
const GRACE: Duration = 30_000;
/** What is older than it is kept goes in small parts. */
const CUT_EVERY: Duration = 3_600_000;
const PAGE = 500;
/** Records before the newest seal in which requests are looked for whose configuration is younger than it. */
const LOOK_BACK = 1_000;
const MAX_REQUESTS = 10_000;

export type AuditSealerPorts = Pick<
  ControlPorts,
  'log' | 'codecs' | 'ids' | 'clock' | 'configuration' | 'auditSeals'
> & {
  readonly leases: Pick<LeaseStore, 'acquire' | 'release'>;
  /** Tells of a seal in words that others can keep: a line of this process's log. */
  readonly sealed: (seal: AuditSeal, contents: string) => void;
};

export type AuditSealer = {
  /** One round: where this process holds the lease `audit`, reads on, makes good what a crash left out, and seals. Rejects where log or store cannot do it. */
  round(): Promise<void>;
  /** Seals what is unsealed and gives the lease back. */
  end(): Promise<void>;
};

type Fold = {
  next: number;
  hash: string;
  /** First position that the next seal tells of. */
  since: number;
  leaves: string[];
  /** Records that are no seals, and when the oldest of them came. */
  unsealed: number;
  oldestAt: Instant;
  /** Every record of the configuration below this number is told of. */
  configuration: number;
  /** What the audit tells of requests: whether their outcome, and under which id. */
  readonly requests: Map<string, { readonly id: string; readonly ended: boolean }>;
  readonly numbers: Set<number>;
};

/**
 * Keeps the audit as whoever holds the lease `audit`. Two that both think so for a moment do no harm: seals of both are true, and what
 * is made good has its id from the number of the configuration.
 */
export function createAuditSealer(ports: AuditSealerPorts, holder: string): AuditSealer {
  const { log, codecs, ids, clock, auditSeals, leases } = ports;
  const { logId } = log;
  const isOurs = (seal: AuditSeal): boolean => isGenuine(ids, logId, seal, contentsOf(seal));
  let fold: Fold | null = null;
  let cutAt: Instant = 0;

  async function begin(): Promise<Fold> {
    const [newest, { start, end }] = await Promise.all([auditSeals.newest(logId), log.bounds('carillon.audit', 0)]);
    // Behind a seal of another key, or of a log that was longer, nothing is built: it is for `verify` to tell.
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

  /** Whether the record is an entry; of a seal that a crash kept from the store, the store gets its copy. */
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
          // A gap is for `verify` to tell too: a seal tells of single records behind it alone, each at its place.
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
    const { since, hash, leaves, configuration: told } = into;
    const sealed = { since, through, hash, configuration: told, leaves };
    const contents = contentsOf(sealed);
    const made: AuditSeal = { ...sealed, mac: macOf(ids, logId, sealed, contents) };
    // On the log first: a seal that the store has and the log has not tells of a log that was cut off.
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
        // What was written, and what only may have been, is read again.
        fold = null;
        throw error;
      }
      if (Math.abs(now - cutAt) < CUT_EVERY) return;
      // What fails is tried again an hour later too: each try stands on the audit.
      cutAt = now;
      await cutAudit(ports, isOurs);
    },
    async end() {
      const held = fold;
      fold = null;
      if (!held) return;
      await readOn(held);
      if (held.unsealed > 0) await sealUp(held);
      await leases.release('audit', holder);
    },
  };
}

/** Returns the state behind a seal, or from the start of the audit if there is none. */
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

/** Tells of each configuration that nobody told of: whoever published it came no further. */
async function makeGood(into: Fold, ports: AuditSealerPorts): Promise<void> {
  const { clock, configuration, ids, log } = ports;
  const { number: newest } = configuration.current();
  const now = clock.now();
  for (; into.configuration <= newest; into.configuration += 1) {
    const number = into.configuration;
    const publication = configuration.history.publication(number);
    // What was void changed nothing.
    if (!publication || into.numbers.has(number)) continue;
    // An outcome without the number tells of something else: an answer that was lost reads as failed, though its record came to stand.
    const told = publication.by.requestId === null ? undefined : into.requests.get(publication.by.requestId);
    if (Math.abs(now - (parseInstant(publication.at) ?? 0)) < GRACE) return;
    const entry: AuditEntry = {
      kind: 'entry',
      // What ended keeps its outcome; this is told beside it.
      id: told?.ended === false ? told.id : ids.derive('audit', log.logId, 'configuration', String(number)),
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
