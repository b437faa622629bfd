import { newJob } from '@carillon/domain/jobs';
import { OWNER_ACTOR } from '@carillon/domain/people';
import { MAX_RUN_ROWS, NO_VERIFY_COUNTS, type Finding, type VerifyRun } from '@carillon/domain/runs';
import type { EventId, JobId, LogId, RunId } from '@carillon/kernel';
import { freshName, untilFound } from '@carillon/testing';
import { neverYield } from '@carillon/testing/given';
import { createDirectWire } from '@carillon/testing/memory';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deploymentOwner } from '../src/access/principal.ts';
import type { RunChild, RunReports, RunResult } from '../src/index.ts';
import { givenRun, scripted as scriptedComparison, untilStopped } from './compare-fixture.ts';
import { personWith } from './control-fixture.ts';
import { openJobsFixture, type JobsFixture } from './jobs-fixture.ts';

let fixture: JobsFixture;
let owner: Awaited<ReturnType<JobsFixture['as']>>;
beforeEach(async () => {
  fixture = await openJobsFixture();
  owner = await fixture.as(deploymentOwner('session'));
  await fixture.publishShop(owner);
});
afterEach(() => fixture.close());

/** Stores a verification with its job, as its start does. */
async function given(): Promise<VerifyRun> {
  const now = owner.clock.now();
  const run: VerifyRun = {
    id: freshName('run_') as RunId,
    workspace: 'shop',
    kind: 'verify',
    by: OWNER_ACTOR,
    from: 0,
    to: now,
    logStartsAt: null,
    logId: 'log_1' as LogId,
    offsets: [{ partition: 0, first: 0, end: 3 }],
    others: [],
    resolved: [],
    notEvaluated: 0,
    published: 0,
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
    work: { action: 'verify_history', run: run.id },
    by: OWNER_ACTOR,
    byName: 'owner',
    from: { address: '127.0.0.1', userAgent: null },
    requestId: 'req_1',
    of: 1,
  };
  await fixture.jobs.insert(newJob(facts, now), [run.id]);
  return run;
}

const findingOf = (id: string): Finding => ({
  problem: 'missing',
  output: 'intent',
  id,
  field: null,
  rule: 'order-paid.paid',
  eventId: 'evt_1' as EventId,
  eventPosition: 'carillon.events/0@1',
  position: null,
});
const RESULT: RunResult<'verify'> = {
  checksum: 'c'.repeat(64),
  counts: { ...NO_VERIFY_COUNTS, events: 3, same: 1, problems: { missing: 2, no_cause: 0, different: 0 } },
};

type Verify = (reports: RunReports<'verify'>, stop: AbortSignal) => Promise<RunResult<'verify'>>;
const scripted = (verify: Verify) =>
  scriptedComparison(((_run: unknown, _order: unknown, reports: RunReports<'verify'>, stop: AbortSignal) =>
    verify(reports, stop)) as never);
const runnerWith = (runChild: RunChild, isAlone = false) =>
  fixture.runner(owner, createDirectWire(), neverYield, { runChild }, isAlone);
const stateOf = async ({ job }: VerifyRun) => (await fixture.jobs.get(job))?.state;
const untilRunning = (run: VerifyRun) =>
  untilFound('it is worked on', async () => ((await stateOf(run)) === 'running' ? true : undefined));
const findingsOf = async ({ id }: VerifyRun) =>
  (await fixture.runs.findings(id, 10)).items.map((finding) => finding.id);

async function work(runChild: RunChild): Promise<void> {
  const runner = runnerWith(runChild);
  await runner.round();
  await runner.idle();
}

