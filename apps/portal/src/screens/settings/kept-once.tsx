import { useState, type ReactNode } from 'react';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Code } from '../../ui/text.tsx';
import { Checkbox } from '../../ui/toggle.tsx';

/** What is shown once: it goes when somebody says that it is stored, and by nothing else. */
export function KeptOnce({
  title,
  what,
  text,
  children,
  onDone,
}: {
  readonly title: string;
  /** For who cannot see it: `the key`. */
  readonly what: string;
  readonly text: string;
  /** What to do with it. */
  readonly children: ReactNode;
  readonly onDone: () => void;
}): ReactNode {
  const [isStored, setStored] = useState(false);
  return (
    <Dialog
      title={title}
      isOpen
      isLocked
      onClose={onDone}
      foot={
        <Button kind="main" off={isStored ? null : 'Store it first, and tick the box.'} onPress={onDone}>
          Done
        </Button>
      }
    >
      {children}
      <Code text={text} what={what} />
      <Checkbox isOn={isStored} onChange={setStored}>
        I have stored the value
      </Checkbox>
    </Dialog>
  );
}
