import { useBlocker, type ShouldBlockFn } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { hasUnfinished, hasUnsavedWork } from '../api/unsaved.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';

// A draft is saved when its page is left. Only text that no draft can hold yet goes with the page.
const losesText: ShouldBlockFn = ({ current, next }) => current.pathname !== next.pathname && hasUnfinished();

/** Asks before a page with unsaved text is left, also before the tab is closed or loaded again. */
export function AskBeforeLeaving(): ReactNode {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: losesText,
    enableBeforeUnload: hasUnsavedWork,
    withResolver: true,
  });
  const stay = (): void => reset?.();
  return (
    <Dialog
      title="Leave this page?"
      isOpen={status === 'blocked'}
      onClose={stay}
      foot={
        <>
          <Button onPress={stay}>Stay</Button>
          <Button kind="danger" onPress={() => proceed?.()}>
            Leave without saving
          </Button>
        </>
      }
    >
      <p>Your text on this page is not saved. You lose the text when you leave.</p>
    </Dialog>
  );
}
