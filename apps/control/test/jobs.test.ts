import type { DeliveryId, JobId } from '@carillon/kernel';
import type { Person } from '@carillon/domain/people';
import { givenIds, alwaysYield } from '@carillon/testing/given';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDirectory } from '../src/access/people/directory.ts';
import { deploymentOwner } from '../src/access/principal.ts';
import { personWith } from './control-fixture.ts';
import { interruptedWire, mortalWire, openJobsFixture, type JobsFixture } from './jobs-fixture.ts';

let fixture: JobsFixture;
let owner: Awaited<ReturnType<JobsFixture['as']>>;
beforeEach(async () => {
  fixture = await openJobsFixture();
  owner = await fixture.as(deploymentOwner('session'));
  await fixture.publishShop(owner);
});
afterEach(() => fixture.close());

const idOf = ({ body }: { readonly body: Readonly<Record<string, unknown>> }): string => String(body['id']);
const jobAt = async (id: string) => (await owner.ask('GET', `jobs/${id}`)).body;
const storyOf = async (id: DeliveryId, reason: string) =>
  ((await fixture.ledger.get(id))?.history ?? []).filter((one) => one.reason === reason);

/** Lets a runner take what is free and waits for it. */
async function run(runner = fixture.runner(owner)): Promise<void> {
  // A killed runner returns no result.
  await runner.round().catch(() => undefined);
  await runner.idle();
}

async function auditOf(what: string) {
  const records = await fixture.log.read('carillon.audit', 0, 0, 100_000, 64 * 1024 * 1024);
  return records.flatMap(({ value }) => {
    const record = owner.codecs.audit.decode(value);
    return record.ok && record.value.kind === 'entry' && record.value.what === what ? [record.value] : [];
  });
}

