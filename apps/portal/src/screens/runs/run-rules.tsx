import type { ReactNode } from 'react';
import { cls } from '../../ui/class-names.ts';
import type { Run } from './queries.ts';
import { differenceText, ROW_DIFFERENCES } from './run-text.ts';
import styles from './runs.module.css';

/** The messages of a run by rule and difference. */
export function RunRules({ counts }: { readonly counts: NonNullable<Run['counts']> }): ReactNode {
  return (
    // A table that scrolls is reached by the keyboard.
    <div className={cls(styles.scroll)} tabIndex={0} role="group" aria-label="Messages by rule">
      <table className={cls(styles.table)}>
        <thead>
          <tr>
            <th scope="col">Rule</th>
            {ROW_DIFFERENCES.map((difference) => (
              <th key={difference} scope="col">
                {differenceText(difference)}
              </th>
            ))}
            <th scope="col">Unchanged</th>
          </tr>
        </thead>
        <tbody>
          {counts.by_rule.map((rule) => (
            <tr key={rule.rule}>
              <th scope="row">{rule.rule}</th>
              {[...ROW_DIFFERENCES, 'unchanged' as const].map((difference) => (
                <td key={difference}>{rule[difference].toLocaleString('en')}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
