import type { ReactNode } from 'react';
import { cls } from '../../../ui/class-names.ts';
import { Quiet } from '../../../ui/page.tsx';
import { Lamp } from '../../../ui/state.tsx';
import styles from '../settings.module.css';
import type { Step } from './queries.ts';

/** What a check found, step by step, each with what it means. */
export function Checks({ steps }: { readonly steps: readonly Step[] }): ReactNode {
  const failed = steps.filter(({ ok }) => !ok).length;
  return (
    <section aria-label="What the check found" className={cls(styles.form)}>
      <p role="status">
        {failed === 0
          ? `All ${steps.length} steps passed.`
          : `${failed} of ${steps.length} steps failed. Fix the first one and check again.`}
      </p>
      <ol className={cls(styles.steps)}>
        {steps.map(({ step, title, meaning, ok, detail }, at) => (
          <li key={`${step}-${at}`} className={cls(styles.step)}>
            <Lamp tone={ok ? 'good' : 'bad'} name={ok ? 'passed' : 'failed'}>
              {ok ? 'Passed' : 'Failed'}
            </Lamp>
            <div>
              <strong>{title ?? step}</strong>: {detail}
            </div>
            {meaning !== undefined && <Quiet>{meaning}</Quiet>}
          </li>
        ))}
      </ol>
    </section>
  );
}
