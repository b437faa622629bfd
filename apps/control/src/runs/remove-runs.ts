import { hasEnded, JOBS_KEPT } from '@carillon/domain/jobs';
import type { RunId, Instant } from '@carillon/kernel';
import type { ControlPorts } from '../ports.ts';

const BATCH_SIZE = 100;
/** Maximum rows removed per call. Other jobs may run between two calls. */
const MAX_REMOVED_ROWS = 500;

/**
 * Removes runs whose job was removed, with their rows, and scratch files that no job goes on with. A run that was cancelled after its
 * process was killed also has rows, which are removed before its scratch file. Resolves to false if more is left for the next call.
 */
export async function removeRuns(
  now: Instant,
  { runs, jobs, runChild }: Pick<ControlPorts, 'runs' | 'jobs' | 'runChild'>,
): Promise<boolean> {
  let left = MAX_REMOVED_ROWS;
  /** Returns true if the run has no more rows. */
  const removeRows = async (run: RunId): Promise<boolean> => {
    const limit = left;
    const removed = limit > 0 ? await runs.removeSomeRows(run, limit) : 0;
    left -= removed;
    return removed < limit;
  };
  for (const run of await runs.createdBefore(now - JOBS_KEPT, BATCH_SIZE)) {
    if (await jobs.get(run.job)) continue;
    if (!(await removeRows(run.id))) return false;
    await runChild.forget(run);
    await runs.remove(run.id);
  }
  for (const name of await runChild.known()) {
    const id = name as RunId;
    const run = await runs.get(id);
    const job = run && (await jobs.get(run.job));
    if (job && !hasEnded(job)) continue;
    if (job?.state !== 'done' && !(await removeRows(id))) return false;
    await runChild.forget({ id });
  }
  return true;
}
