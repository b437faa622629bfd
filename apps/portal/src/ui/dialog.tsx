import type { ReactNode } from 'react';
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { cls } from './class-names.ts';
import styles from './dialog.module.css';

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

/** A question, or a short path with an end. Focus goes in and comes back to where it was. */
export function Dialog({ title, isOpen, onClose, children, foot, isLocked = false }: DialogProps): ReactNode {
  return (
    <ModalOverlay
      isOpen={isOpen}
      onOpenChange={(open) => !open && onClose()}
      isDismissable={!isLocked}
      isKeyboardDismissDisabled={isLocked}
      className={cls(styles.veil)}
    >
      <Modal className={cls(styles.sheet)}>
        <AriaDialog className={cls(styles.dialog)}>
          <Heading slot="title" level={2}>
            {title}
          </Heading>
          {children}
          {foot !== undefined && <div className={cls(styles.foot)}>{foot}</div>}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}
