import type { ReactNode } from 'react';
import { cls } from './class-names.ts';
import { curlWords, type Call } from './curl-words.ts';
import { Code } from './text.tsx';
import styles from './text.module.css';

/** The call that a screen or a button makes, for a shell; each of several buttons its own. */
export function Curl(said: { readonly call: Call } | { readonly calls: readonly Call[] }): ReactNode {
  const calls = 'call' in said ? [said.call] : said.calls;
  return (
    <details className={cls(styles.curl)}>
      <summary>As curl</summary>
      {calls.map((call) => (
        <Code key={`${call.method} ${call.path}`} text={curlWords(call, location.origin)} what="the command" />
      ))}
    </details>
  );
}
