import type { Run } from '@carillon/domain/runs';
import type { RunId } from '@carillon/kernel';
import type { RoutePorts } from '../ports.ts';
import { notFound } from '../routes/app.ts';

/** Returns the run of a path. Rejects with CarillonError `not_found`, also for a run of another workspace. */
export async function findRun(
  { workspace, id }: { readonly workspace: string; readonly id: string },
  { runs }: Pick<RoutePorts, 'runs'>,
): Promise<Run> {
  const run = await runs.get(id as RunId);
  if (run?.workspace === workspace) return run;
  throw notFound(`run ${id} in workspace ${workspace}`);
}
