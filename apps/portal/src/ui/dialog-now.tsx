import { useState, type ReactNode } from 'react';
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { cls } from './class-names.ts';
import type { DialogProps } from './dialog.tsx';
import styles from './dialog.module.css';

/** The dialog itself; `dialog.tsx` loads it. */
export function DialogNow({ title, isOpen, onClose, children, foot, isLocked = false }: DialogProps): ReactNode {
  const [isTyped, setTyped] = useState(false);
  return (
    <ModalOverlay
      isOpen={isOpen}
      onOpenChange={(open) => !open && onClose()}
      // A press beside the dialog must not lose what was typed in it.
      isDismissable={!isLocked && !isTyped}
      isKeyboardDismissDisabled={isLocked}
      className={cls(styles.veil)}
    >
      <Modal className={cls(styles.sheet)}>
        <AriaDialog className={cls(styles.dialog)}>
          <Heading slot="title" level={2}>
            {title}
          </Heading>
          <div className={cls(styles.content)} onInput={() => setTyped(true)}>
            {children}
          </div>
          {foot !== undefined && <div className={cls(styles.foot)}>{foot}</div>}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}
