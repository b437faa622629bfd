import { auditKeptFor, SYSTEM_ACTOR, type AuditEntry, type AuditSeal } from '@carillon/domain';
import type { ControlPorts } from '../ports.ts';
import { writeAudit } from './audit-log.ts';

type CuttingPorts = Pick<ControlPorts, 'log' | 'codecs' | 'ids' | 'clock' | 'configuration' | 'auditSeals'>;

/** Seals that are looked at in one go: what is left is taken away an hour later. */
const MOST_SEALS = 1_000;
const AT_ONCE = 100;

const WORDS = 'records before ';
/** Up to where a record of the audit says that records were taken away. */
export const cutBefore = ({ what, target }: Pick<AuditEntry, 'what' | 'target'>): number | null =>
  what === 'audit.cut' && target?.startsWith(WORDS) === true ? Number(target.slice(WORDS.length)) : null;

/**
 * Takes away the records of the audit that are older than the deployment keeps them, through the last seal that holds none that is younger:
 * from there the chain goes on, and the seal, which stays in the store, says with which hash. That it was done is on the audit first, so that
 * records which somebody else took away are missed.
 */
export async function cutAudit(ports: CuttingPorts, isOurs: (seal: AuditSeal) => boolean): Promise<void> {
  const { log, ids, clock, configuration, auditSeals } = ports;
  const kept = auditKeptFor(configuration.current());
  if (kept === null) return;
  const now = clock.now();
  const { start } = await log.bounds('carillon.audit', 0);
  let before = start;
  let after = start;
  for (let seen = 0; seen < MOST_SEALS; seen += AT_ONCE) {
    const seals = await auditSeals.list(log.logId, after, AT_ONCE);
    for (const seal of seals) {
      const [last] = await log.read('carillon.audit', 0, seal.through, 1);
      if (last?.offset !== seal.through || last.time >= now - kept || !isOurs(seal)) return finish();
      before = seal.through + 1;
      after = seal.through;
    }
    if (seals.length < AT_ONCE) break;
  }
  return finish();

  async function finish(): Promise<void> {
    if (before === start) return;
    const entry: AuditEntry = {
      kind: 'entry',
      id: ids.derive('audit', log.logId, 'cut', String(before)),
      at: now,
      actor: SYSTEM_ACTOR,
      what: 'audit.cut',
      target: `${WORDS}${before}`,
      workspace: null,
      from: { address: null, userAgent: null },
      requestId: null,
      number: null,
      before: null,
      after: null,
      outcome: 'done',
      code: null,
    };
    await writeAudit(entry, ports);
    await log.cut('carillon.audit', 0, before);
  }
}
