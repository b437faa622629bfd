import type { AuditEntry } from '@carillon/domain/audit';
import type { AuditSeals, EventLog, LogRecord } from '@carillon/ports';
import { givenIds, neverYield } from '@carillon/testing/given';
import { createDirectWire, createMemoryStores, createMemoryLeases } from '@carillon/testing/memory';
import { createAuditSealer, type AuditSealer, type AuditSealerPorts } from '../src/audit/sealer.ts';
import { onAudit } from '../src/audit/audit-log.ts';
import { verifyAudit, type KeptSeal } from '../src/audit/verify.ts';
import { openControl } from './control-fixture.ts';

export const MINUTE = 60_000;

/** An audit in memory, who keeps it, and what of its seals others have kept. */
export async function openAudit() {
  const fixture = await openControl();
  const { clock } = fixture;
  const leases = createMemoryLeases();
  const seals: AuditSeals = createMemoryStores().connect().auditSeals;
  const lines: KeptSeal[] = [];

  const sealerOf = (holder: string, others: Partial<AuditSealerPorts> = {}): AuditSealer =>
    createAuditSealer(
      {
        ...fixture,
        ids: givenIds,
        auditSeals: seals,
        leases: leases.connect(createDirectWire()),
        sealed: ({ through, hash, mac }, contents) => void lines.push({ through, hash, contents, mac }),
        ...others,
      },
      holder,
    );
  const sealer = sealerOf('one');

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
    detail: null,
  });

  /** Writes so many entries and seals them. */
  async function write(count: number, from = 0): Promise<void> {
    for (let at = from; at < from + count; at += 1)
      await fixture.log.append([onAudit(entry(`d${at}`), fixture.codecs)]);
    clock.pass(MINUTE + 1);
    await sealer.round();
  }

  const records = (): Promise<readonly LogRecord[]> => fixture.log.read('carillon.audit', 0, 0, 100_000);
  const verify = (log: EventLog = fixture.log, kept: readonly KeptSeal[] = [], store: AuditSeals = seals) =>
    verifyAudit({ log, ids: givenIds, codecs: fixture.codecs, auditSeals: store, slice: neverYield }, kept);
  return { fixture, clock, leases, seals, lines, sealerOf, sealer, entry, write, records, verify };
}
export type AuditFixture = Awaited<ReturnType<typeof openAudit>>;
