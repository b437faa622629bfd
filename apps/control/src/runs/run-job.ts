import type { RunId } from '@carillon/kernel';
import { z } from 'zod';
import { failureOf, isTransient, JobCancelled, jobKind, type JobKind, type JobKindPorts } from '../jobs/kind.ts';
import type { RunKind } from './run-kind.ts';

/** Returns the job that executes runs of a kind. Its one item is the run. */
export const runJob = (kind: RunKind): JobKind =>
  jobKind({
    action: kind.action,
    permission: ['configure', 'operate'],
    audit: 'run.end',
    parameters: z.object({ run: z.string() }),
    lane: 'child',
    do: (_job, ports) => async (items, stop) => {
      const results = [];
      for (const item of items) {
        try {
          await execute(kind, item as RunId, ports, stop);
          results.push(null);
        } catch (error) {
          const cause: unknown = stop.aborted ? stop.reason : error;
          if (cause instanceof JobCancelled) {
            await discard(item as RunId, ports);
            ports.runChild.ended('cancelled');
          }
          // The scratch file may fill the disk of the stores, and then no retry can write until the file is deleted.
          if (isTransient(cause) && ports.runChild.isOnDiskOfStores) await ports.runChild.forget({ id: item as RunId });
          if (stop.aborted || isTransient(error)) throw error;
          const failure = failureOf(item, error, ports.watch);
          await discard(item as RunId, ports);
          ports.runChild.ended('failed');
          results.push(failure);
        }
        await ports.runChild.forget({ id: item as RunId });
      }
      return results;
    },
  }) as JobKind;

/** Removes what a run leaves that ends without a result. */
async function discard(id: RunId, { runChild, runs }: Pick<JobKindPorts, 'runChild' | 'runs'>): Promise<void> {
  // Frees the disk first: on a full disk no row can be removed until the scratch file is gone.
  await runChild.forget({ id });
  await runs.removeRows(id);
}

async function execute(kind: RunKind, id: RunId, ports: JobKindPorts, stop: AbortSignal): Promise<void> {
  const run = await ports.runs.get(id);
  if (!run) throw new Error(`run ${id} is not stored any more`);
  // The process that ended after it wrote the result, and before it counted the item.
  if (run.checksum !== null) return;
  await kind.execute(run, ports, stop);
  ports.runChild.ended('done');
}
