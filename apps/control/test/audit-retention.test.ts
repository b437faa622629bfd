import { CHANGED_BY_OWNER } from '@carillon/domain';
import type { AuditSeals } from '@carillon/ports';
import { publishConfiguration } from '@carillon/stages';
import { changesOf, givenIds } from '@carillon/testing/given';
import { beforeEach, describe, expect, it } from 'vitest';
import { MINUTE, openAudit, type AuditGround } from './audit-ground.ts';

let audit: AuditGround;
beforeEach(async () => {
  audit = await openAudit();
});

describe('An audit that is not kept for ever', () => {
  const keepFor = async (span: string | null): Promise<void> => {
    const { log, codecs, configuration: view, clock } = audit.ground;
    const body = span === null ? {} : { retention: { audit: span } };
    await publishConfiguration(
      { log, codec: codecs.configuration, view, ids: givenIds, clock, readEverywhere: async () => undefined },
      changesOf(await view.refresh(), [{ ref: { kind: 'deployment', workspace: '', name: '' }, body }]),
      CHANGED_BY_OWNER,
    );
  };
  const DAY = 86_400_000;
  const start = async (): Promise<number> => (await audit.ground.log.bounds('carillon.audit', 0)).start;

  it('goes through a seal once it is older than it is kept, says so, and verifies from there', async () => {
    await audit.write(150);
    audit.clock.pass(20 * DAY);
    await audit.write(30, 150);
    await keepFor('30d');
    audit.clock.pass(5 * DAY);
    await audit.keeper.round();
    expect(await start()).toBe(0);
    audit.clock.pass(10 * DAY);
    await audit.keeper.round();
    const cut = await start();
    // The seals of the first day hold 150 entries and one another; what is younger than thirty days is all there.
    expect(cut).toBeGreaterThan(99);
    const left = (await audit.records()).map(({ value }) => audit.ground.codecs.audit.decode(value));
    const targets = left.flatMap((one) => (one.ok && one.value.kind === 'entry' ? [one.value.target] : []));
    expect(targets).toContain('d150');
    expect(targets).toContain(`records before ${cut}`);
    audit.clock.pass(MINUTE + 1);
    await audit.keeper.round();
    const verdict = await audit.verify(audit.ground.log, audit.lines);
    expect(verdict.fault).toBeNull();
    expect(verdict.records).toBe((await audit.records()).length);
    // Another process takes over, and a second cut begins where the first one ended.
    audit.clock.pass(40 * DAY);
    await audit.write(3, 200);
    audit.clock.pass(31 * DAY);
    await audit.keeperOf('two').round();
    audit.clock.pass(MINUTE + 1);
    await audit.keeperOf('two').round();
    expect(await start()).toBeGreaterThan(cut);
    expect((await audit.verify(audit.ground.log, audit.lines)).fault).toBeNull();
  });

  it('is for ever where nothing else is said', async () => {
    await audit.write(150);
    await keepFor(null);
    audit.clock.pass(4_000 * DAY);
    await audit.keeper.round();
    expect(await start()).toBe(0);
  });

  it('misses records that somebody else took away, at a seal or beside one, and a seal of the store that is not the one', async () => {
    await audit.write(250);
    const sealed = await audit.seals.list(audit.ground.log.logId, -1, 10);
    const [first, second] = sealed.map(({ through }) => through + 1) as [number, number];
    await audit.ground.log.cut('carillon.audit', 0, first);
    expect((await audit.verify()).fault).toMatchObject({ kind: 'missing', position: 0 });
    await audit.ground.log.cut('carillon.audit', 0, first + 5);
    expect((await audit.verify()).fault).toMatchObject({ kind: 'missing', position: 0 });
    await audit.ground.log.cut('carillon.audit', 0, second);
    const forged: AuditSeals = {
      ...audit.seals,
      list: async (...asked) => (await audit.seals.list(...asked)).map((seal) => ({ ...seal, hash: '0'.repeat(64) })),
    };
    expect((await audit.verify(audit.ground.log, [], forged)).fault).not.toBeNull();
  });
});
