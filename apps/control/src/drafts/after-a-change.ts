import type { AppliedBody } from '@carillon/contracts';
import type { ResourceChange } from '@carillon/domain';
import type { ControlPorts } from '../ports.ts';
import { stateOf } from './states.ts';

/** Drafts of what was just changed by another way, which somebody has to choose in now. */
export async function conflictsAfter(
  changes: readonly ResourceChange[],
  { drafts, configuration }: Pick<ControlPorts, 'drafts' | 'configuration'>,
): Promise<AppliedBody['draft_conflicts']> {
  const current = configuration.current();
  const found = await Promise.all(changes.map(({ ref }) => drafts.find(ref)));
  return found.flatMap((draft) =>
    draft && stateOf(draft, current) === 'conflict' ? [{ ...draft.ref, by: { ...draft.by } }] : [],
  );
}
