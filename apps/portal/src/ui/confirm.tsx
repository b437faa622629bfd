import { useState, type ReactNode } from 'react';
import { Problem } from './answers.tsx';
import { Button } from './button.tsx';
import { Curl } from './curl.tsx';
import type { Call } from './curl-words.ts';
import { Dialog } from './dialog.tsx';
import { Field } from './field.tsx';
import { isTyped } from './is-typed.ts';

/** A question before something that cannot be taken back; it says what goes with it. */
export function Confirm({
  title,
  verb,
  children,
  call,
  error,
  isPending,
  typed = null,
  onDo,
  onClose,
}: {
  readonly title: string;
  readonly verb: string;
  readonly children: ReactNode;
  readonly call: Call;
  readonly error: Error | null;
  readonly isPending: boolean;
  /** What has to be typed first, such as a name or how many people it touches; null: nothing. */
  readonly typed?: string | null;
  readonly onDo: () => void;
  readonly onClose: () => void;
}): ReactNode {
  const [said, setSaid] = useState('');
  const isSaid = typed === null || isTyped(said, typed);
  return (
    <Dialog
      title={title}
      isOpen
      onClose={onClose}
      foot={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button kind="danger" isDisabled={isPending || !isSaid} onPress={onDo}>
            {verb}
          </Button>
        </>
      }
    >
      <p>{children}</p>
      {typed !== null && (
        <Field label={`Type ${typed} to confirm`} value={said} onChange={setSaid} autoComplete="off" autoFocus />
      )}
      {error !== null && <Problem error={error} />}
      <Curl call={call} />
    </Dialog>
  );
}