describe('a bulk action on deliveries', () => {
  it('counts matching deliveries and people before it starts, and reports unknown names', async () => {
    await fixture.deliver(3);
    await fixture.deliver(2, { state: 'IN_DOUBT', intent: { person: 'grace' } });
    await fixture.deliver(4, { state: 'SENT' });
    await fixture.deliver(1, { state: 'FAILED', slot: { workspace: 'club' } });
    const resend = await owner.ask('GET', 'deliveries/count?action=resend');
    expect(resend.body).toEqual({
      action: 'resend',
      count: 5,
      people: 2,
      by_state: { FAILED: 3, IN_DOUBT: 2 },
      more: false,
      ceiling: 10_000,
    });
    expect((await owner.ask('GET', 'deliveries/count?action=resend&state=FAILED,SENT')).body['count']).toBe(3);
    expect((await owner.ask('GET', 'deliveries/count?action=cancel')).body['count']).toBe(0);
    const unknown = await owner.ask('GET', 'deliveries/count?action=resend&notification=order-payd');
    expect(unknown.status).toBe(400);
    expect(String(unknown.body['detail'])).toContain('order-paid');
  });

  it('counts selected deliveries once, only fitting ones of the workspace', async () => {
    const [first, second] = await fixture.deliver(2);
    const [other] = await fixture.deliver(1, { state: 'FAILED', intent: { person: 'grace' } });
    const [sent] = await fixture.deliver(1, { state: 'SENT' });
    const [foreign] = await fixture.deliver(1, { state: 'FAILED', slot: { workspace: 'club' } });
    const ids = [first?.id, second?.id, other?.id, sent?.id, foreign?.id, 'dlv_none', first?.id];
    expect((await owner.ask('POST', 'deliveries/count', { action: 'resend', ids })).body).toEqual({
      action: 'resend',
      count: 3,
      people: 2,
      by_state: { FAILED: 3 },
      more: false,
      ceiling: 10_000,
      // Only these ids are part of the job; the others are not touched.
      ids: expect.arrayContaining([first?.id, second?.id, other?.id]) as unknown,
    });
    expect((await owner.ask('POST', 'deliveries/count', { action: 'cancel', ids })).body['count']).toBe(0);
    expect((await owner.ask('POST', 'deliveries/count', { action: 'resend', ids: [] })).status).toBe(400);
  });

  it('yields to other requests between two pages while it counts', async () => {
    await fixture.deliver(1_201);
    const slice = alwaysYield();
    const patient = await fixture.as(deploymentOwner('session'), { ...owner, slice });
    expect((await patient.ask('GET', 'deliveries/count?action=resend')).body['count']).toBe(1_201);
    expect(slice.ended).toBe(2);
  });

  it('starts a job over all counted deliveries and resends each once', async () => {
    const failed = await fixture.deliver(100);
    await fixture.deliver(3, { state: 'SENT' });
    const begun = await owner.ask('POST', 'deliveries/resend', { filter: { state: ['FAILED'] }, expected: 100 });
    expect(begun.status).toBe(202);
    expect(begun.headers['location']).toBe(`/v1/workspaces/shop/jobs/${idOf(begun)}`);
    expect(begun.body).toMatchObject({ state: 'waiting', of: 100, done: 0, failed: 0, action: 'resend_deliveries' });
    await run();
    expect(await jobAt(idOf(begun))).toMatchObject({ state: 'done', of: 100, done: 100, failed: 0, failures: [] });
    for (const { id } of failed) {
      expect(await storyOf(id, 'operator_resend')).toHaveLength(1);
      expect((await fixture.ledger.get(id))?.state).toBe('WAITING');
    }
    expect((await fixture.ledger.get(failed[0]?.id as DeliveryId))?.detail).toBe(`by owner in ${idOf(begun)}`);
  });

  it('does not start if more match than expected, if none match, or if the selection is ambiguous', async () => {
    await fixture.deliver(3);
    const filter = { state: ['FAILED'] };
    const refusals: readonly [object, number, string][] = [
      [{ filter, expected: 2 }, 409, '3 match now, and 2 were expected'],
      [{ filter: { state: ['EXPIRED'] }, expected: 2 }, 409, 'none of the matching items can be sent again'],
      [{ filter }, 400, 'expected'],
      [{}, 400, 'ids'],
      [{ ids: ['dlv_1'], filter, expected: 3 }, 400, 'ids'],
      [{ ids: [] }, 400, 'ids'],
      [{ filter: { stat: ['FAILED'] }, expected: 3 }, 400, 'filter'],
      [{ filter: { state: ['FAILD'] }, expected: 3 }, 400, 'FAILED'],
    ];
    for (const [body, status, words] of refusals) {
      const refused = await owner.ask('POST', 'deliveries/resend', body);
      expect(refused.status, JSON.stringify(body)).toBe(status);
      expect(String(refused.body['detail'])).toContain(words);
    }
    expect((await owner.ask('GET', 'jobs')).body['items']).toEqual([]);
  });

  it('reports failed items by id, and items of other workspaces as unknown', async () => {
    const [failed] = await fixture.deliver(1);
    const [sent] = await fixture.deliver(1, { state: 'SENT' });
    const [foreign] = await fixture.deliver(1, { state: 'FAILED', slot: { workspace: 'club' } });
    const ids = [failed?.id, sent?.id, foreign?.id, 'dlv_none', failed?.id];
    const begun = await owner.ask('POST', 'deliveries/resend', { ids });
    expect(begun.body['of']).toBe(4);
    await run();
    const ended = await jobAt(idOf(begun));
    expect(ended).toMatchObject({ state: 'done', done: 1, failed: 3 });
    expect(ended['failures']).toMatchObject([
      { item: sent?.id, code: 'wrong_state' },
      { item: foreign?.id, code: 'not_found' },
      { item: 'dlv_none', code: 'not_found' },
    ]);
    expect((await fixture.ledger.get(foreign?.id as DeliveryId))?.state).toBe('FAILED');
  });

  it('dismisses unmatched receipts of the workspace only, and audits each', async () => {
    const receipt = (id: string, workspace: string, stage = 'receipts') => ({
      id,
      workspace,
      stage,
      topic: 'carillon.receipts',
      partition: 0,
      offset: 1,
      reason: 'unknown_receipt',
      at: 1,
      ownPartition: 0,
      ownOffset: 1,
      redrivenAt: null,
      redrivenBy: null,
      dismissedAt: null,
      dismissedBy: null,
      receipt: null,
    });
    const deadLetters = [
      receipt('ddl_1', 'shop'),
      receipt('ddl_2', 'club'),
      receipt('ddl_3', 'shop', 'evaluate'),
      receipt('ddl_4', 'shop', 'append'),
    ];
    await fixture.readModels.put({ deadLetters });
    const ids = deadLetters.map(({ id }) => id);
    const begun = await owner.ask('POST', 'receipts/dismiss', { ids });
    expect(begun).toMatchObject({ status: 202, body: { action: 'dismiss_receipts', of: 4 } });
    await run();
    expect(await jobAt(idOf(begun))).toMatchObject({
      state: 'done',
      done: 2,
      failures: [
        { item: 'ddl_2', code: 'not_found' },
        { item: 'ddl_3', code: 'not_found' },
      ],
    });
    expect(await fixture.readModels.deadLetter('ddl_1')).toMatchObject({ dismissedBy: 'owner' });
    expect(await fixture.readModels.deadLetter('ddl_2')).toMatchObject({ dismissedBy: null });
    // Items that do not exist for this workspace are in the job alone.
    expect((await auditOf('receipt.dismiss')).map(({ target, outcome }) => [target, outcome])).toEqual([
      ['ddl_1', 'done'],
    ]);
    // A record of a source is no receipt.
    expect((await auditOf('dead_letter.dismiss')).map(({ target }) => target)).toEqual(['ddl_4']);
  });

  it('cancels deliveries, and settles them with an operator’s knowledge', async () => {
    const waiting = await fixture.deliver(2, { state: 'WAITING', nextAt: 5_000 });
    const doubtful = await fixture.deliver(2, { state: 'IN_DOUBT' });
    await owner.ask('POST', 'deliveries/cancel', { ids: waiting.map(({ id }) => id) });
    const reason = 'the provider’s log shows it';
    const dismissed = await owner.ask('POST', 'deliveries/dismiss', { filter: {}, expected: 2, as: 'sent', reason });
    expect(dismissed.body['parameters']).toEqual({ as: 'sent', reason });
    await run();
    for (const { id } of waiting) expect((await fixture.ledger.get(id))?.state).toBe('CANCELLED');
    for (const { id } of doubtful) {
      expect(await fixture.ledger.get(id)).toMatchObject({
        state: 'SENT',
        detail: `by owner in ${idOf(dismissed)}: ${reason}`,
      });
    }
  });
});

