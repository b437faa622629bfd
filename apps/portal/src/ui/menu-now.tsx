import { useEffect, useState, type ReactNode } from 'react';
import { Button, Menu as AriaMenu, MenuItem, MenuTrigger, Popover } from 'react-aria-components';
import { cls } from './class-names.ts';
import type { MenuProps } from './menu.tsx';
import styles from './popup.module.css';

/** The menu itself; `menu.tsx` loads it. */
export function MenuNow({
  label,
  trigger,
  choices,
  chosen,
  onChoose,
  isOpen,
  onOpenChange,
  hasFocusAtFirst,
}: MenuProps & {
  readonly isOpen: boolean;
  readonly onOpenChange: (isOpen: boolean) => void;
  readonly hasFocusAtFirst: boolean;
}): ReactNode {
  // A menu gives the focus back to what had it when the menu opened: the button has it from here on.
  const [isThere, setThere] = useState(false);
  useEffect(() => setThere(true), []);
  return (
    <MenuTrigger isOpen={isOpen && isThere} onOpenChange={onOpenChange}>
      <Button aria-label={label} className={cls(styles.trigger)} autoFocus={hasFocusAtFirst}>
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
