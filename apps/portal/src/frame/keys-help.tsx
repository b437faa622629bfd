import type { ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import { cls } from '../ui/class-names.ts';
import { Dialog } from '../ui/dialog.tsx';
import { KEY_GROUPS } from './keys.ts';
import styles from './keys-help.module.css';

/** The keys of all screens. */
export function KeysHelp({ onClose }: { readonly onClose: () => void }): ReactNode {
  return (
    <Dialog title="Keyboard shortcuts" isOpen onClose={onClose} foot={<Button onPress={onClose}>Close</Button>}>
      <p>Letters work while you are not typing in a field. The menu beside “Find” turns them off.</p>
      <div className={cls(styles.groups)}>
        {KEY_GROUPS.map(({ title, lines }) => (
          <section key={title} aria-label={title} className={cls(styles.group)}>
            <h3>{title}</h3>
            <dl className={cls(styles.keys)}>
              {lines.flatMap(({ keys, what }) => [
                <dt key={`${what}-keys`}>
                  {keys.map((key, at) => (
                    <span key={key}>
                      {at > 0 && ' '}
                      {key === '…' ? key : <kbd>{key}</kbd>}
                    </span>
                  ))}
                </dt>,
                <dd key={what}>{what}</dd>,
              ])}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
