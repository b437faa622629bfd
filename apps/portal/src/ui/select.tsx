import { ChevronsUpDown } from 'lucide-react';
import type { ReactNode } from 'react';
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

export type SelectOption<Id extends string> = {
  readonly id: Id;
  readonly name: string;
  /** What stands at the other end of the line. */
  readonly note?: string;
};

/** One of a few, of which the chosen one alone is seen; for two to four that should all be seen there is RadioGroup. */
export function Select<Id extends string>({
  label,
  options,
  chosen,
  onChoose,
  note,
  fault,
  placeholder = 'Choose',
  hidesLabel = false,
  isDisabled = false,
}: {
  readonly label: string;
  readonly options: readonly SelectOption<Id>[];
  readonly chosen: Id | null;
  readonly onChoose: (id: Id) => void;
  /** One line on what it decides. */
  readonly note?: string;
  /** What is wrong with the choice, and how to mend it. */
  readonly fault?: string | null | undefined;
  readonly placeholder?: string;
  /** Its label is read out and not drawn. */
  readonly hidesLabel?: boolean;
  readonly isDisabled?: boolean;
}): ReactNode {
  const isWrong = fault !== null && fault !== undefined;
  return (
    <AriaSelect
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
