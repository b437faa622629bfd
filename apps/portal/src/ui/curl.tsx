import type { ReactNode } from 'react';
import { cls } from './class-names.ts';
import { curlWords, type Call } from './curl-words.ts';
import { Code } from './text.tsx';
import styles from './text.module.css';

/** The call that a screen or a button makes, for a shell. */
export function Curl({ call }: { readonly call: Call }): ReactNode {
  return (
    <details className={cls(styles.curl)}>
      <summary>As curl</summary>
      <Code text={curlWords(call, location.origin)} what="the command" />
    </details>
  );
}