describe('A job that verifies history', () => {
  it('stores counts, and each finding once although its process restarted', async () => {
    const run = await given();
    const { runChild, forgotten, ended } = scripted(async (reports) => {
      await reports.begin();
      await reports.findings([findingOf('int_1')]);
      await reports.begin();
      await reports.progress({ read: 2, total: 3 }, NO_VERIFY_COUNTS);
      await reports.findings([findingOf('int_1')]);
      await reports.findings([findingOf('int_2')]);
      return RESULT;
    });
    await work(runChild);
    expect(await fixture.runs.get(run.id)).toMatchObject({ ...RESULT, progress: { read: 3, total: 3 } });
    expect(await findingsOf(run)).toEqual(['int_1', 'int_2']);
    expect([await stateOf(run), forgotten, ended]).toEqual(['done', [run.id], ['done']]);
    expect((await owner.ask('GET', `runs/${run.id}`)).body).toMatchObject({
      kind: 'verify',
      verified: { events: 3, same: 1, missing: 2 },
      counts: null,
    });
  });

  it('stores at most the maximum number of findings, and gives their total', async () => {
    const run = await given();
    const missing = MAX_RUN_ROWS + 1;
    const stored: number[] = [];
    const runs: typeof fixture.runs = {
      ...fixture.runs,
      addFindings: async (findings) => void stored.push(...findings.map(({ number }) => number)),
    };
    const batch = Array.from({ length: 500 }, () => findingOf('int_1'));
    const { runChild } = scripted(async (reports) => {
      await reports.begin();
      for (let sent = 0; sent < missing; sent += batch.length) await reports.findings(batch.slice(0, missing - sent));
      return { ...RESULT, counts: { ...RESULT.counts, problems: { missing, no_cause: 0, different: 0 } } };
    });
    const runner = fixture.runner(owner, createDirectWire(), neverYield, { runChild, runs });
    await runner.round();
    await runner.idle();
    expect([stored.length, stored.at(0), stored.at(-1)]).toEqual([MAX_RUN_ROWS, 0, MAX_RUN_ROWS - 1]);
    const { notes } = (await owner.ask('GET', `runs/${run.id}`)).body as { readonly notes: readonly string[] };
    expect(notes.join(' ')).toContain(`the first ${MAX_RUN_ROWS} of ${missing} findings`);
  });

  it('ends soon after it was cancelled, and deletes its findings and scratch files', async () => {
    const run = await given();
    const { runChild, forgotten, ended } = scripted(async (reports, stop) => {
      await reports.begin();
      await reports.findings([findingOf('int_1')]);
      return untilStopped(stop);
    });
    const runner = runnerWith(runChild);
    await runner.round();
    await untilRunning(run);
    expect((await owner.ask('POST', `jobs/${run.job}/cancel`, {})).status).toBe(200);
    await runner.idle();
    expect((await owner.ask('GET', `runs/${run.id}`)).body).toMatchObject({
      state: 'cancelled',
      sentence: null,
      reason: { code: 'cancelled', detail: expect.stringContaining('cancelled the verification') as unknown },
    });
    expect([await findingsOf(run), forgotten, ended]).toEqual([[], [run.id], ['cancelled']]);
  });

  it('is continued with the same findings after its control process was killed', async () => {
    const run = await given();
    const { promise: killed, resolve: end } = Promise.withResolvers<RunResult<'verify'>>();
    const first = scripted(async (reports) => {
      await reports.begin();
      await reports.findings([findingOf('int_1'), findingOf('int_2')]);
      return killed;
    });
    await runnerWith(first.runChild).round();
    await untilFound('findings are stored', async () => ((await findingsOf(run)).length === 2 ? true : undefined));
    const second = scripted(async (reports) => {
      await reports.begin();
      await reports.findings([findingOf('int_1'), findingOf('int_2')]);
      return RESULT;
    });
    const next = runnerWith(second.runChild, true);
    await next.round();
    await next.idle();
    expect([await stateOf(run), await findingsOf(run)]).toEqual(['done', ['int_1', 'int_2']]);
    end(RESULT);
  });
});

describe('The findings of a verification', () => {
  it('can be read by people who may start a verification, once it is done, and reading is audited', async () => {
    const run = await given();
    const path = `runs/${run.id}/findings`;
    expect(await owner.ask('GET', path)).toMatchObject({ status: 409, body: { code: 'run_unfinished' } });
    await work(
      scripted(async (reports) => {
        await reports.begin();
        await reports.findings([findingOf('int_1')]);
        return RESULT;
      }).runChild,
    );
    expect(await owner.ask('GET', path)).toMatchObject({
      status: 200,
      body: { items: [{ id: 'int_1', problem: 'missing', event_position: 'carillon.events/0@1' }], next: null },
    });
    const viewer = await fixture.as(personWith('vera', ['read', 'bodies'], 'shop'));
    expect(await viewer.ask('GET', path)).toMatchObject({ status: 403 });
    const entries = (await fixture.log.read('carillon.audit', 0, 0, 100)).flatMap(({ value }) => {
      const record = owner.codecs.audit.decode(value);
      return record.ok && record.value.kind === 'entry' ? [record.value] : [];
    });
    expect(entries.filter(({ what }) => what === 'content.read')).toMatchObject([{ target: run.id, outcome: 'done' }]);
  });

  it('are refused for a run of another kind', async () => {
    const run = await givenRun(fixture, owner.clock.now());
    expect(await owner.ask('GET', `runs/${run.id}/findings`)).toMatchObject({
      status: 409,
      body: { code: 'wrong_state', detail: expect.stringContaining('only a verification has findings') as unknown },
    });
  });
});
