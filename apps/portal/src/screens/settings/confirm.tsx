import type { ReactNode } from 'react';
import { Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { Curl } from '../../ui/curl.tsx';
import type { Call } from '../../ui/curl-words.ts';
import { Dialog } from '../../ui/dialog.tsx';

/** A question before something that cannot be taken back; it says what goes with it. */
export function Confirm({
  title,
  verb,
  children,
  call,
  error,
  isPending,
  onDo,
  onClose,
}: {
  readonly title: string;
  readonly verb: string;
  readonly children: ReactNode;
  readonly call: Call;
  readonly error: Error | null;
  readonly isPending: boolean;
  readonly onDo: () => void;
  readonly onClose: () => void;
}): ReactNode {
  return (
    <Dialog
      title={title}
      isOpen
      onClose={onClose}
      foot={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button kind="danger" isDisabled={isPending} onPress={onDo}>
            {verb}
          </Button>
        </>
      }
    >
      <p>{children}</p>
      {error !== null && <Problem error={error} />}
      <Curl call={call} />
    </Dialog>
  );
}
