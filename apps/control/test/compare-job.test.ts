import { newJob } from '@carillon/domain/jobs';
import { OWNER_ACTOR } from '@carillon/domain/people';
import { NO_READ_COUNTS, type Run } from '@carillon/domain/runs';
import { CarillonError, type DeliveryId, type EventId, type JobId, type LogId, type RunId } from '@carillon/kernel';
import type { ComparedSlot } from '@carillon/stages';
import { freshName, untilFound } from '@carillon/testing';
import { neverYield } from '@carillon/testing/given';
import { createDirectWire } from '@carillon/testing/memory';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deploymentOwner } from '../src/access/principal.ts';
import type { ComparisonResult, HistoryComparison } from '../src/index.ts';
import { removeRuns } from '../src/runs/remove-runs.ts';
import { personWith } from './control-fixture.ts';
import { openJobsFixture, type JobsFixture } from './jobs-fixture.ts';

const DAY = 86_400_000;
const RESULT: ComparisonResult = { checksum: 'c'.repeat(64), counts: { ...NO_READ_COUNTS, events: 3 }, unchanged: [] };

let fixture: JobsFixture;
let owner: Awaited<ReturnType<JobsFixture['as']>>;
beforeEach(async () => {
  fixture = await openJobsFixture();
  owner = await fixture.as(deploymentOwner('session'));
  await fixture.publishShop(owner);
});
afterEach(() => fixture.close());

/** Stores a run with its job, as the start of a run does. */
async function givenRun(): Promise<Run> {
  const now = owner.clock.now();
  const run: Run = {
    id: freshName('run_') as RunId,
    workspace: 'shop',
    kind: 'compare',
    by: OWNER_ACTOR,
    from: 0,
    to: now,
    logStartsAt: null,
    logId: 'log_1' as LogId,
    offsets: [{ partition: 0, first: 0, end: 3 }],
    before: 0,
    published: 0,
    changes: [],
    notifications: ['order-paid'],
    notCompared: [],
    leftOut: [],
    progress: { read: 0, total: 3 },
    counts: null,
    checksum: null,
    job: freshName('job_') as JobId,
    createdAt: now,
    version: 1,
  };
  await fixture.runs.insert(run, []);
  const facts = {
    id: run.job,
    workspace: 'shop',
    work: { action: 'compare_history', run: run.id },
    by: OWNER_ACTOR,
    byName: 'owner',
    from: { address: '127.0.0.1', userAgent: null },
    requestId: 'req_1',
    of: 1,
  };
  await fixture.jobs.insert(newJob(facts, now), [run.id]);
  return run;
}

const slotOf = (facts: Partial<ComparedSlot>): ComparedSlot => ({
  slot: freshName('dlv') as DeliveryId,
  difference: 'added',
  oldSlot: null,
  ruleId: 'rul_1',
  rule: 'order-paid.paid',
  channel: 'email',
  eventId: 'evt_1' as EventId,
  position: 'carillon.events/0@1',
  at: 0,
  day: '1970-01-01',
  person: freshName('person'),
  ...facts,
});

/** A comparison that does what the test says, and the runs that it was asked to forget. */
function scripted(compare: HistoryComparison['compare'], known: readonly string[] = []) {
  const forgotten: string[] = [];
  const comparison: HistoryComparison = {
    compare,
    forget: async ({ id }) => void forgotten.push(id),
    known: async () => known,
  };
  return { comparison, forgotten };
}

/** Rejects with the reason of `stop` as soon as it is aborted. */
function untilStopped(stop: AbortSignal): Promise<never> {
  stop.throwIfAborted();
  return new Promise((_resolve, reject) => stop.addEventListener('abort', () => reject(stop.reason)));
}

const runnerWith = (comparison: HistoryComparison) =>
  fixture.runner(owner, createDirectWire(), neverYield, { comparison });
const stateOf = async ({ job }: Run) => (await fixture.jobs.get(job))?.state;

