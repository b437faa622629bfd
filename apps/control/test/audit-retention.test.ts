import type { AuditEntry } from '@carillon/domain/audit';
import { SYSTEM_ACTOR } from '@carillon/domain/people';
import type { AuditSeals, EventLog } from '@carillon/ports';
import { createMemoryStores } from '@carillon/testing/memory';
import { beforeEach, describe, expect, it } from 'vitest';
import { onAudit } from '../src/audit/audit-log.ts';
import { MINUTE, openAudit, type AuditFixture } from './audit-fixture.ts';
import { publishWishes } from './control-fixture.ts';

let audit: AuditFixture;
beforeEach(async () => {
  audit = await openAudit();
});

describe('An audit with a retention', () => {
  const keepFor = async (span: string | null): Promise<void> => {
    const body = span === null ? {} : { retention: { audit: span } };
    await publishWishes(audit.fixture, [{ ref: { kind: 'deployment', workspace: '', name: '' }, body }]);
  };
  const DAY = 86_400_000;
  const start = async (): Promise<number> => (await audit.fixture.log.bounds('carillon.audit', 0)).start;

  it('is deleted up to the last seal older than the retention, records the cut, and verifies from there', async () => {
    await audit.write(150);
    audit.clock.pass(20 * DAY);
    await audit.write(30, 150);
    await keepFor('30d');
    audit.clock.pass(5 * DAY);
    await audit.sealer.round();
    expect(await start()).toBe(0);
    audit.clock.pass(10 * DAY);
    await audit.write(1, 180);
    const cut = await start();
    // The seals of the first day hold 150 entries and one another; what is younger than thirty days is all there.
    expect(cut).toBeGreaterThan(99);
    const left = (await audit.records()).map(({ value }) => audit.fixture.codecs.audit.decode(value));
    const targets = left.flatMap((one) => (one.ok && one.value.kind === 'entry' ? [one.value.target] : []));
    expect(targets).toContain('d150');
    expect(targets).toContain(`records before ${cut}`);
    audit.clock.pass(MINUTE + 1);
    await audit.sealer.round();
    const verdict = await audit.verify(audit.fixture.log, audit.lines);
    expect(verdict).toMatchObject({ begins: cut, fault: null });
    expect(verdict.records).toBe((await audit.records()).length);
    // Another process takes over, and a second cut begins where the first one ended.
    audit.clock.pass(40 * DAY);
    await audit.write(3, 200);
    audit.clock.pass(31 * DAY);
    await audit.fixture.log.append([onAudit(audit.entry('last'), audit.fixture.codecs)]);
    await audit.sealerOf('two').round();
    audit.clock.pass(MINUTE + 1);
    await audit.sealerOf('two').round();
    expect(await start()).toBeGreaterThan(cut);
    expect((await audit.verify(audit.fixture.log, audit.lines)).fault).toBeNull();
  });

  it('is kept for ever without one', async () => {
    await audit.write(150);
    await keepFor(null);
    audit.clock.pass(4_000 * DAY);
    await audit.sealer.round();
    expect(await start()).toBe(0);
  });

  it('fails verification if records are deleted without a cut, at a seal or beside it, or if the stored seal is forged', async () => {
    await audit.write(120);
    await audit.write(130, 120);
    const sealed = await audit.seals.list(audit.fixture.log.logId, -1, 10);
    const [first, second] = sealed.map(({ through }) => through + 1) as [number, number];
    await audit.fixture.log.cut('carillon.audit', 0, first);
    expect((await audit.verify()).fault).toMatchObject({ kind: 'missing', position: 0 });
    await audit.fixture.log.cut('carillon.audit', 0, first + 5);
    expect((await audit.verify()).fault).toMatchObject({ kind: 'missing', position: 0 });
    await audit.fixture.log.cut('carillon.audit', 0, second);
    const forged: AuditSeals = {
      ...audit.seals,
      list: async (...asked) => (await audit.seals.list(...asked)).map((seal) => ({ ...seal, hash: '0'.repeat(64) })),
    };
    expect((await audit.verify(audit.fixture.log, [], forged)).fault).not.toBeNull();
  });

  const entries = async (): Promise<readonly AuditEntry[]> =>
    (await audit.records()).flatMap(({ value }) => {
      const decoded = audit.fixture.codecs.audit.decode(value);
      return decoded.ok && decoded.value.kind === 'entry' ? [decoded.value] : [];
    });
  const cuts = async () =>
    (await entries()).flatMap(({ what, outcome, target }) => (what === 'audit.cut' ? [{ outcome, target }] : []));

  /** An audit whose first 250 entries are older than it is kept, and which has not been cut yet. */
  async function grownOld(): Promise<void> {
    for (let at = 0; at < 250; at += 50) await audit.write(50, at);
    await keepFor('30d');
    audit.clock.pass(40 * DAY);
    await audit.fixture.log.append([onAudit(audit.entry('young'), audit.fixture.codecs)]);
  }

  it('fails verification if the cut was written to the log by someone without the sealing key', async () => {
    await audit.write(250);
    await audit.write(5, 250);
    const [first] = await audit.seals.list(audit.fixture.log.logId, -1, 10);
    const before = (first?.through ?? 0) + 1;
    const forged = {
      ...audit.entry('forged'),
      actor: SYSTEM_ACTOR,
      what: 'audit.cut',
      target: `records before ${before}`,
    };
    await audit.fixture.log.append([onAudit(forged, audit.fixture.codecs)]);
    await audit.fixture.log.cut('carillon.audit', 0, before);
    expect((await audit.verify(audit.fixture.log, audit.lines)).fault).toMatchObject({ kind: 'missing', position: 0 });
    audit.clock.pass(MINUTE + 1);
    await audit.sealer.round();
    expect((await audit.verify(audit.fixture.log, audit.lines)).fault).toMatchObject({ kind: 'missing', position: 0 });
  });

  it('fails verification if records after a genuine cut are deleted, even when the record of the cut is repeated', async () => {
    await grownOld();
    await audit.sealer.round();
    const [told] = (await entries()).filter(({ what }) => what === 'audit.cut');
    await audit.write(120, 300);
    await audit.write(5, 420);
    const next = (await audit.seals.list(audit.fixture.log.logId, (await start()) + 50, 1))[0]?.through ?? 0;
    if (told) await audit.fixture.log.append([onAudit(told, audit.fixture.codecs)]);
    expect((await audit.verify()).fault).toBeNull();
    const was = await start();
    await audit.fixture.log.cut('carillon.audit', 0, next + 1);
    expect((await audit.verify()).fault).toMatchObject({ kind: 'missing', position: was });
  });

  it('reports hourly that the log refuses to cut, continues sealing, and is cut once the log allows it', async () => {
    await grownOld();
    let isAllowed = false;
    const log: EventLog = {
      ...audit.fixture.log,
      cut: (...asked) => (isAllowed ? audit.fixture.log.cut(...asked) : Promise.reject(new Error('no right'))),
    };
    const sealer = audit.sealerOf('barred', { log });
    await expect(sealer.round()).rejects.toMatchObject({ cause: new Error('no right') });
    audit.lines.length = 0;
    for (let second = 0; second < 120; second += 1) {
      audit.clock.pass(1_000);
      await sealer.round();
    }
    expect((await cuts()).map(({ outcome }) => outcome)).toEqual(['begun', 'failed']);
    expect(audit.lines).not.toEqual([]);
    expect((await audit.verify()).fault).toBeNull();
    audit.clock.pass(60 * MINUTE);
    await expect(sealer.round()).rejects.toMatchObject({ cause: new Error('no right') });
    isAllowed = true;
    audit.clock.pass(60 * MINUTE);
    await sealer.round();
    expect((await cuts()).map(({ outcome }) => outcome)).toEqual([
      'begun',
      'failed',
      'begun',
      'failed',
      'begun',
      'done',
    ]);
    expect(await start()).toBeGreaterThan(250);
    expect((await audit.verify(audit.fixture.log, audit.lines)).fault).toBeNull();
  });

  it('keeps records that are young by the time of the log, although the clock of a process is a year ahead', async () => {
    await audit.write(250);
    await keepFor('30d');
    audit.clock.pass(MINUTE);
    await audit.sealer.round();
    const { clock } = audit;
    const ahead = { ...clock, now: () => clock.now() + 365 * DAY };
    clock.pass(MINUTE);
    await audit.sealerOf('ahead', { clock: ahead }).round();
    expect(await start()).toBe(0);
    expect(await cuts()).toEqual([]);
  });

  it('verifies while it is cut, and after a crash at any step of the cut', async () => {
    await grownOld();
    for (let at = 0; at < 40; at += 1) await audit.write(100, 1_000 + 100 * at);
    audit.clock.pass(40 * DAY);
    await audit.fixture.log.append([onAudit(audit.entry('youngest'), audit.fixture.codecs)]);
    const begins = await start();
    const asked: number[] = [];
    const killed: EventLog = {
      ...audit.fixture.log,
      async cut(topic, partition, before) {
        if (asked.push(before) > 2) throw new Error('killed');
        await audit.fixture.log.cut(topic, partition, before);
      },
      append: (given) => (asked.length > 2 ? Promise.reject(new Error('killed')) : audit.fixture.log.append(given)),
    };
    let read = 0;
    const watched: EventLog = {
      ...audit.fixture.log,
      async read(...page) {
        if ((read += 1) === 3)
          await audit
            .sealerOf('killed', { log: killed })
            .round()
            .catch(() => undefined);
        return audit.fixture.log.read(...page);
      },
    };
    audit.clock.pass(MINUTE);
    expect(await audit.verify(watched)).toMatchObject({ begins: asked[1], fault: null });
    expect(asked).toHaveLength(3);
    const [first = 0, second = 0] = asked;
    expect(Math.max(first - begins, second - first)).toBeLessThanOrEqual(1_000);
    audit.clock.pass(MINUTE);
    await audit.sealerOf('two').round();
    expect(await audit.verify(audit.fixture.log, audit.lines)).toMatchObject({ begins: await start(), fault: null });
    expect(await start()).toBeGreaterThan(second);
  });

  it('continues sealing after a cut if the newest stored seal is invalid or missing', async () => {
    await grownOld();
    await audit.sealer.round();
    expect(await start()).toBeGreaterThan(0);
    audit.clock.pass(MINUTE);
    const foreign: AuditSeals = {
      ...audit.seals,
      newest: async (...asked) => {
        const seal = await audit.seals.newest(...asked);
        return seal && { ...seal, mac: 'of another key' };
      },
    };
    await audit.sealerOf('anew', { auditSeals: foreign }).round();
    expect((await audit.verify(audit.fixture.log, audit.lines)).fault).toBeNull();
    await audit.write(3, 500);
    const lost = createMemoryStores().connect().auditSeals;
    audit.clock.pass(MINUTE);
    await audit.sealerOf('lost', { auditSeals: lost }).round();
    expect(await audit.verify(audit.fixture.log, audit.lines, lost)).toMatchObject({ fault: null });
    expect(await audit.verify(audit.fixture.log, audit.lines)).toMatchObject({ fault: null });
  });
});
