import type { ReactNode } from 'react';
import { faultText } from '../../faults/fault-text.ts';
import { cls } from '../../ui/class-names.ts';
import type { RuleProps } from './rule-props.ts';
import styles from './rule.module.css';

type Op = NonNullable<RuleProps['rule']['changes']>[number];

const OPS: readonly { readonly op: Op; readonly name: string }[] = [
  { op: 'create', name: 'Created rows' },
  { op: 'update', name: 'Updated rows' },
  { op: 'delete', name: 'Deleted rows' },
  { op: 'snapshot', name: 'Rows that were there already' },
];
const BY_DEFAULT: readonly Op[] = ['create', 'update'];

/** Chooses the changes that a rule evaluates. */
export function ChangesChoice({
  draft,
  name,
  rule,
  hasSnapshots,
  change,
}: Omit<RuleProps, 'stream'> & {
  /** Debezium may send rows that were there already. PostgreSQL itself sends none. */
  readonly hasSnapshots: boolean;
}): ReactNode {
  const chosen = rule.changes ?? BY_DEFAULT;
  const [wrong] = draft.faultsAt(`rules.${name}.changes`);
  const choose = (op: Op, isOn: boolean): void =>
    change(({ changes: _before, ...before }) => {
      const next = OPS.map((option) => option.op).filter((other) => (other === op ? isOn : chosen.includes(other)));
      const isDefault = next.length === BY_DEFAULT.length && next.every((other) => BY_DEFAULT.includes(other));
      return isDefault ? before : { ...before, changes: next };
    });
  return (
    <>
      <fieldset className={cls(styles.changes)}>
        <legend>Changes</legend>
        {OPS.filter(({ op }) => op !== 'snapshot' || hasSnapshots || chosen.includes(op)).map(({ op, name: words }) => (
          <label key={op}>
            <input
              type="checkbox"
              checked={chosen.includes(op)}
              onChange={(event) => choose(op, event.target.checked)}
            />
            {words}
          </label>
        ))}
      </fieldset>
      {wrong && (
        <p role="alert" className={cls(styles.fault)}>
          {faultText(wrong)}
        </p>
      )}
    </>
  );
}
