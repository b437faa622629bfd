import { CarillonError, type EventId, type JobId } from '@carillon/kernel';
import { MAX_RUN_ROWS, NO_READ_COUNTS, type CompareRun } from '@carillon/domain/runs';
import { untilFound } from '@carillon/testing';
import { neverYield } from '@carillon/testing/given';
import { createDirectWire } from '@carillon/testing/memory';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deploymentOwner } from '../src/access/principal.ts';
import type { RunChild, RunResult } from '../src/index.ts';
import { givenRun, RESULT, scripted, slotOf, untilStopped } from './compare-fixture.ts';
import { openJobsFixture, type JobsFixture } from './jobs-fixture.ts';

let fixture: JobsFixture;
let owner: Awaited<ReturnType<JobsFixture['as']>>;
beforeEach(async () => {
  fixture = await openJobsFixture();
  owner = await fixture.as(deploymentOwner('session'));
  await fixture.publishShop(owner);
});
afterEach(() => fixture.close());

const given = (): Promise<CompareRun> => givenRun(fixture, owner.clock.now());

const runnerWith = (runChild: RunChild) => fixture.runner(owner, createDirectWire(), neverYield, { runChild });
const stateOf = async ({ job }: CompareRun) => (await fixture.jobs.get(job))?.state;

describe('A job that compares history', () => {
  it('stores rows with the state of their deliveries, and the counts', async () => {
    const [sent] = await fixture.deliver(1, { state: 'SENT' });
    if (!sent) throw new Error('nothing was delivered');
    const run = await given();
    const slots = [slotOf({ slot: sent.id }), slotOf({}), slotOf({ difference: 'removed' })];
    const position = 'carillon.events/0@2';
    const lookup = { eventId: 'evt_2' as EventId, position, at: 0, rule: 'order-paid.asked', userIds: 3 };
    const { runChild, forgotten, ended } = scripted(async (_run, _edit, reports) => {
      // The first process ends after its first slots.
      await reports.begin();
      await reports.slots(slots.slice(0, 2));
      await reports.lookups([lookup]);
      await reports.begin();
      await reports.progress({ read: 2, total: 3 }, NO_READ_COUNTS);
      expect(await reports.slots(slots)).toEqual(['notified', 'none', 'none']);
      await reports.lookups([lookup]);
      return { ...RESULT, unchanged: [['order-paid.paid', 2]] };
    });
    const runner = runnerWith(runChild);
    await runner.round();
    await runner.idle();
    expect(await fixture.runs.get(run.id)).toMatchObject({
      checksum: RESULT.checksum,
      progress: { read: 3, total: 3 },
      counts: {
        read: { events: 3 },
        rows: {
          differences: { added: 2, removed: 1, unchanged: 2 },
          people: { added: 2 },
          slotStates: { added: { notified: 1, none: 1 }, removed: { none: 1 } },
        },
      },
    });
    const { items } = await fixture.runs.rows({ run: run.id }, 10);
    expect(items.map(({ slot, slotState }) => [slot, slotState])).toEqual([
      [slots[1]?.slot, 'none'],
      [sent.id, 'notified'],
      [slots[2]?.slot, 'none'],
    ]);
    expect((await fixture.runs.lookups(run.id, 10)).items).toEqual([{ ...lookup, run: run.id }]);
    expect(await stateOf(run)).toBe('done');
    expect(forgotten).toEqual([run.id]);
    expect(ended).toEqual(['done']);
  });

  it('stores at most the maximum number of rows, and counts all', async () => {
    const run = await given();
    const found = MAX_RUN_ROWS + 1;
    let stored = 0;
    const runs: typeof fixture.runs = { ...fixture.runs, addRows: async (rows) => void (stored += rows.length) };
    const batch = Array.from({ length: 500 }, () => slotOf({}));
    const { runChild } = scripted(async (_run, _edit, reports) => {
      await reports.begin();
      for (let sent = 0; sent < found; sent += batch.length) await reports.slots(batch.slice(0, found - sent));
      return RESULT;
    });
    const runner = fixture.runner(owner, createDirectWire(), neverYield, { runChild, runs });
    await runner.round();
    await runner.idle();
    expect(stored).toBe(MAX_RUN_ROWS);
    expect(await fixture.runs.get(run.id)).toMatchObject({ counts: { rows: { differences: { added: found } } } });
  });

  it('starts only while no other comparison runs, and does not take the slot of other jobs', async () => {
    const runs = [await given(), await given()];
    const { promise: ended, resolve: end } = Promise.withResolvers<RunResult<'compare'>>();
    const runner = runnerWith(scripted(() => ended).runChild);
    const failed = await fixture.deliver(3);
    const ids = failed.map(({ id }) => id);
    const resends = [];
    for (const id of ids.slice(0, 2)) resends.push(await owner.ask('POST', 'deliveries/resend', { ids: [id] }));
    await runner.round();
    const jobs = resends.map(({ body }) => String(body['id']) as JobId);
    await untilFound('both resends are done', async () => {
      const states = await Promise.all(jobs.map(async (id) => (await fixture.jobs.get(id))?.state));
      return states.every((state) => state === 'done') ? true : undefined;
    });
    await runner.round();
    expect(await Promise.all(runs.map(stateOf))).toEqual(['running', 'waiting']);
    end(RESULT);
    await runner.idle();
    await runner.round();
    await runner.idle();
    expect(await Promise.all(runs.map(stateOf))).toEqual(['done', 'done']);
  });

  it('leaves capacity for other jobs however many runs wait', async () => {
    for (let count = 0; count < 101; count += 1) await given();
    const [failed] = await fixture.deliver(1);
    if (!failed) throw new Error('nothing was delivered');
    const { body } = await owner.ask('POST', 'deliveries/resend', { ids: [failed.id] });
    const { promise: ended, resolve: end } = Promise.withResolvers<RunResult<'compare'>>();
    const runner = runnerWith(scripted(() => ended).runChild);
    await runner.round();
    await untilFound('the resend is done', async () => {
      const job = await fixture.jobs.get(String(body['id']) as JobId);
      return job?.state === 'done' ? true : undefined;
    });
    end(RESULT);
    await runner.idle();
  });

  it('is refused if its workspace has five unfinished runs', async () => {
    const asker = await fixture.as(deploymentOwner('session'), { runChild: scripted(async () => RESULT).runChild });
    await fixture.publishShop(asker);
    const runs = [];
    for (let count = 0; count < 5; count += 1) runs.push(await given());
    const refused = await asker.ask('POST', 'runs', {});
    expect(refused).toMatchObject({ status: 409, body: { code: 'wrong_state' } });
    expect(refused.body['detail']).toMatch(/wait until a run ends, or cancel a run/);
    await owner.ask('POST', `jobs/${runs[0]?.job}/cancel`, {});
    expect((await asker.ask('POST', 'runs', {})).body['code']).not.toBe('wrong_state');
  });

  it('ends soon after it was cancelled, and deletes its rows and scratch files', async () => {
    const run = await given();
    const { runChild, forgotten, ended } = scripted(async (_run, _edit, reports, stop) => {
      await reports.begin();
      await reports.slots([slotOf({})]);
      return untilStopped(stop);
    });
    const runner = runnerWith(runChild);
    await runner.round();
    await untilFound('it is worked on', async () => ((await stateOf(run)) === 'running' ? true : undefined));
    expect((await owner.ask('POST', `jobs/${run.job}/cancel`, {})).status).toBe(200);
    await runner.idle();
    expect((await owner.ask('GET', `runs/${run.id}`)).body).toMatchObject({
      state: 'cancelled',
      sentence: null,
      reason: { code: 'cancelled', detail: expect.stringContaining('start it again') as unknown },
    });
    expect(forgotten).toEqual([run.id]);
    expect(ended).toEqual(['cancelled']);
    expect((await fixture.runs.rows({ run: run.id }, 10)).items).toEqual([]);
  });

  it('leaves the run to the next runner if its own ends', async () => {
    const run = await given();
    const { runChild, forgotten } = scripted(async (_run, _edit, _reports, stop) => untilStopped(stop));
    const runner = runnerWith(runChild);
    await runner.round();
    await untilFound('it is worked on', async () => ((await stateOf(run)) === 'running' ? true : undefined));
    await runner.end();
    expect(forgotten).toEqual([]);
    const next = runnerWith(scripted(async () => RESULT).runChild);
    await next.round();
    await next.idle();
    expect(await stateOf(run)).toBe('done');
  });

  it('restarts at once in a single-process deployment after its process was killed', async () => {
    const run = await given();
    const { promise: killed, resolve: end } = Promise.withResolvers<RunResult<'compare'>>();
    await runnerWith(scripted(() => killed).runChild).round();
    await untilFound('it is worked on', async () => ((await stateOf(run)) === 'running' ? true : undefined));
    const { runChild } = scripted(async () => RESULT);
    const next = fixture.runner(owner, createDirectWire(), neverYield, { runChild }, true);
    await next.round();
    await next.idle();
    expect(await stateOf(run)).toBe('done');
    end(RESULT);
  });

  it('fails with the reason of the comparison', async () => {
    const run = await given();
    const { runChild, forgotten, ended } = scripted(() =>
      Promise.reject(new CarillonError('no_room', 'the disk is full')),
    );
    const runs: typeof fixture.runs = {
      ...fixture.runs,
      // A full disk takes no write until the scratch file is deleted.
      async removeRows(id) {
        if (forgotten.length === 0) throw new CarillonError('store_unavailable', 'the disk is full');
        return fixture.runs.removeRows(id);
      },
    };
    const runner = fixture.runner(owner, createDirectWire(), neverYield, { runChild, runs });
    await runner.round();
    await runner.idle();
    expect((await owner.ask('GET', `runs/${run.id}`)).body).toMatchObject({
      state: 'failed',
      reason: { code: 'no_room', detail: 'the disk is full' },
    });
    expect(ended).toEqual(['failed']);
  });

  it('deletes its scratch files if the disk is full when it stores a report, and starts over', async () => {
    const run = await given();
    const full = () => Promise.reject(new CarillonError('store_unavailable', 'the disk is full'));
    const { runChild, forgotten, ended } = scripted(async (_run, _edit, reports) => {
      await reports.progress({ read: 1, total: 3 }, NO_READ_COUNTS);
      return RESULT;
    });
    const runs: typeof fixture.runs = {
      ...fixture.runs,
      replace: (next) => (forgotten.length === 0 ? full() : fixture.runs.replace(next)),
    };
    const runner = fixture.runner(owner, createDirectWire(), neverYield, { runChild, runs });
    await runner.round();
    await runner.idle();
    expect(forgotten).toEqual([run.id]);
    expect(ended).toEqual([]);
    await runner.round();
    await runner.idle();
    expect(await stateOf(run)).toBe('done');
    expect(ended).toEqual(['done']);
  });

  it('keeps its scratch file for a later try if the file is not on the disk of the stores', async () => {
    const run = await given();
    let isAway = true;
    const { runChild, forgotten } = scripted(async () => {
      if (isAway) throw new CarillonError('log_unavailable', 'no broker answers');
      return RESULT;
    });
    const runner = runnerWith({ ...runChild, isOnDiskOfStores: false });
    await runner.round();
    await runner.idle();
    expect(forgotten).toEqual([]);
    isAway = false;
    await runner.round();
    await runner.idle();
    expect(await stateOf(run)).toBe('done');
    expect(forgotten).toEqual([run.id]);
  });

  it('deletes its scratch files if its lease cannot be renewed', async () => {
    const run = await given();
    const { runChild, forgotten } = scripted(async (_run, _edit, _reports, stop) => untilStopped(stop));
    let isFull = false;
    const jobs: typeof fixture.jobs = {
      ...fixture.jobs,
      async replace(next) {
        if (isFull) throw new CarillonError('store_unavailable', 'the disk is full');
        return fixture.jobs.replace(next);
      },
    };
    const runner = fixture.runner(owner, createDirectWire(), neverYield, { runChild, jobs });
    await runner.round();
    await untilFound('it is worked on', async () => ((await stateOf(run)) === 'running' ? true : undefined));
    isFull = true;
    await runner.idle();
    expect(forgotten).toEqual([run.id]);
  });
});
