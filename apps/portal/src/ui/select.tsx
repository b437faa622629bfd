import { ChevronsUpDown } from 'lucide-react';
import { useId, useState, type KeyboardEvent, type ReactNode } from 'react';
import { cls } from './class-names.ts';
import fieldStyles from './field.module.css';
import { useLeft } from './held-fault.tsx';
import { Popup, usePopup } from './popup.tsx';
import styles from './popup.module.css';
import { TypedWord } from './typed-word.ts';

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
  const id = useId();
  const { button, isOpen, setOpen, props } = usePopup('listbox', `${id}list`);
  const [typed] = useState(() => new TypedWord());
  const [isShown, leave] = useLeft();
  const isWrong = isShown && fault !== null && fault !== undefined;
  const described = [...(note === undefined ? [] : [`${id}note`]), ...(isWrong ? [`${id}fault`] : [])];
  /** Letters choose without opening, as in a select of the browser. None of them is a command of the page. */
  function hear(event: KeyboardEvent<HTMLElement>): void {
    props.onKeyDown(event);
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const found = typed.find(options, event.key, event.timeStamp);
    if (found === undefined) return;
    event.preventDefault();
    const option = options[found];
    if (option && option.id !== chosen) onChoose(option.id);
  }
  return (
    <div className={cls(fieldStyles.group)} onBlur={leave}>
      <div className={cls(styles.select)}>
        <span id={`${id}label`} hidden={hidesLabel} className={cls(styles.label)}>
          {label}
        </span>
        <button
          {...props}
          onKeyDown={hear}
          aria-labelledby={`${id}value ${id}label`}
          {...(described.length > 0 && { 'aria-describedby': described.join(' ') })}
          disabled={isDisabled}
          className={cls(styles.trigger, styles.field)}
          data-invalid={isWrong || undefined}
        >
          <span id={`${id}value`} className={cls(styles.value)}>
            {options.find((one) => one.id === chosen)?.name ?? placeholder}
          </span>
          <ChevronsUpDown size={16} aria-hidden />
        </button>
        {note !== undefined && (
          <span id={`${id}note`} className={cls(fieldStyles.note)}>
            {note}
          </span>
        )}
        {isWrong && (
          <span id={`${id}fault`} className={cls(fieldStyles.fault)}>
            {fault}
          </span>
        )}
      </div>
      {isOpen && (
        <Popup
          kind="listbox"
          id={`${id}list`}
          label={label}
          button={button}
          items={options}
          chosen={chosen}
          onChoose={(key) => {
            const option = options.find((one) => one.id === key);
            if (option) onChoose(option.id);
          }}
          onClose={() => setOpen(false)}
        />
      )}
    </div>
  );
}
