import type { ReactNode } from 'react';
import { cls } from '../../ui/class-names.ts';
import { changeText, unknownText, valueText, type ChangeFacts } from './change-text.ts';
import styles from './sources.module.css';

/** What a change did to its row: each changed field as `open → paid`, and the fields whose values are unknown. */
export function ChangeLine({ change }: { readonly change: ChangeFacts }): ReactNode {
  const { fields, more } = change;
  const unknown = unknownText(change);
  return (
    <>
      <small>{changeText(change)}</small>
      {fields.length > 0 && (
        <dl className={cls(styles.fields)}>
          {fields.map(({ field, before, after }) => (
            <div key={field} className={cls(styles.field)}>
              <dt>
                <bdi>{field}</bdi>
              </dt>
              <dd>
                <bdi>{valueText(before)}</bdi> → <bdi>{valueText(after)}</bdi>
              </dd>
            </div>
          ))}
        </dl>
      )}
      {more > 0 && <small>and {more} more</small>}
      {unknown !== null && <small>{unknown}</small>}
    </>
  );
}
