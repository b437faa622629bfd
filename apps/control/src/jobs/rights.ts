import type { Job } from '@carillon/domain/jobs';
import { rightsOf } from '../access/people/rights.ts';
import type { ControlPorts } from '../ports.ts';
import type { JobKind } from './kind.ts';

/** Returns true if the author of a job may still do what it does: no longer once they are removed or disabled, or lost the role. */
export async function mayContinue(
  { by, work, workspace }: Job,
  kind: JobKind,
  ports: Pick<ControlPorts, 'people' | 'clock' | 'ids'>,
): Promise<boolean> {
  const may = await rightsOf(by, ports);
  const others = kind.otherWorkspaces?.(kind.parameters.parse(work)) ?? [];
  const needed = [kind.permission].flat();
  return [workspace, ...others].every((name) => needed.some((permission) => may(permission, name)));
}
