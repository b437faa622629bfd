import type { AuditEntry } from '@carillon/domain';
import type { AuditSeals, EventLog, LogRecord } from '@carillon/ports';
import { givenIds, oneLongTurn } from '@carillon/testing/given';
import { createDirectWire, createMemoryAuditSeals, createMemoryLeases } from '@carillon/testing/memory';
import { createAuditKeeper, type AuditKeeper, type AuditKeeperPorts } from '../src/audit/keeper.ts';
import { onAudit } from '../src/audit/audit-log.ts';
import { verifyAudit, type KeptSeal } from '../src/audit/verify.ts';
import { openControl } from './control-ground.ts';

export const MINUTE = 60_000;

/** An audit in memory, who keeps it, and what of its seals others have kept. */
export async function openAudit() {
  const ground = await openControl();
  const { clock } = ground;
  const leases = createMemoryLeases();
  const seals: AuditSeals = createMemoryAuditSeals().connect(createDirectWire());
  const lines: KeptSeal[] = [];

  const keeperOf = (holder: string, others: Partial<AuditKeeperPorts> = {}): AuditKeeper =>
    createAuditKeeper(
      {
        ...ground,
        ids: givenIds,
        auditSeals: seals,
        leases: leases.connect(createDirectWire()),
        sealed: ({ through, hash, mac }, contents) => void lines.push({ through, hash, contents, mac }),
        ...others,
      },
      holder,
    );
  const keeper = keeperOf('one');

  const entry = (target: string): AuditEntry => ({
    kind: 'entry',
    id: `aud_${target}`,
    at: clock.now(),
    actor: { kind: 'person', id: 'per_ann' },
    what: 'delivery.resend',
    target,
    workspace: 'shop',
    from: { address: '192.0.2.7', userAgent: null },
    requestId: `req_${target}`,
    number: null,
    before: null,
    after: null,
    outcome: 'done',
    code: null,
  });

  /** Writes so many entries and seals them. */
  async function write(count: number, from = 0): Promise<void> {
    for (let at = from; at < from + count; at += 1) await ground.log.append([onAudit(entry(`d${at}`), ground.codecs)]);
    clock.pass(MINUTE + 1);
    await keeper.round();
  }

  const records = (): Promise<readonly LogRecord[]> => ground.log.read('carillon.audit', 0, 0, 100_000);
  const verify = (log: EventLog = ground.log, kept: readonly KeptSeal[] = [], store: AuditSeals = seals) =>
    verifyAudit({ log, ids: givenIds, codecs: ground.codecs, auditSeals: store, turns: oneLongTurn }, kept);
  return { ground, clock, leases, seals, lines, keeperOf, keeper, entry, write, records, verify };
}
export type AuditGround = Awaited<ReturnType<typeof openAudit>>;
