import { cancelled, hasEnded, nextItem, type Job } from '@carillon/domain/jobs';
import type { Actor } from '@carillon/domain/people';
import type { CompareRun } from '@carillon/domain/runs';
import { CarillonError, type Duration } from '@carillon/kernel';
import { pause } from '@carillon/runtime';
import { readAsking } from '@carillon/stages';
import type { FastifyRequest } from 'fastify';
import { principalOf } from '../access/principal.ts';
import { audited } from '../audit/facts.ts';
import { itemsToUndo } from '../jobs/undo.ts';
import { senderOf, sendMissing } from '../jobs/kinds/send-missing.ts';
import { startJob, type JobPorts } from '../jobs/start.ts';
import type { ControlPorts } from '../ports.ts';
import type { SendMissingPorts } from './send-missing.ts';

export type StopSendingPorts = SendMissingPorts & JobPorts & Pick<ControlPorts, 'tasks'>;

/** Jobs of a workspace that one page of the search for sending jobs reads. */
const PAGE_SIZE = 100;
const END_POLL: Duration = 50;
const MAX_END_POLLS = 200;

export type Stopped = {
  /** Jobs that cancel the deliveries of the sending jobs. */
  readonly undoing: readonly Job[];
  /** Triggers of the sending jobs that their partners have not answered. */
  readonly waitingLookups: number;
};

/**
 * Cancels the jobs that send messages of a run, and starts a job for each that cancels those of its deliveries that still wait. Resolves when
 * the sending jobs append no more. Throws CarillonError `wrong_state` if the run has no sending job, and `conflict` if one does not end.
 */
export async function stopSending(request: FastifyRequest, run: CompareRun, ports: StopSendingPorts): Promise<Stopped> {
  const sending = await sendingJobs(run, ports);
  if (sending.length === 0) throw new CarillonError('wrong_state', `no job has sent messages of ${run.id}`);
  const { actor } = principalOf(request);
  for (const job of sending) await cancelJob(job, actor, ports);
  const ended = await Promise.all(sending.map((job) => waitForEnd(job, ports)));
  const undoing: Job[] = [];
  for (const job of ended) {
    const work = { ...job.work, undoes: job.id };
    const items = await itemsToUndo(job, ports);
    undoing.push(await startJob(request, { workspace: run.workspace, work, items }, ports));
  }
  audited(request, { target: run.id });
  let waitingLookups = 0;
  for (const job of ended) {
    const done = (await ports.jobs.items(job.id)).slice(0, nextItem(job));
    waitingLookups += await countWaiting(job, done, ports);
  }
  return { undoing, waitingLookups };
}

/** Returns the jobs that have sent or are sending messages of a run. */
async function sendingJobs(
  { id, workspace }: CompareRun,
  { jobs }: Pick<StopSendingPorts, 'jobs'>,
): Promise<readonly Job[]> {
  const found: Job[] = [];
  let cursor: string | undefined;
  do {
    const page = await jobs.list({ workspace, actions: [sendMissing.action] }, PAGE_SIZE, cursor);
    found.push(...page.items.filter(({ work }) => work['run'] === id && work['undoes'] === undefined));
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);
  return found;
}

/** Cancels a job if it has not ended. */
async function cancelJob({ id }: Job, by: Actor, { jobs, clock }: JobPorts): Promise<void> {
  for (let job = await jobs.get(id); job; job = await jobs.get(id)) {
    const next = cancelled(job, by, clock.now());
    if (!next || (await jobs.replace(next)) === 'done') return;
  }
}

/** Resolves to the newest state of a job when it has ended. */
async function waitForEnd(job: Job, { jobs }: Pick<StopSendingPorts, 'jobs'>): Promise<Job> {
  for (let polls = 0; polls < MAX_END_POLLS; polls += 1) {
    const newest = (await jobs.get(job.id)) ?? job;
    if (hasEnded(newest)) return newest;
    await pause(END_POLL);
  }
  throw new CarillonError('conflict', `${job.id} is being cancelled and has not ended yet: stop again`);
}

/** Counts the triggers of a sending job that have neither an answer nor been given up. */
export async function countWaiting(job: Job, items: readonly string[], ports: StopSendingPorts): Promise<number> {
  const { claims, slice, tasks } = ports;
  const sender = await senderOf(job, ports);
  let waiting = 0;
  for (const item of items) {
    for (const { id } of await sender.triggersOf(item)) {
      if (await claims.get(id)) continue;
      const task = await tasks.get(id);
      const isGivenUp = task?.done === true && readAsking(task).ended?.kind === 'parked';
      if (!isGivenUp) waiting += 1;
    }
    if (slice.isExpired()) await slice.yield();
  }
  return waiting;
}