describe('A job', () => {
  it('processes each item once, wherever its runner is killed', async () => {
    for (const reached of [false, true]) {
      for (let at = 1; ; at += 1) {
        const failed = await fixture.deliver(45);
        const begun = await owner.ask('POST', 'deliveries/resend', { ids: failed.map(({ id }) => id) });
        const wire = mortalWire({ at, reached });
        await run(fixture.runner(owner, wire));
        const wasKilled = wire.writes() >= at;
        // Its lease keeps others away, until nobody has heard of it for too long.
        owner.clock.pass(20_000);
        await run();
        expect(await jobAt(idOf(begun)), `write ${at}`).toMatchObject({ state: 'done', done: 45, failed: 0 });
        for (const { id } of failed) expect(await storyOf(id, 'operator_resend'), `write ${at}`).toHaveLength(1);
        const told = new Set((await auditOf('delivery.resend')).map(({ target }) => target));
        expect(failed.every(({ id }) => told.has(id))).toBe(true);
        expect((await auditOf('job.end')).some(({ target }) => target === idOf(begun))).toBe(true);
        if (!wasKilled) break;
        // Every place of the first batch, and then some.
        at += at > 8 ? 24 : 0;
      }
    }
  });

  it('is run by one runner; two concurrent runners process each item once', async () => {
    const failed = await fixture.deliver(120);
    const begun = await owner.ask('POST', 'deliveries/resend', { ids: failed.map(({ id }) => id) });
    const [first, second] = [fixture.runner(owner), fixture.runner(owner)];
    await Promise.all([first.round(), second.round()]);
    // The clock of the second one is ahead: it takes over what the first one works on.
    owner.clock.pass(20_000);
    await second.round();
    await Promise.all([first.idle(), second.idle()]);
    await run();
    expect(await jobAt(idOf(begun))).toMatchObject({ state: 'done', done: 120, failed: 0 });
    for (const { id } of failed) expect(await storyOf(id, 'operator_resend')).toHaveLength(1);
  });

  it('continues where a stopped runner left it, without waiting for the lease', async () => {
    const failed = await fixture.deliver(200);
    const begun = await owner.ask('POST', 'deliveries/resend', { ids: failed.map(({ id }) => id) });
    const first = fixture.runner(owner);
    await first.round();
    await first.end();
    const left = await jobAt(idOf(begun));
    expect(left['ended_at']).toBeNull();
    await run();
    expect(await jobAt(idOf(begun))).toMatchObject({ state: 'done', done: 200 });
  });

  it('starts even if another workspace started many jobs before', async () => {
    const own = await fixture.deliver(5);
    for (const { id } of own) await owner.ask('POST', 'deliveries/resend', { ids: [id] });
    const [other] = await fixture.deliver(1, { state: 'FAILED', slot: { workspace: 'club' } });
    const begun = await owner.ask('POST', '/v1/workspaces/club/deliveries/resend', { ids: [other?.id] });
    const runner = fixture.runner(owner);
    await run(runner);
    const club = await owner.ask('GET', `/v1/workspaces/club/jobs/${idOf(begun)}`);
    expect(club.body).toMatchObject({ state: 'done', done: 1 });
    const states = async () => Promise.all(own.map(async ({ id }) => (await fixture.ledger.get(id))?.state));
    expect((await states()).filter((state) => state === 'WAITING')).toHaveLength(2);
    await run(runner);
    await run(runner);
    expect(await states()).toEqual(own.map(() => 'WAITING'));
  });

  it('waits during an outage of a store without failing items', async () => {
    const failed = await fixture.deliver(10);
    const begun = await owner.ask('POST', 'deliveries/resend', { ids: failed.map(({ id }) => id) });
    await run(fixture.runner(owner, mortalWire({ at: 2, reached: false })));
    expect(await jobAt(idOf(begun))).toMatchObject({ state: 'running', failed: 0, failures: [] });
    expect(fixture.troubles.length).toBeGreaterThan(0);
    owner.clock.pass(20_000);
    await run();
    expect(await jobAt(idOf(begun))).toMatchObject({ state: 'done', done: 10, failed: 0 });
  });

  it('stops on cancel: immediately before its start, later after the running items', async () => {
    const failed = await fixture.deliver(200);
    const ids = failed.map(({ id }) => id);
    const waiting = await owner.ask('POST', 'deliveries/resend', { ids });
    const ended = await owner.ask('POST', `jobs/${idOf(waiting)}/cancel`, {});
    expect(ended.body).toMatchObject({ state: 'cancelled', done: 0, cancelled_by: { id: 'owner' } });
    expect((await owner.ask('POST', `jobs/${idOf(waiting)}/cancel`, {})).status).toBe(409);
    const running = await owner.ask('POST', 'deliveries/resend', { ids });
    const runner = fixture.runner(owner);
    await runner.round();
    expect((await owner.ask('POST', `jobs/${idOf(running)}/cancel`, {})).status).toBe(200);
    await runner.idle();
    const stopped = await jobAt(idOf(running));
    expect(stopped['state']).toBe('cancelled');
    expect(Number(stopped['done'])).toBeLessThan(200);
    const resent = (await Promise.all(ids.map((id) => storyOf(id, 'operator_resend')))).flat();
    expect(resent).toHaveLength(Number(stopped['done']));
  });

  it.each([
    ['is disabled', (person: Person): Person => ({ ...person, state: 'disabled' })],
    [
      'loses the role',
      (person: Person): Person => ({ ...person, memberships: [{ workspace: 'shop', role: 'viewer' }] }),
    ],
  ])('ends before the next batch if the person who started it %s, and audits that', async (_what, change) => {
    const directory = createDirectory({ ...owner, people: fixture.people, ids: givenIds });
    const memberships = [{ workspace: 'shop', role: 'operator' }] as const;
    const { id: adaId } = await directory.addPerson({ name: 'Ada', email: null, memberships, passwordHash: null });
    const ada = await fixture.as(personWith(adaId, ['read', 'operate'], 'shop'), owner);
    const failed = await fixture.deliver(200);
    const begun = await ada.ask('POST', 'deliveries/resend', { ids: failed.map(({ id }) => id) });
    // The first writes take the job and the first deliveries of its first batch.
    await run(
      fixture.runner(
        owner,
        interruptedWire(5, () => directory.changePerson(adaId, change)),
      ),
    );
    const ended = await jobAt(idOf(begun));
    expect(ended).toMatchObject({
      state: 'cancelled',
      cancelled_by: { kind: 'system' },
      cancelled_because: 'rights_lost',
    });
    expect(ended['done']).toBe(40);
    const resent = (await Promise.all(failed.map(({ id }) => storyOf(id, 'operator_resend')))).flat();
    expect(resent).toHaveLength(Number(ended['done']));
    const [end] = await auditOf('job.end');
    expect(end).toMatchObject({
      target: idOf(begun),
      actor: { id: adaId },
      outcome: 'refused',
      code: 'forbidden_role',
    });
  });

  it('that was cancelled before its runner crashed is ended by the next runner', async () => {
    const failed = await fixture.deliver(200);
    const begun = await owner.ask('POST', 'deliveries/resend', { ids: failed.map(({ id }) => id) });
    await run(fixture.runner(owner, mortalWire({ at: 60, reached: true })));
    await owner.ask('POST', `jobs/${idOf(begun)}/cancel`, {});
    const before = (await jobAt(idOf(begun)))['done'];
    owner.clock.pass(20_000);
    await run();
    expect(await jobAt(idOf(begun))).toMatchObject({ state: 'cancelled', done: before });
  });

  it('is visible to readers of its workspace, and cancelled by those who may start it', async () => {
    const [failed] = await fixture.deliver(1);
    const begun = await owner.ask('POST', 'deliveries/resend', { ids: [failed?.id] });
    const viewer = await fixture.as(personWith('vera', ['read'], 'shop'), owner);
    expect((await viewer.ask('GET', `jobs/${idOf(begun)}`)).status).toBe(200);
    expect((await viewer.ask('POST', `jobs/${idOf(begun)}/cancel`, {})).status).toBe(403);
    const editor = await fixture.as(personWith('ed', ['read', 'configure'], 'shop'), owner);
    const refused = await editor.ask('POST', `jobs/${idOf(begun)}/cancel`, {});
    expect(refused.body).toMatchObject({ status: 403, code: 'forbidden_role' });
    const stranger = await fixture.as(personWith('sam', ['read', 'operate'], 'club'), owner);
    const [foreign, missing] = [
      await stranger.ask('GET', `/v1/workspaces/club/jobs/${idOf(begun)}`),
      await stranger.ask('GET', '/v1/workspaces/club/jobs/job_none'),
    ];
    expect([foreign.status, missing.status]).toEqual([404, 404]);
    expect((await stranger.ask('GET', '/v1/workspaces/-/jobs')).body['items']).toEqual([]);
  });

  it('writes a backup of the deployment once, invisible to members of a workspace', async () => {
    expect((await owner.ask('POST', '/v1/backups', { file: 'relative' })).status).toBe(400);
    const begun = await owner.ask('POST', '/v1/backups', { file: '/nowhere/b.carillon' });
    expect(begun.headers['location']).toBe(`/v1/workspaces/-/jobs/${idOf(begun)}`);
    expect(begun.body).toMatchObject({ workspace: null, of: 1, parameters: { file: '/nowhere/b.carillon' } });
    await run();
    expect(fixture.backups).toEqual(['/nowhere/b.carillon']);
    expect((await owner.ask('GET', `/v1/workspaces/-/jobs/${idOf(begun)}`)).body['state']).toBe('done');
    expect((await owner.ask('GET', 'jobs')).body['items']).toEqual([]);
  });

  it('is deleted thirty days after its end', async () => {
    const [failed] = await fixture.deliver(1);
    const begun = await owner.ask('POST', 'deliveries/resend', { ids: [failed?.id] });
    await run();
    owner.clock.pass(30 * 24 * 3_600_000);
    await run();
    expect((await jobAt(idOf(begun)))['id']).toBe(idOf(begun));
    owner.clock.pass(1);
    await run();
    expect(await fixture.jobs.get(idOf(begun) as JobId)).toBeNull();
  });
});
