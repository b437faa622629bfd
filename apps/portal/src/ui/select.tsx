import { ChevronsUpDown } from 'lucide-react';
import { lazy, Suspense, useId, useState, type ReactNode } from 'react';
import { Button } from 'react-aria-components';
import { cls } from './class-names.ts';
import { earlyPress } from './early-press.ts';
import fieldStyles from './field.module.css';
import { useLeft } from './held-fault.tsx';
import styles from './popup.module.css';

export type SelectOption<Id extends string> = {
  readonly id: Id;
  readonly name: string;
  /** What stands at the other end of the line. */
  readonly note?: string;
};

export type SelectProps<Id extends string> = {
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
};

const SelectNow = lazy(async () => ({ default: (await import('./select-now.tsx')).SelectNow }));

/** One of a few, of which the chosen one alone is seen; for two to four that should all be seen there is RadioGroup. */
export function Select<Id extends string>({ onChoose, fault, ...given }: SelectProps<Id>): ReactNode {
  const [isShown, leave] = useLeft();
  const props = { ...given, fault: isShown ? fault : null };
  const [isAsked, setAsked] = useState(false);
  const [hasFocus, setFocus] = useState(false);
  const choose = (id: string): void => {
    const option = props.options.find((one) => one.id === id);
    if (option) onChoose(option.id);
  };
  return (
    <div className={cls(fieldStyles.group)} onBlur={leave}>
      <Suspense fallback={<Closed {...props} onOpen={() => setAsked(true)} onFocus={setFocus} />}>
        <SelectNow {...props} onChoose={choose} isOpenAtFirst={isAsked} hasFocusAtFirst={hasFocus} />
      </Suspense>
    </div>
  );
}

/** As it looks until the list that it opens has come: that comes after the page. A press that began before opens it as soon as it is there. */
function Closed({
  label,
  options,
  chosen,
  note,
  fault,
  placeholder = 'Choose',
  hidesLabel = false,
  isDisabled = false,
  onOpen,
  onFocus,
}: Omit<SelectProps<string>, 'onChoose'> & {
  readonly onOpen: () => void;
  readonly onFocus: (hasFocus: boolean) => void;
}): ReactNode {
  const id = useId();
  const isWrong = fault !== null && fault !== undefined;
  return (
    <div className={cls(styles.select)}>
      <span id={`${id}label`} hidden={hidesLabel} className={cls(styles.label)}>
        {label}
      </span>
      <Button
        aria-haspopup="listbox"
        aria-labelledby={`${id}value ${id}label`}
        isDisabled={isDisabled}
        className={cls(styles.trigger, styles.field)}
        data-invalid={isWrong || undefined}
        {...earlyPress(onOpen)}
        onFocusChange={onFocus}
      >
        <span id={`${id}value`} className={cls(styles.value)}>
          {options.find((one) => one.id === chosen)?.name ?? placeholder}
        </span>
        <ChevronsUpDown size={16} aria-hidden />
      </Button>
      {note !== undefined && <span className={cls(fieldStyles.note)}>{note}</span>}
      {isWrong && <span className={cls(fieldStyles.fault)}>{fault}</span>}
    </div>
  );
}
