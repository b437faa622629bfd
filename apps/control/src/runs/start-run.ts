import type { Run } from '@carillon/domain/runs';
import { CarillonError, formatInstant, type JobId, type RunId } from '@carillon/kernel';
import type { FastifyRequest } from 'fastify';
import { principalOf } from '../access/principal.ts';
import { audited } from '../audit/facts.ts';
import { startJob } from '../jobs/start.ts';
import { readRange } from '../routes/app.ts';
import type { PrepareRunPorts, RunRequest } from './run-kind.ts';
import { kindOfRun, RUN_KINDS } from './run-kinds.ts';

/** Runs of a workspace that may wait or be under way. */
const MAX_UNFINISHED = 5;

/** Stores a run and the job that executes it. */
export async function startRun(
  request: FastifyRequest,
  workspace: string,
  asked: RunRequest,
  ports: PrepareRunPorts,
): Promise<Run> {
  const kind = kindOfRun(asked);
  await refuseTooMany(workspace, ports);
  const now = ports.clock.now();
  const { since, before: to = now } = readRange(asked, now);
  const { defaultRange } = kind;
  const range = { from: since ?? (defaultRange === null ? 0 : to - defaultRange), to: Math.min(to, now) };
  if (range.from >= now) {
    throw new CarillonError('window_empty', `from: ${formatInstant(range.from)} is in the future`);
  }
  const principal = principalOf(request);
  const prepared = await kind.prepare({ workspace, asked, principal, range }, ports);
  const { offsets, records, logStartsAt } = prepared.range;
  // Kind and own fields come from one value, so they fit.
  const run = {
    ...prepared.own,
    ...range,
    id: ports.ids.random('run') as RunId,
    workspace,
    kind: kind.kind,
    by: principal.actor,
    logStartsAt,
    logId: ports.log.logId,
    offsets,
    published: prepared.published,
    progress: { read: 0, total: records },
    checksum: null,
    job: ports.ids.random('job') as JobId,
    createdAt: now,
    version: 1,
  } as Run;
  await ports.runs.insert(run, prepared.edit);
  if (prepared.sealedText !== undefined) await ports.runs.addText(run.id, prepared.sealedText);
  await startJob(
    request,
    { id: run.job, workspace, work: { action: kind.action, run: run.id }, items: [run.id] },
    ports,
  );
  audited(request, { target: run.id });
  return run;
}

/**
 * Refuses further runs of a workspace above the maximum, because runs are executed one at a time and must not delay
 * other workspaces for hours.
 */
async function refuseTooMany(workspace: string, { jobs }: Pick<PrepareRunPorts, 'jobs'>): Promise<void> {
  const actions = RUN_KINDS.map(({ action }) => action);
  const { items } = await jobs.list({ workspace, states: ['waiting', 'running'], actions }, MAX_UNFINISHED);
  if (items.length < MAX_UNFINISHED) return;
  throw new CarillonError(
    'wrong_state',
    `${MAX_UNFINISHED} runs of this workspace have not ended: wait until a run ends, or cancel a run`,
  );
}
