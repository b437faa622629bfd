import { cancelled, hasEnded, nextItem, type Job } from '@carillon/domain/jobs';
import type { Actor } from '@carillon/domain/people';
import type { CompareRun } from '@carillon/domain/runs';
import { CarillonError, type Duration } from '@carillon/kernel';
import { pause } from '@carillon/runtime';
import { forEachConcurrently } from '@carillon/stages';
import type { FastifyRequest } from 'fastify';
import { principalOf } from '../access/principal.ts';
import { audited } from '../audit/facts.ts';
import { itemsToUndo } from '../jobs/undo.ts';
import { startJob, type JobPorts } from '../jobs/start.ts';
import type { ControlPorts } from '../ports.ts';
import { askedPartsOf, type QuestionPorts } from './questions.ts';
import { readEventAt } from './row-details.ts';
import { nameOfSendItem, readSendItem } from './send-items.ts';
import { ruleNamed } from './sending-checks.ts';
import { sendingJobs } from './sending-jobs.ts';

export type StopSendingPorts = QuestionPorts & JobPorts & Pick<ControlPorts, 'configuration' | 'log'>;

/** Questions of a job that a stop looks at. The newest are most likely to wait. */
const MAX_COUNTED = 500;
const CONCURRENCY = 16;
const END_POLL: Duration = 50;
const MAX_END_POLLS = 200;

export type Stopped = {
  /** Jobs that cancel the deliveries of the sending jobs. */
  readonly undoing: readonly Job[];
  /** Questions of the sending jobs that their partners have not answered. */
  readonly waitingLookups: number;
  /** Older questions that were not looked at. */
  readonly uncountedLookups: number;
};

/** Questions of a job that wait for their partner, and older ones that were not looked at. */
type WaitingQuestions = { readonly waiting: number; readonly uncounted: number };

/**
 * Cancels the jobs that send messages of a run, and starts a job for each that cancels those of its deliveries that still wait. Resolves when
 * the sending jobs append no more. Throws CarillonError `wrong_state` if the run has no sending job, and `conflict` if one does not end.
 */
export async function stopSending(request: FastifyRequest, run: CompareRun, ports: StopSendingPorts): Promise<Stopped> {
  const sending = (await sendingJobs(run.workspace, ports)).filter(({ work }) => work['run'] === run.id);
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
  let [waitingLookups, uncountedLookups] = [0, 0];
  for (const job of ended) {
    const failed = new Set(job.failures.map(({ item }) => item));
    const done = (await ports.jobs.items(job.id)).slice(0, nextItem(job));
    const asked = done.filter((item) => !failed.has(nameOfSendItem(item)));
    const { waiting, uncounted } = await countWaiting(job, asked, ports);
    waitingLookups += waiting;
    uncountedLookups += uncounted;
  }
  return { undoing, waitingLookups, uncountedLookups };
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

/**
 * Counts the questions of a sending job that their partner has neither answered nor been given up for. Looks at the newest
 * {@link MAX_COUNTED} of `items` only.
 */
export async function countWaiting(
  job: Job,
  items: readonly string[],
  ports: StopSendingPorts,
): Promise<WaitingQuestions> {
  const configuration = await ports.configuration.at(Number(job.work['configuration']));
  const questions = items.map(readSendItem).filter((item) => item.kind === 'question');
  const looked = questions.slice(-MAX_COUNTED);
  let waiting = 0;
  await forEachConcurrently(looked, CONCURRENCY, async ({ position, rule }) => {
    const event = await readEventAt(position, ports);
    const asked = ruleNamed(rule, job.workspace ?? '', configuration);
    if (!event || !asked) return;
    const parts = await askedPartsOf({ ruleId: asked.ruleId, eventId: event.id, askedBy: job.id }, ports);
    if (parts.length === 0 || parts.some(({ state }) => state === 'open')) waiting += 1;
  });
  return { waiting, uncounted: questions.length - looked.length };
}
