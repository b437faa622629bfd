import { cancelled } from '@carillon/domain/jobs';
import { OWNER_ACTOR, SYSTEM_ACTOR, type Actor } from '@carillon/domain/people';
import { NO_READ_COUNTS, noRowCounts, type CompareRun } from '@carillon/domain/runs';
import type { JobId, RunId } from '@carillon/kernel';
import { freshName, untilFound } from '@carillon/testing';
import { neverYield } from '@carillon/testing/given';
import { createDirectWire } from '@carillon/testing/memory';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deploymentOwner } from '../src/access/principal.ts';
import type { RunChild, RunResult } from '../src/index.ts';
import { removeRuns } from '../src/runs/remove-runs.ts';
import { givenRun, RESULT, scripted, slotOf } from './compare-fixture.ts';
import { personWith } from './control-fixture.ts';
import { openJobsFixture, type JobsFixture } from './jobs-fixture.ts';

const DAY = 86_400_000;

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

/** Target and detail of each entry of the audit about contents that were read. */
async function readContents() {
  const records = await fixture.log.read('carillon.audit', 0, 0, 100);
  return records.flatMap(({ value }) => {
    const record = owner.codecs.audit.decode(value);
    const entry = record.ok && record.value.kind === 'entry' ? record.value : null;
    return entry?.what === 'content.read' ? [[entry.target, entry.detail]] : [];
  });
}

