import { useState, type ReactNode } from 'react';
import { Button } from '../../ui/button.tsx';
import { ChosenBar } from '../../ui/chosen-bar.tsx';
import { Quiet } from '../../ui/page.tsx';
import type { Begun } from '../jobs/by-workspace.ts';
import { JobDialog } from '../jobs/start-job.tsx';

/** The action on the chosen rows of a list: a button, then a dialog with the question and the progress of the job. */
export function ChosenAction<Row>({
  count,
  fitting,
  verb,
  title,
  otherwise = '',
  off,
  changes,
  children,
  onClear,
}: {
  readonly count: number;
  /** The chosen rows that the action fits. */
  readonly fitting: readonly Row[];
  readonly verb: string;
  readonly title: string;
  /** Shown if the action fits no row. */
  readonly otherwise?: string;
  readonly off: string | null;
  /** Path of the lists to reload after the job. */
  readonly changes: string;
  /** The question about the rows as they were when the button was pressed. */
  readonly children: (asked: readonly Row[], onJob: (begun: Begun) => void, leave: () => void) => ReactNode;
  readonly onClear: () => void;
}): ReactNode {
  const [asked, setAsked] = useState<readonly Row[] | null>(null);
  return (
    <>
      <ChosenBar count={count} onClear={onClear}>
        {fitting.length > 0 ? (
          <Button off={off} onPress={() => setAsked(fitting)}>
            {verb}…
          </Button>
        ) : (
          <Quiet>{otherwise}</Quiet>
        )}
      </ChosenBar>
      {asked !== null && (
        <JobDialog
          title={title}
          changes={changes}
          onClose={(isBegun) => {
            setAsked(null);
            if (isBegun) onClear();
          }}
        >
          {(onJob, leave) => children(asked, onJob, leave)}
        </JobDialog>
      )}
    </>
  );
}
