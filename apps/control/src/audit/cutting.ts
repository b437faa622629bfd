import type { AuditEntry, AuditOutcome, AuditSeal } from '@carillon/domain/audit';
import { auditKeptFor } from '@carillon/domain/configuration';
import { SYSTEM_ACTOR } from '@carillon/domain/people';
import { isCarillonError } from '@carillon/kernel';
import type { ControlPorts } from '../ports.ts';
import { writeAudit } from './audit-log.ts';
import { contentsOf, cutMacOf, isGenuine } from './chain.ts';

type ChainPorts = Pick<ControlPorts, 'log' | 'codecs' | 'ids' | 'auditSeals'>;
type CuttingPorts = ChainPorts & Pick<ControlPorts, 'clock' | 'configuration'>;

/** Seals that are looked at in one go: what is left is taken away an hour later. */
const MAX_SEALS = 1_000;
const BATCH_SIZE = 100;
/** So many records, or those of one seal, go at once: an embedded log takes them away in one commit, so that a crash leaves the start behind a seal. */
const RECORD_BATCH_SIZE = 1_000;
/** The seal of the last record that was taken away stands among the first that are left. */
const NEAR = 500;

const NOT_TAKEN = 'the log did not delete audit records older than their retention';

const WORDS = 'records before ';
/** Up to where a record of the audit says that records were taken away. Null where it does not, or where it is not of this deployment. */
export function cutBefore(
  { log, ids }: Pick<ChainPorts, 'log' | 'ids'>,
  { what, target, after }: Pick<AuditEntry, 'what' | 'target' | 'after'>,
): number | null {
  if (what !== 'audit.cut' || target?.startsWith(WORDS) !== true) return null;
  const before = Number(target.slice(WORDS.length));
  return after === cutMacOf(ids, log.logId, before) ? before : null;
}

/** The seal from whose hash the chain goes on where the records before `start` were taken away: of the store, or where that has none, of the topic. */
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
 * Takes away the records of the audit that are older than the deployment keeps them, through the last seal that holds none that is younger:
 * from there the chain goes on, and the seal, which stays in the store, says with which hash. That it is done is on the audit first, so that
 * records which somebody else took away are missed. Rejects where the log does not take them away; the audit says then that it failed.
 */
export async function cutAudit(ports: CuttingPorts, isOurs: (seal: AuditSeal) => boolean): Promise<void> {
  const { log, ids, clock, configuration, auditSeals } = ports;
  const kept = auditKeptFor(configuration.current());
  if (kept === null) return;
  const { start, end } = await log.bounds('carillon.audit', 0);
  const [newest] = await log.read('carillon.audit', 0, Math.max(start, end - 1), 1);
  if (!newest) return;
  // The log has a clock too: one of the two that is ahead takes away nothing that the other one finds young.
  const oldest = Math.min(clock.now(), newest.time) - kept;
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
    throw new Error(`${NOT_TAKEN}: it is tried again in an hour`, { cause: error });
  }
  await tell('done', null);

  function cutOf(position: number): Pick<AuditEntry, 'target' | 'after'> {
    return { target: `${WORDS}${position}`, after: cutMacOf(ids, log.logId, position) };
  }

  /** The positions behind the seals that hold nothing younger. */
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
