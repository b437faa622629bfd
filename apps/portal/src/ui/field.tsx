import type { ReactNode, Ref } from 'react';
import { FieldError, Input, Label, Text, TextArea, TextField, type TextFieldProps } from 'react-aria-components';
import { cls } from './class-names.ts';
import styles from './field.module.css';
import { useLeft } from './held-fault.tsx';

export type FieldProps = Omit<TextFieldProps, 'className' | 'style' | 'children' | 'isInvalid'> & {
  readonly label: string;
  /** One line on what goes in. */
  readonly note?: string | undefined;
  /** What is wrong with what stands in it, and how to mend it. */
  readonly fault?: string | null | undefined;
  readonly placeholder?: string;
  /** Id of a datalist with what is often meant; any other text may be typed. */
  readonly list?: string;
  /** Letters of one width, for ids, paths and expressions. */
  readonly isMono?: boolean;
  /** Takes several lines. */
  readonly isLong?: boolean;
  /** Its label is read out and not drawn: what it is for is plain from where it stands. */
  readonly hidesLabel?: boolean;
  readonly inputRef?: Ref<HTMLInputElement>;
};

export function Field({
  label,
  note,
  fault,
  placeholder,
  list,
  isMono = false,
  isLong = false,
  hidesLabel = false,
  inputRef,
  ...props
}: FieldProps): ReactNode {
  const [isShown, leave] = useLeft();
  const shown = isShown ? fault : null;
  const drawn = { ...(placeholder !== undefined && { placeholder }) };
  const suggested = { ...(list !== undefined && { list }) };
  return (
    <TextField
      {...props}
      {...(hidesLabel && { 'aria-label': label })}
      // A native fault keeps the browser from sending the form, so what the server refused could not be sent again once it is mended.
      validationBehavior="aria"
      isInvalid={shown !== null && shown !== undefined}
      onBlur={(event) => {
        leave();
        props.onBlur?.(event);
      }}
      className={cls(styles.field)}
    >
      {!hidesLabel && <Label className={cls(styles.label)}>{label}</Label>}
      {isLong ? (
        <TextArea {...drawn} className={cls(styles.area)} spellCheck={false} />
      ) : (
        <Input
          {...drawn}
          {...suggested}
          {...(inputRef && { ref: inputRef })}
          className={cls(styles.input, isMono && styles.mono)}
        />
      )}
      {note !== undefined && (
        <Text slot="description" className={cls(styles.note)}>
          {note}
        </Text>
      )}
      <FieldError className={cls(styles.fault)}>{shown}</FieldError>
    </TextField>
  );
}
