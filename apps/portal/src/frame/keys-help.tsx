import type { ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import { cls } from '../ui/class-names.ts';
import { Dialog } from '../ui/dialog.tsx';
import { PLACES } from './places.ts';
import styles from './keys-help.module.css';

const KEYS: readonly (readonly [keys: readonly string[], what: string])[] = [
  [['⌘', 'K'], 'Go to a screen, or find an event or a delivery by its id (Ctrl and K elsewhere)'],
  [['/'], 'Search on this screen'],
  ...PLACES.map(({ name, key }) => [['g', key], name] as const),
  [['j', 'k'], 'Next and previous row; arrows, Home and End too'],
  [['Enter'], 'Open'],
  [['x'], 'Choose a row, with Shift all up to it'],
  [['z'], 'Undo what was just done, while it is told of'],
  [['Esc'], 'Close'],
  [['?'], 'These keys'],
];

/** The keys that count on every screen. */
export function KeysHelp({ onClose }: { readonly onClose: () => void }): ReactNode {
  return (
    <Dialog title="Keys" isOpen onClose={onClose} foot={<Button onPress={onClose}>Close</Button>}>
      <dl className={cls(styles.keys)}>
        {KEYS.flatMap(([keys, what]) => [
          <dt key={`${what}-keys`}>
            {keys.map((key, at) => (
              <span key={key}>
                {at > 0 && ' '}
                <kbd>{key}</kbd>
              </span>
            ))}
          </dt>,
          <dd key={what}>{what}</dd>,
        ])}
      </dl>
    </Dialog>
  );
}
