import { useState, type ReactNode } from 'react';
import { useMayInAll } from '../../api/me.ts';
import { Button } from '../../ui/button.tsx';
import { ChosenBar } from '../../ui/chosen-bar.tsx';
import { Quiet } from '../../ui/page.tsx';
import { useLetter } from '../../ui/use-letter.ts';
import { Bulk } from './bulk.tsx';
import { groupsOf, type Group } from '../jobs/by-workspace.ts';
import { actionsOfAll, VERBS, type BulkAction } from './decisions.ts';
import type { Delivery } from './queries.ts';

/** What can be done with the deliveries that were chosen in a list, and the question before it. */
export function ChosenDeliveries({
  chosen,
  onClear,
}: {
  readonly chosen: readonly Delivery[];
  readonly onClear: () => void;
}): ReactNode {
  const groups = groupsOf(chosen);
  const off = useMayInAll(
    'operate',
    groups.map(({ workspace }) => workspace),
  );
  // As they were when it was asked: what was decided leaves the list meanwhile.
  const [asked, setAsked] = useState<{ readonly action: BulkAction; readonly groups: readonly Group[] } | null>(null);
  const fitting = actionsOfAll(chosen.map(({ state }) => state));
  const ask = (action: BulkAction): void => setAsked({ action, groups });
  useLetter('R', () => {
    if (off === null && asked === null && fitting.includes('resend')) ask('resend');
  });
  return (
    <>
      <ChosenBar count={chosen.length} onClear={onClear}>
        {fitting.map((action) => (
          <Button key={action} off={off} onPress={() => ask(action)}>
            {VERBS[action]}…
          </Button>
        ))}
        {fitting.length === 0 && <Quiet>No action fits all of these rows. Choose rows of one state.</Quiet>}
      </ChosenBar>
      {asked !== null && (
        <Bulk
          which={{ groups: asked.groups }}
          action={asked.action}
          onClose={(isBegun) => {
            setAsked(null);
            if (isBegun) onClear();
          }}
        />
      )}
    </>
  );
}