describe('A job that compares history', () => {
  it('stores the rows with what the ledger knows, and the counts', async () => {
    const [sent] = await fixture.deliver(1, { state: 'SENT' });
    if (!sent) throw new Error('nothing was delivered');
    const run = await givenRun();
    const slots = [slotOf({ slot: sent.id }), slotOf({}), slotOf({ difference: 'removed' })];
    const position = 'carillon.events/0@2';
    const lookup = { eventId: 'evt_2' as EventId, position, at: 0, rule: 'order-paid.asked', userIds: 3 };
    const { comparison, forgotten } = scripted(async (_run, _edit, reports) => {
      // The first process ends after its first slots.
      await reports.begin();
      await reports.slots(slots.slice(0, 2));
      await reports.lookups([lookup]);
      await reports.begin();
      await reports.progress({ read: 2, total: 3 }, NO_READ_COUNTS);
      await reports.slots(slots);
      await reports.lookups([lookup]);
      return { ...RESULT, unchanged: [['order-paid.paid', 2]] };
    });
    const runner = runnerWith(comparison);
    await runner.round();
    await runner.idle();
    expect(await fixture.runs.get(run.id)).toMatchObject({
      checksum: RESULT.checksum,
      progress: { read: 3, total: 3 },
      counts: {
        read: { events: 3 },
        rows: {
          differences: { added: 2, removed: 1, unchanged: 2 },
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
  });

  it('is taken only while no other one is under way, and takes no place of other jobs', async () => {
    const runs = [await givenRun(), await givenRun()];
    const { promise: ended, resolve: end } = Promise.withResolvers<ComparisonResult>();
    const runner = runnerWith(scripted(() => ended).comparison);
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

  it('leaves room for other jobs however many runs wait', async () => {
    for (let count = 0; count < 101; count += 1) await givenRun();
    const [failed] = await fixture.deliver(1);
    if (!failed) throw new Error('nothing was delivered');
    const { body } = await owner.ask('POST', 'deliveries/resend', { ids: [failed.id] });
    const { promise: ended, resolve: end } = Promise.withResolvers<ComparisonResult>();
    const runner = runnerWith(scripted(() => ended).comparison);
    await runner.round();
    await untilFound('the resend is done', async () => {
      const job = await fixture.jobs.get(String(body['id']) as JobId);
      return job?.state === 'done' ? true : undefined;
    });
    end(RESULT);
    await runner.idle();
  });

  it('is refused if its workspace has five that have not ended', async () => {
    const asker = await fixture.as(deploymentOwner('session'), { comparison: scripted(async () => RESULT).comparison });
    await fixture.publishShop(asker);
    const runs = [];
    for (let count = 0; count < 5; count += 1) runs.push(await givenRun());
    const refused = await asker.ask('POST', 'runs', {});
    expect(refused).toMatchObject({ status: 409, body: { code: 'wrong_state' } });
    expect(refused.body['detail']).toMatch(/wait until a run ends, or cancel a run/);
    await owner.ask('POST', `jobs/${runs[0]?.job}/cancel`, {});
    expect((await asker.ask('POST', 'runs', {})).body['code']).not.toBe('wrong_state');
  });

  it('ends the comparison soon after it was cancelled, and deletes its rows and what it has on the disk', async () => {
    const run = await givenRun();
    const { comparison, forgotten } = scripted(async (_run, _edit, reports, stop) => {
      await reports.begin();
      await reports.slots([slotOf({})]);
      return untilStopped(stop);
    });
    const runner = runnerWith(comparison);
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
    expect((await fixture.runs.rows({ run: run.id }, 10)).items).toEqual([]);
  });

  it('leaves the run to the next runner if its own ends', async () => {
    const run = await givenRun();
    const { comparison, forgotten } = scripted(async (_run, _edit, _reports, stop) => untilStopped(stop));
    const runner = runnerWith(comparison);
    await runner.round();
    await untilFound('it is worked on', async () => ((await stateOf(run)) === 'running' ? true : undefined));
    await runner.end();
    expect(forgotten).toEqual([]);
    const next = runnerWith(scripted(async () => RESULT).comparison);
    await next.round();
    await next.idle();
    expect(await stateOf(run)).toBe('done');
  });

  it('is taken at once after its process was killed, by a process that is alone', async () => {
    const run = await givenRun();
    const { promise: killed, resolve: end } = Promise.withResolvers<ComparisonResult>();
    await runnerWith(scripted(() => killed).comparison).round();
    await untilFound('it is worked on', async () => ((await stateOf(run)) === 'running' ? true : undefined));
    const { comparison } = scripted(async () => RESULT);
    const next = fixture.runner(owner, createDirectWire(), neverYield, { comparison }, true);
    await next.round();
    await next.idle();
    expect(await stateOf(run)).toBe('done');
    end(RESULT);
  });

  it('fails with the reason of the comparison', async () => {
    const run = await givenRun();
    const { comparison, forgotten } = scripted(() => Promise.reject(new CarillonError('no_room', 'the disk is full')));
    const runs: typeof fixture.runs = {
      ...fixture.runs,
      // A full disk takes no write until the scratch file is deleted.
      async removeRows(id) {
        if (forgotten.length === 0) throw new CarillonError('store_unavailable', 'the disk is full');
        return fixture.runs.removeRows(id);
      },
    };
    const runner = fixture.runner(owner, createDirectWire(), neverYield, { comparison, runs });
    await runner.round();
    await runner.idle();
    expect((await owner.ask('GET', `runs/${run.id}`)).body).toMatchObject({
      state: 'failed',
      reason: { code: 'no_room', detail: 'the disk is full' },
    });
  });
});

describe('The messages of a run', () => {
  it('are refused until the run is done, as a page, as CSV and one by one', async () => {
    const run = await givenRun();
    const { promise: ended, resolve: end } = Promise.withResolvers<ComparisonResult>();
    const runner = runnerWith(
      scripted(async (_run, _edit, reports) => {
        await reports.begin();
        await reports.slots([slotOf({})]);
        return ended;
      }).comparison,
    );
    await runner.round();
    await untilFound('a row is stored', async () => (await fixture.runs.rows({ run: run.id }, 1)).items[0]);
    const refused = { status: 409, body: { code: 'run_unfinished' } };
    expect(await owner.ask('GET', `runs/${run.id}/rows`)).toMatchObject(refused);
    expect(await owner.ask('GET', `runs/${run.id}/rows/export`)).toMatchObject(refused);
    expect(await owner.ask('GET', `runs/${run.id}/rows/${slotOf({}).slot}`)).toMatchObject(refused);
    end(RESULT);
    await runner.idle();
    const csv = await owner.control.app.inject({ url: `/v1/workspaces/shop/runs/${run.id}/rows/export` });
    expect(csv.statusCode).toBe(200);
  });

  it('are opened one by one by people who may see contents only', async () => {
    const run = await givenRun();
    const compared = slotOf({});
    const runner = runnerWith(
      scripted(async (_run, _edit, reports) => {
        await reports.begin();
        await reports.slots([compared]);
        return RESULT;
      }).comparison,
    );
    await runner.round();
    await runner.idle();
    const { slot } = compared;
    const path = `runs/${run.id}/rows/${slot}`;
    expect(await owner.ask('GET', path)).toMatchObject({ status: 200, body: { row: { slot }, before: null } });
    expect(await owner.ask('GET', `runs/${run.id}/rows/dlv_none`)).toMatchObject({ status: 404 });
    const viewer = await fixture.as(personWith('vera', ['read'], 'shop'));
    expect(await viewer.ask('GET', path)).toMatchObject({ status: 403 });
  });

  it('are removed if the run was cancelled after its process was killed', async () => {
    const run = await givenRun();
    await fixture.runs.addRows([
      { ...slotOf({}), difference: 'added', run: run.id, slotState: 'none', slotReason: null },
    ]);
    await owner.ask('POST', `jobs/${run.job}/cancel`, {});
    const { comparison, forgotten } = scripted(async () => RESULT, [run.id]);
    await removeRuns(owner.clock.now(), { runs: fixture.runs, jobs: fixture.jobs, comparison });
    expect(forgotten).toEqual([run.id]);
    expect((await fixture.runs.rows({ run: run.id }, 10)).items).toEqual([]);
  });
});

describe('A run whose job was never stored', () => {
  it('waits for a minute, and then is shown as failed and ended', async () => {
    const run: Run = { ...(await givenRun()), id: freshName('run_') as RunId, job: freshName('job_') as JobId };
    await fixture.runs.insert(run, []);
    const shown = async () => (await owner.ask('GET', `runs/${run.id}`)).body;
    expect(await shown()).toMatchObject({ state: 'waiting', ended_at: null, reason: null });
    owner.clock.pass(60_000);
    expect(await shown()).toMatchObject({
      state: 'failed',
      ended_at: new Date(run.createdAt + 60_000).toISOString(),
      reason: { code: 'internal' },
    });
  });
});

describe('Runs that are kept no longer', () => {
  it('are removed some hundred rows at a time, so that other jobs begin meanwhile', async () => {
    const run: Run = { ...(await givenRun()), id: freshName('run_') as RunId, job: freshName('job_') as JobId };
    await fixture.runs.insert(run, []);
    const rows = Array.from({ length: 1_100 }, () => slotOf({}));
    const facts = { run: run.id, difference: 'added', slotState: 'none', slotReason: null } as const;
    await fixture.runs.addRows(rows.map((row) => ({ ...row, ...facts })));
    const ports = { runs: fixture.runs, jobs: fixture.jobs, comparison: null };
    const later = owner.clock.now() + 31 * DAY;
    const left = async () => (await fixture.runs.rows({ run: run.id }, 2_000)).items.length;
    expect(await removeRuns(later, ports)).toBe(false);
    expect(await left()).toBe(600);
    expect(await removeRuns(later, ports)).toBe(false);
    expect(await removeRuns(later, ports)).toBe(true);
    expect(await left()).toBe(0);
    expect(await fixture.runs.get(run.id)).toBeNull();
  });

  it('are deleted with their rows after their job, and scratch files after the end of theirs', async () => {
    const run = await givenRun();
    await fixture.runs.addRows([
      { ...slotOf({}), difference: 'added', run: run.id, slotState: 'none', slotReason: null },
    ]);
    const { comparison, forgotten } = scripted(async () => RESULT, ['run_gone', run.id]);
    const ports = { runs: fixture.runs, jobs: fixture.jobs, comparison };
    const later = owner.clock.now() + 31 * DAY;
    await removeRuns(later, ports);
    expect(forgotten).toEqual(['run_gone']);
    expect(await fixture.runs.get(run.id)).not.toBeNull();
    const runner = runnerWith(scripted(async () => RESULT).comparison);
    await runner.round();
    await runner.idle();
    expect(await fixture.jobs.removeEnded(later, 10)).toBe(1);
    await removeRuns(later, ports);
    expect(await fixture.runs.get(run.id)).toBeNull();
    expect((await fixture.runs.rows({ run: run.id }, 10)).items).toEqual([]);
  });
});
