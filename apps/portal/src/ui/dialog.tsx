import { lazy, Suspense, type ReactNode } from 'react';

export type DialogProps = {
  readonly title: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
  /** Buttons, the main one last. */
  readonly foot?: ReactNode;
  /** Only its buttons end it: what it shows is shown once. */
  readonly isLocked?: boolean;
};

const DialogNow = lazy(async () => ({ default: (await import('./dialog-now.tsx')).DialogNow }));

/** A question, or a short path with an end. Focus goes in and comes back to where it was. Loaded when one is opened first. */
export const Dialog = (props: DialogProps): ReactNode =>
  props.isOpen && (
    <Suspense fallback={null}>
      <DialogNow {...props} />
    </Suspense>
  );
