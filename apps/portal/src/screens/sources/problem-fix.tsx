import type { ReactNode } from 'react';
import { cls } from '../../ui/class-names.ts';
import { Lamp } from '../../ui/state.tsx';
import type { Tone } from '../../ui/state-words.ts';
import { Code } from '../../ui/text.tsx';
import { Sentence } from '../../ui/sentence.tsx';
import styles from './sources.module.css';

/** A sentence on what is wrong, with the SQL or line that ends it to copy. */
export function ProblemFix({
  sentence,
  fix,
  of,
  tone = 'bad',
}: {
  readonly sentence: string;
  readonly fix: string | null;
  /** The server, table or topic, for people who cannot see where it stands. */
  readonly of: string;
  readonly tone?: Tone;
}): ReactNode {
  return (
    <div className={cls(styles.problem)}>
      <Lamp tone={tone}>
        <Sentence text={sentence} />
      </Lamp>
      {fix !== null && <Code text={fix} what={`the fix for ${of}`} />}
    </div>
  );
}
