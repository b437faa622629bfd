import type { ReactNode } from 'react';
import { Label, Radio, RadioGroup as AriaRadioGroup, Text } from 'react-aria-components';
import { cls } from './class-names.ts';
import fieldStyles from './field.module.css';
import styles from './toggle.module.css';

export type RadioOption<Id extends string> = {
  readonly id: Id;
  readonly name: string;
  /** What it means, in a line below. */
  readonly note?: string;
};

/** One of two to four that are all seen, each with what it means. */
export function RadioGroup<Id extends string>({
  label,
  options,
  chosen,
  onChoose,
  note,
  isDisabled = false,
}: {
  readonly label: string;
  readonly options: readonly RadioOption<Id>[];
  readonly chosen: Id | null;
  readonly onChoose: (id: Id) => void;
  readonly note?: string;
  readonly isDisabled?: boolean;
}): ReactNode {
  return (
    <AriaRadioGroup
      value={chosen}
      onChange={(value) => {
        const option = options.find(({ id }) => id === value);
        if (option) onChoose(option.id);
      }}
      isDisabled={isDisabled}
      className={cls(styles.group)}
    >
      <Label className={cls(fieldStyles.label)}>{label}</Label>
      {options.map((option) => (
        <Radio key={option.id} value={option.id} className={cls(styles.line)}>
          <span className={cls(styles.ring)} aria-hidden />
          <span>
            {option.name}
            {option.note !== undefined && <small className={cls(styles.small)}>{option.note}</small>}
          </span>
        </Radio>
      ))}
      {note !== undefined && (
        <Text slot="description" className={cls(fieldStyles.note)}>
          {note}
        </Text>
      )}
    </AriaRadioGroup>
  );
}
