import { ChevronsUpDown } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import {
  Button,
  FieldError,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
  Select as AriaSelect,
  SelectValue,
  Text,
} from 'react-aria-components';
import { cls } from './class-names.ts';
import fieldStyles from './field.module.css';
import styles from './popup.module.css';
import type { SelectProps } from './select.tsx';
import { useIsThere } from './use-is-there.ts';

/** The choice itself; `select.tsx` loads it. */
export function SelectNow({
  label,
  options,
  chosen,
  onChoose,
  note,
  fault,
  placeholder = 'Choose',
  hidesLabel = false,
  isDisabled = false,
  isOpenAtFirst,
  hasFocusAtFirst,
}: SelectProps<string> & { readonly isOpenAtFirst: boolean; readonly hasFocusAtFirst: boolean }): ReactNode {
  const isThere = useIsThere();
  const [isOpen, setOpen] = useState(isOpenAtFirst);
  const isWrong = fault !== null && fault !== undefined;
  return (
    <AriaSelect
      isOpen={isOpen && isThere}
      onOpenChange={setOpen}
      autoFocus={hasFocusAtFirst}
      {...(hidesLabel && { 'aria-label': label })}
      selectedKey={chosen}
      onSelectionChange={(key) => {
        const option = options.find(({ id }) => id === key);
        if (option) onChoose(option.id);
      }}
      placeholder={placeholder}
      isInvalid={isWrong}
      isDisabled={isDisabled}
      className={cls(styles.select)}
    >
      {!hidesLabel && <Label className={cls(styles.label)}>{label}</Label>}
      <Button className={cls(styles.trigger, styles.field)} data-invalid={isWrong || undefined}>
        <SelectValue className={cls(styles.value)}>{({ selectedText }) => selectedText || placeholder}</SelectValue>
        <ChevronsUpDown size={16} aria-hidden />
      </Button>
      {note !== undefined && (
        <Text slot="description" className={cls(fieldStyles.note)}>
          {note}
        </Text>
      )}
      <FieldError className={cls(fieldStyles.fault)}>{fault}</FieldError>
      <Popover className={cls(styles.popover)}>
        <ListBox items={options} className={cls(styles.list)}>
          {(option) => (
            <ListBoxItem id={option.id} textValue={option.name} className={cls(styles.item)}>
              {option.name}
              {option.note !== undefined && <small>{option.note}</small>}
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </AriaSelect>
  );
}
