import type { ReactNode } from 'react';
import { Button, Menu as AriaMenu, MenuItem, MenuTrigger, Popover } from 'react-aria-components';
import { cls } from './class-names.ts';
import styles from './popup.module.css';

export type MenuChoice = {
  readonly id: string;
  readonly name: string;
  /** What stands at the other end of the line. */
  readonly note?: string;
};

export type MenuProps = {
  readonly label: string;
  readonly trigger: ReactNode;
  readonly choices: readonly MenuChoice[];
  /** Which of them holds now, where one does. */
  readonly chosen?: string;
  readonly onChoose: (id: string) => void;
};

/** Things to do, or to go to, behind one button. */
export function Menu({ label, trigger, choices, chosen, onChoose }: MenuProps): ReactNode {
  return (
    <MenuTrigger>
      <Button aria-label={label} className={cls(styles.trigger)}>
        {trigger}
      </Button>
      <Popover className={cls(styles.popover)}>
        <AriaMenu
          items={choices}
          className={cls(styles.list)}
          onAction={(key) => onChoose(String(key))}
          {...(chosen !== undefined && { selectionMode: 'single' as const, selectedKeys: [chosen] })}
        >
          {({ id, name, note }) => (
            <MenuItem id={id} textValue={name} className={cls(styles.item)}>
              {name}
              {note !== undefined && <small>{note}</small>}
            </MenuItem>
          )}
        </AriaMenu>
      </Popover>
    </MenuTrigger>
  );
}
