import { useId, type ReactNode } from 'react';
import { cls } from './class-names.ts';
import field from './field.module.css';
import styles from './native-select.module.css';

export type NativeSelectProps<Id extends string> = {
  readonly label: string;
  readonly hidesLabel?: boolean;
  readonly options: readonly { readonly id: Id; readonly name: string }[];
  readonly value: Id;
  readonly onChange: (id: Id) => void;
  readonly isDisabled?: boolean;
  readonly note?: string;
  /** What is wrong with the choice, and how to mend it. */
  readonly fault?: string | null;
};

/** One of some words, in the browser's own list: for rows of a form, where many stand close together. */
export function NativeSelect<Id extends string>({
  label,
  hidesLabel = false,
  options,
  value,
  onChange,
  isDisabled = false,
  note,
  fault = null,
}: NativeSelectProps<Id>): ReactNode {
  const id = useId();
  const described = [...(note === undefined ? [] : [`${id}-note`]), ...(fault === null ? [] : [`${id}-fault`])];
  return (
    <div className={cls(field.field)}>
      {!hidesLabel && (
        <label htmlFor={id} className={cls(field.label)}>
          {label}
        </label>
      )}
      <select
        id={id}
        className={cls(field.input, styles.select)}
        disabled={isDisabled}
        value={value}
        {...(hidesLabel && { 'aria-label': label })}
        {...(described.length > 0 && { 'aria-describedby': described.join(' ') })}
        {...(fault !== null && { 'aria-invalid': true, 'data-invalid': true })}
        onChange={(event) => onChange(event.target.value as Id)}
      >
        {options.map((option) => (
          <option key={option.id} value={option.id}>
            {option.name}
          </option>
        ))}
      </select>
      {note !== undefined && (
        <p id={`${id}-note`} className={cls(field.note)}>
          {note}
        </p>
      )}
      {fault !== null && (
        <p id={`${id}-fault`} className={cls(field.fault)}>
          {fault}
        </p>
      )}
    </div>
  );
}
