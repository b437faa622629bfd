import type { ReactNode } from 'react';
import { cls } from '../../ui/class-names.ts';
import field from '../../ui/field.module.css';
import { NativeSelect } from '../../ui/native-select.tsx';
import { unitOptions, type Span, type SpanUnit } from './spans.ts';
import styles from './rule.module.css';

/** A number and its unit, within a sentence. */
export function SpanField<Given extends Span>({
  what,
  span,
  isWrong,
  units,
  onChange,
}: {
  /** What is so long, for names of the two fields: `of the wait`. */
  readonly what: string;
  readonly span: Given;
  readonly isWrong: boolean;
  /** Defaults to all. */
  readonly units?: readonly SpanUnit[];
  readonly onChange: (span: Given) => void;
}): ReactNode {
  return (
    <>
      <input
        className={cls(field.input, styles.amount)}
        aria-label={`Length ${what}`}
        aria-invalid={isWrong}
        data-invalid={isWrong ? '' : undefined}
        inputMode="numeric"
        autoComplete="off"
        value={span.amount}
        onChange={(event) => onChange({ ...span, amount: event.target.value })}
      />
      <NativeSelect
        label={`Unit ${what}`}
        hidesLabel
        options={unitOptions(span.amount, units)}
        value={span.unit}
        onChange={(unit) => onChange({ ...span, unit })}
      />
    </>
  );
}
