import type { ReactNode } from 'react';
import { Button, Menu as AriaMenu, MenuItem, MenuTrigger, Popover } from 'react-aria-components';
import { cls } from './class-names.ts';
import type { MenuProps } from './menu.tsx';
import styles from './popup.module.css';
import { useIsThere } from './use-is-there.ts';

/** The menu itself; `menu.tsx` loads it. */
export function MenuNow({
  label,
  trigger,
  choices,
  chosen,
  isSmall = false,
  onChoose,
  isOpen,
  onOpenChange,
  hasFocusAtFirst,
}: MenuProps & {
  readonly isOpen: boolean;
  readonly onOpenChange: (isOpen: boolean) => void;
  readonly hasFocusAtFirst: boolean;
}): ReactNode {
  const isThere = useIsThere();
  return (
    <MenuTrigger isOpen={isOpen && isThere} onOpenChange={onOpenChange}>
      <Button aria-label={label} className={cls(styles.trigger, isSmall && styles.small)} autoFocus={hasFocusAtFirst}>
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
