import { useState, type ReactNode } from 'react';
import { Button } from '../../ui/button.tsx';
import { ChosenBar } from '../../ui/chosen-bar.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Quiet } from '../../ui/page.tsx';

/** The one thing that can be done with the rows that were chosen in a list, and the question before it. */
export function ChosenAction<Row>({
  count,
  fitting,
  verb,
  title,
  otherwise = '',
  off,
  children,
  onClear,
}: {
  readonly count: number;
  /** The chosen rows that it can be done with. */
  readonly fitting: readonly Row[];
  readonly verb: string;
  readonly title: string;
  /** What is said where it can be done with none. */
  readonly otherwise?: string;
  readonly off: string | null;
  /** The question about the rows as they were when it was asked. */
  readonly children: (asked: readonly Row[], leave: () => void, done: () => void) => ReactNode;
  readonly onClear: () => void;
}): ReactNode {
  const [asked, setAsked] = useState<readonly Row[] | null>(null);
  const leave = (): void => setAsked(null);
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
        <Dialog title={title} isOpen onClose={leave}>
          {children(asked, leave, () => {
            leave();
            onClear();
          })}
        </Dialog>
      )}
    </>
  );
}
