import type { ReactNode } from 'react';
import { cls } from './class-names.ts';
import { Copy } from './copy.tsx';
import styles from './text.module.css';

/** An id, a path or an expression. */
export function Id({ children }: { readonly children: ReactNode }): ReactNode {
  return <bdi className={cls(styles.id)}>{children}</bdi>;
}

/** Text that is copied as a whole. */
export function Code({ text, what }: { readonly text: string; readonly what: string }): ReactNode {
  return (
    <div className={cls(styles.code)}>
      {/* It may be longer than its box: the keyboard has to be able to move in it. */}
      <pre tabIndex={0} role="group" aria-label={what}>
        {text}
      </pre>
      <Copy text={text} what={what} isIcon />
    </div>
  );
}

export type Fact = readonly [term: string, value: ReactNode];

/** Terms with what each is; those without anything are left out. */
export function Facts({ facts }: { readonly facts: readonly Fact[] }): ReactNode {
  return (
    <dl className={cls(styles.facts)}>
      {facts
        .filter(([, value]) => value !== null && value !== undefined && value !== '')
        .flatMap(([term, value]) => [<dt key={`${term}-term`}>{term}</dt>, <dd key={term}>{value}</dd>])}
    </dl>
  );
}

/** What is read out and not seen. */
export function Unseen({ children }: { readonly children: ReactNode }): ReactNode {
  return <span className={cls(styles.unseen)}>{children}</span>;
}
