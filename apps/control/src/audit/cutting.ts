import type { AuditEntry, AuditOutcome, AuditSeal } from '@carillon/domain/audit';
import { auditKeptFor } from '@carillon/domain/configuration';
import { SYSTEM_ACTOR } from '@carillon/domain/people';
import { isCarillonError } from '@carillon/kernel';
import type { ControlPorts } from '../ports.ts';
import { writeAudit } from './audit-log.ts';
import { contentsOf, cutMacOf, isGenuine } from './chain.ts';

type ChainPorts = Pick<ControlPorts, 'log' | 'codecs' | 'ids' | 'auditSeals'>;
type CuttingPorts = ChainPorts & Pick<ControlPorts, 'clock' | 'configuration'>;

/** Seals per run. The rest is deleted an hour later. */
const MAX_SEALS = 1_000;
const BATCH_SIZE = 100;
/**
 * Records deleted per commit, or those of one seal. The embedded log deletes them atomically, so that after a crash the
 * log starts after a seal.
 */
const RECORD_BATCH_SIZE = 1_000;
/** Number of records after the start of the log that are searched for the seal of the last deleted record. */
const NEAR = 500;

const NOT_TAKEN = 'the log did not delete audit records older than their retention';

const WORDS = 'records before ';
/**
 * Returns the position before which an audit record reports deletion. Null if it reports none or was not written by
 * this deployment.
 */
export function cutBefore(
  { log, ids }: Pick<ChainPorts, 'log' | 'ids'>,
  { what, target, after }: Pick<AuditEntry, 'what' | 'target' | 'after'>,
): number | null {
  if (what !== 'audit.cut' || target?.startsWith(WORDS) !== true) return null;
  const before = Number(target.slice(WORDS.length));
  return after === cutMacOf(ids, log.logId, before) ? before : null;
}

/**
 * Returns the seal whose hash the chain continues after records before `start` were deleted: from the store, else from
 * the topic.
 */
export async function anchorOf({ log, codecs, ids, auditSeals }: ChainPorts, start: number): Promise<AuditSeal | null> {
  if (start === 0) return null;
  const isAnchor = (seal: AuditSeal): boolean =>
    seal.through === start - 1 && isGenuine(ids, log.logId, seal, contentsOf(seal));
  const stored = (await auditSeals.list(log.logId, start - 2, 1)).find(isAnchor);
  if (stored) return stored;
  for (const { value } of await log.read('carillon.audit', 0, start, NEAR)) {
    const decoded = codecs.audit.decode(value);
    if (decoded.ok && decoded.value.kind === 'seal' && isAnchor(decoded.value.seal)) return decoded.value.seal;
  }
  return null;
}

/**
 * Deletes audit records past their retention, up to the last seal without younger records. The chain continues from the
 * hash of that seal, which stays in the store. The deletion is audited first, so that deletions by others are detected.
 * Rejects if the log does not delete them, and the audit then records the failure.
 */
export async function cutAudit(ports: CuttingPorts, isOurs: (seal: AuditSeal) => boolean): Promise<void> {
  const { log, ids, clock, configuration, auditSeals } = ports;
  const retention = auditKeptFor(configuration.current());
  if (retention === null) return;
  const { start, end } = await log.bounds('carillon.audit', 0);
  const [newest] = await log.read('carillon.audit', 0, Math.max(start, end - 1), 1);
  if (!newest) return;
  // Uses the earlier of clock and log time, so that a fast clock deletes nothing too young.
  const oldest = Math.min(clock.now(), newest.time) - retention;
  const ends = await endsOfOldSeals();
  const before = ends.at(-1);
  if (before === undefined) return;
  const id = ids.random('audit');
  const tell = (outcome: AuditOutcome, code: string | null): Promise<void> =>
    writeAudit({ ...cutEntry, id, at: clock.now(), ...cutOf(before), outcome, code }, ports);
  await tell('begun', null);
  try {
    await takeAway();
  } catch (error) {
    await tell('failed', isCarillonError(error) ? error.code : 'internal').catch(() => undefined);
    throw new Error(`${NOT_TAKEN}: Carillon tries again in an hour`, { cause: error });
  }
  await tell('done', null);

  function cutOf(position: number): Pick<AuditEntry, 'target' | 'after'> {
    return { target: `${WORDS}${position}`, after: cutMacOf(ids, log.logId, position) };
  }

  /** Returns the positions after seals without younger records. */
  async function endsOfOldSeals(): Promise<readonly number[]> {
    const found: number[] = [];
    for (let after = start; found.length < MAX_SEALS;) {
      const seals = await auditSeals.list(log.logId, after, BATCH_SIZE);
      for (const seal of seals) {
        const [last] = await log.read('carillon.audit', 0, seal.through, 1);
        if (last?.offset !== seal.through || last.time >= oldest || !isOurs(seal)) return found;
        found.push(seal.through + 1);
        after = seal.through;
      }
      if (seals.length < BATCH_SIZE) break;
    }
    return found;
  }

  async function takeAway(): Promise<void> {
    let from = start;
    for (const [at, to] of ends.entries()) {
      const next = ends[at + 1];
      if (next !== undefined && next - from <= RECORD_BATCH_SIZE) continue;
      await log.cut('carillon.audit', 0, to);
      from = to;
    }
  }
}

const cutEntry = {
  kind: 'entry',
  actor: SYSTEM_ACTOR,
  what: 'audit.cut',
  workspace: null,
  from: { address: null, userAgent: null },
  requestId: null,
  number: null,
  before: null,
  detail: null,
} as const;
