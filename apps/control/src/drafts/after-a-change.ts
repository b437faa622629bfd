import type { AppliedBody } from '@carillon/contracts';
import { resourceKey, type ResourceChange } from '@carillon/domain/configuration';
import type { ControlPorts } from '../ports.ts';
import { draftsOf } from './plan-drafts.ts';
import { stateOf } from './states.ts';

/**
 * Returns the drafts in conflict with a published change. Never rejects, because the change already applies; the author
 * is informed if the drafts could not be read.
 */
export async function conflictsAfter(
  changes: readonly ResourceChange[],
  { configuration, watch, ...ports }: Pick<ControlPorts, 'drafts' | 'configuration' | 'watch' | 'slice'>,
): Promise<Pick<AppliedBody, 'draft_conflicts' | 'drafts_unread'>> {
  const current = configuration.current();
  const changed = new Set(changes.map(({ ref }) => resourceKey(ref)));
  try {
    const conflicts: AppliedBody['draft_conflicts'] = [];
    for (const workspace of new Set(changes.map(({ ref }) => ref.workspace))) {
      for (const draft of await draftsOf(workspace, ports)) {
        if (!changed.has(resourceKey(draft.ref)) || stateOf(draft, current) !== 'conflict') continue;
        conflicts.push({ ...draft.ref, by: { ...draft.by } });
      }
    }
    return { draft_conflicts: conflicts };
  } catch (error) {
    watch.trouble('find drafts in conflict', error);
    return { draft_conflicts: [], drafts_unread: true };
  }
}
