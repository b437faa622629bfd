import { newJob } from '@carillon/domain/jobs';
import { OWNER_ACTOR } from '@carillon/domain/people';
import { NO_READ_COUNTS, noRowCounts, type CompareRun } from '@carillon/domain/runs';
import type { DeliveryId, EventId, Instant, JobId, LogId, RunId } from '@carillon/kernel';
import type { ComparedSlot } from '@carillon/stages';
import { freshName } from '@carillon/testing';
import type { RunChild, RunOrder, RunReports, RunResult } from '../src/index.ts';
import type { JobsFixture } from './jobs-fixture.ts';

export const RESULT: RunResult<'compare'> = {
  checksum: 'c'.repeat(64),
  counts: { ...NO_READ_COUNTS, events: 3 },
  unchanged: [],
  people: { people: { ...noRowCounts().people, added: 2 }, notifiedPeople: noRowCounts().notifiedPeople },
};

/** Stores a run with its job, as the start of a run does. */
export async function givenRun({ runs, jobs }: Pick<JobsFixture, 'runs' | 'jobs'>, now: Instant): Promise<CompareRun> {
  const run: CompareRun = {
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
  await runs.insert(run, []);
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
  await jobs.insert(newJob(facts, now), [run.id]);
  return run;
}

export const slotOf = (facts: Partial<ComparedSlot>): ComparedSlot => ({
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

type Compare = (
  run: CompareRun,
  order: RunOrder<'compare'>,
  reports: RunReports<'compare'>,
  stop: AbortSignal,
) => Promise<RunResult<'compare'>>;

/** A child process that does what the test says, the runs that it was asked to forget, and the results that it counted. */
export function scripted(compare: Compare, known: readonly string[] = []) {
  const forgotten: string[] = [];
  const ended: string[] = [];
  const runChild: RunChild = {
    isOnDiskOfStores: true,
    execute: compare as RunChild['execute'],
    forget: async ({ id }) => void forgotten.push(id),
    known: async () => known,
    ended: (result) => void ended.push(result),
  };
  return { runChild, forgotten, ended };
}

/** Rejects with the reason of `stop` as soon as it is aborted. */
export function untilStopped(stop: AbortSignal): Promise<never> {
  stop.throwIfAborted();
  return new Promise((_resolve, reject) => stop.addEventListener('abort', () => reject(stop.reason)));
}
