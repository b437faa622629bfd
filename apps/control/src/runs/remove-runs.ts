import { hasEnded, JOBS_KEPT } from '@carillon/domain/jobs';
import type { RunId, Instant } from '@carillon/kernel';
import type { ControlPorts } from '../ports.ts';

const BATCH_SIZE = 100;

/**
 * Removes runs whose job was removed, with their rows, and scratch files that no job goes on with. A run that was cancelled after its
 * process was killed also has rows, which are removed with its scratch file.
 */
export async function removeRuns(
  now: Instant,
  { runs, jobs, comparison }: Pick<ControlPorts, 'runs' | 'jobs' | 'comparison'>,
): Promise<void> {
  for (const run of await runs.createdBefore(now - JOBS_KEPT, BATCH_SIZE)) {
    if (await jobs.get(run.job)) continue;
    await comparison?.forget(run);
    await runs.remove(run.id);
  }
  for (const id of (await comparison?.known()) ?? []) {
    const run = await runs.get(id as RunId);
    const job = run && (await jobs.get(run.job));
    if (job && !hasEnded(job)) continue;
    if (job?.state !== 'done') await runs.removeRows(id as RunId);
    await comparison?.forget({ id: id as RunId });
  }
}