describe('The messages of a run', () => {
  it('cannot be read as page, CSV or single message until the run is done', async () => {
    const run = await given();
    const { promise: ended, resolve: end } = Promise.withResolvers<RunResult<'compare'>>();
    const runner = runnerWith(
      scripted(async (_run, _edit, reports) => {
        await reports.begin();
        await reports.slots([slotOf({})]);
        return ended;
      }).runChild,
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

  it('can be opened singly only by people who may see contents', async () => {
    const run = await given();
    const compared = slotOf({});
    const runner = runnerWith(
      scripted(async (_run, _edit, reports) => {
        await reports.begin();
        await reports.slots([compared]);
        return RESULT;
      }).runChild,
    );
    await runner.round();
    await runner.idle();
    const { slot } = compared;
    const path = `runs/${run.id}/rows/${slot}`;
    expect(await owner.ask('GET', path)).toMatchObject({ status: 200, body: { row: { slot }, before: null } });
    expect(await owner.ask('GET', `runs/${run.id}/rows/ada@example.com`)).toMatchObject({ status: 404 });
    expect(await readContents()).toEqual([[run.id, slot]]);
    const viewer = await fixture.as(personWith('vera', ['read'], 'shop'));
    expect(await viewer.ask('GET', path)).toMatchObject({ status: 403 });
  });

  it('are removed if the run was cancelled after its process was killed', async () => {
    const run = await given();
    await fixture.runs.addRows([
      { ...slotOf({}), difference: 'added', run: run.id, slotState: 'none', slotReason: null },
    ]);
    await owner.ask('POST', `jobs/${run.job}/cancel`, {});
    const { runChild, forgotten } = scripted(async () => RESULT, [run.id]);
    await removeRuns(owner.clock.now(), { runs: fixture.runs, jobs: fixture.jobs, runChild });
    expect(forgotten).toEqual([run.id]);
    expect((await fixture.runs.rows({ run: run.id }, 10)).items).toEqual([]);
  });
});

describe('A run that was cancelled', () => {
  /** A run whose rows were counted before its job was cancelled by this actor. */
  async function cancelledRun(by: Actor): Promise<CompareRun> {
    const run = await given();
    const counts = {
      read: NO_READ_COUNTS,
      rows: { ...noRowCounts(), differences: { ...noRowCounts().differences, added: 7 } },
    };
    await fixture.runs.replace({ ...run, counts, checksum: RESULT.checksum, version: 2 });
    const job = await fixture.jobs.get(run.job);
    const ended = job && cancelled(job, by, owner.clock.now());
    if (!ended) throw new Error('the job has not ended');
    await fixture.jobs.replace(ended);
    return run;
  }

  it('has no counts of rows, because its rows are deleted', async () => {
    const run = await cancelledRun(OWNER_ACTOR);
    expect((await owner.ask('GET', `runs/${run.id}`)).body).toMatchObject({
      state: 'cancelled',
      counts: { differences: null, people: null, by_rule: [] },
      reason: { code: 'cancelled', detail: expect.stringMatching(/^somebody cancelled/) as unknown },
    });
  });

  it('names the restore if a restored backup ended it', async () => {
    const run = await cancelledRun(SYSTEM_ACTOR);
    expect((await owner.ask('GET', `runs/${run.id}`)).body).toMatchObject({
      state: 'cancelled',
      reason: { code: 'cancelled', detail: expect.stringMatching(/^a backup was restored/) as unknown },
    });
  });
});

describe('A run whose job was never stored', () => {
  it('waits for a minute, and then is shown as failed and ended', async () => {
    const run: CompareRun = { ...(await given()), id: freshName('run_') as RunId, job: freshName('job_') as JobId };
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

describe('Runs past their retention', () => {
  it('are not found and not listed as soon as their job is deleted', async () => {
    const run = await given();
    const runner = runnerWith(scripted(async () => RESULT).runChild);
    await runner.round();
    await runner.idle();
    owner.clock.pass(30 * DAY);
    const list = async () => (await owner.ask('GET', 'runs')).body;
    expect(await list()).toMatchObject({ items: [{ id: run.id, state: 'done' }] });
    expect(await fixture.jobs.removeEnded(owner.clock.now() - 30 * DAY + 1, 10)).toBe(1);
    expect(await list()).toEqual({ items: [], next: null });
    for (const path of [`runs/${run.id}`, `runs/${run.id}/rows`, `runs/${run.id}/rows/export`]) {
      expect(await owner.ask('GET', path), path).toMatchObject({ status: 404, body: { code: 'not_found' } });
    }
  });

  it('abort a CSV download', async () => {
    const run = await given();
    const { promise: reading, resolve: read } = Promise.withResolvers<void>();
    const { promise: removed, resolve: remove } = Promise.withResolvers<void>();
    const runs: typeof fixture.runs = {
      ...fixture.runs,
      async rows(...asked) {
        read();
        await removed;
        return fixture.runs.rows(...asked);
      },
    };
    const asker = await fixture.as(deploymentOwner('session'), { runs });
    await fixture.publishShop(asker);
    const runner = runnerWith(scripted(async () => RESULT).runChild);
    await runner.round();
    await runner.idle();
    const csv = Promise.resolve(asker.control.app.inject({ url: `/v1/workspaces/shop/runs/${run.id}/rows/export` }));
    await reading;
    asker.clock.pass(31 * DAY);
    await fixture.jobs.removeEnded(asker.clock.now(), 10);
    remove();
    await expect(csv).rejects.toThrow();
  });

  it('are deleted some hundred rows at a time, so that other jobs can start meanwhile', async () => {
    const run: CompareRun = { ...(await given()), id: freshName('run_') as RunId, job: freshName('job_') as JobId };
    await fixture.runs.insert(run, []);
    const rows = Array.from({ length: 1_100 }, () => slotOf({}));
    const facts = { run: run.id, difference: 'added', slotState: 'none', slotReason: null } as const;
    await fixture.runs.addRows(rows.map((row) => ({ ...row, ...facts })));
    const ports = {
      runs: fixture.runs,
      jobs: fixture.jobs,
      runChild: scripted(async () => RESULT).runChild,
    };
    const later = owner.clock.now() + 31 * DAY;
    const left = async () => (await fixture.runs.rows({ run: run.id }, 2_000)).items.length;
    expect(await removeRuns(later, ports)).toBe(false);
    expect(await left()).toBe(600);
    expect(await removeRuns(later, ports)).toBe(false);
    expect(await removeRuns(later, ports)).toBe(true);
    expect(await left()).toBe(0);
    expect(await fixture.runs.get(run.id)).toBeNull();
  });

  it('are deleted with their rows after their job, and their scratch files after the retention of files', async () => {
    const run = await given();
    await fixture.runs.addRows([
      { ...slotOf({}), difference: 'added', run: run.id, slotState: 'none', slotReason: null },
    ]);
    const { runChild, forgotten } = scripted(async () => RESULT, ['run_gone', run.id]);
    const ports = { runs: fixture.runs, jobs: fixture.jobs, runChild };
    const later = owner.clock.now() + 31 * DAY;
    await removeRuns(later, ports);
    expect(forgotten).toEqual(['run_gone']);
    expect(await fixture.runs.get(run.id)).not.toBeNull();
    const runner = runnerWith(scripted(async () => RESULT).runChild);
    await runner.round();
    await runner.idle();
    expect(await fixture.jobs.removeEnded(later, 10)).toBe(1);
    await removeRuns(later, ports);
    expect(await fixture.runs.get(run.id)).toBeNull();
    expect((await fixture.runs.rows({ run: run.id }, 10)).items).toEqual([]);
  });
});
