import type { Job } from '@carillon/domain/jobs';
import { isRunOf, type CompareRun, type Run } from '@carillon/domain/runs';
import { CarillonError, type RunId } from '@carillon/kernel';
import type { RoutePorts } from '../ports.ts';
import { notFound } from '../routes/app.ts';
import { kindOfRun } from './run-kinds.ts';
import { isBeingRemoved } from './show-run.ts';

/** A run with its job. The job is null if it was never stored. */
export type FoundRun = { readonly run: Run; readonly job: Job | null };
type FindRunPorts = Pick<RoutePorts, 'clock' | 'jobs' | 'runs'>;

/** Returns a run with its job, or null if the run is kept no longer. */
export async function withJob(run: Run, { jobs, clock }: FindRunPorts): Promise<FoundRun | null> {
  const job = await jobs.get(run.job);
  return isBeingRemoved(run, job, clock.now()) ? null : { run, job };
}

/**
 * Returns the run of a path. Rejects with CarillonError `not_found`, also for a run of another workspace and for a run that is kept no
 * longer.
 */
export async function findRun(
  { workspace, id }: { readonly workspace: string; readonly id: string },
  ports: FindRunPorts,
): Promise<FoundRun> {
  const run = await ports.runs.get(id as RunId);
  const found = run?.workspace === workspace ? await withJob(run, ports) : null;
  if (found) return found;
  throw notFound(`run ${id} in workspace ${workspace}`);
}

/** Returns the comparison that the path of a request names. Rejects with the errors of `findRun`, and with CarillonError `wrong_state` for a run of another kind. */
export async function findComparison(
  ...[path, ports]: Parameters<typeof findRun>
): Promise<FoundRun & { readonly run: CompareRun }> {
  const { run, job } = await findRun(path, ports);
  if (isRunOf(run, 'compare')) return { run, job };
  const { noun } = kindOfRun(run);
  throw new CarillonError('wrong_state', `${path.id} is a ${noun}, and only a comparison has messages that differ`);
}
