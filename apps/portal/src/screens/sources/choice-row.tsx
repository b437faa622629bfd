import type { ReactNode } from 'react';
import { cls } from '../../ui/class-names.ts';
import { Quiet } from '../../ui/page.tsx';
import { Checkbox } from '../../ui/toggle.tsx';
import { ProblemFix } from './problem-fix.tsx';
import styles from './sources.module.css';

/** A table or topic with a checkbox. A chosen row shows its settings. A row that cannot be read shows the reason and the fix. */
export function ChoiceRow({
  name,
  size,
  streams,
  problem,
  isChosen,
  onChoose,
  children,
}: {
  readonly name: string;
  /** How much is in it: `3 columns`. */
  readonly size: string;
  /** Streams that read it already, or will once their drafts are published. */
  readonly streams: readonly string[];
  readonly problem: { readonly sentence: string; readonly fix: string | null } | null;
  readonly isChosen: boolean;
  readonly onChoose: (isOn: boolean) => void;
  /** Settings of a chosen one. */
  readonly children: ReactNode;
}): ReactNode {
  return (
    <>
      <Checkbox isOn={isChosen} isDisabled={problem !== null} onChange={onChoose}>
        <bdi>{name}</bdi>{' '}
        <Quiet>
          {size}
          {streams.length > 0 && ` · in the stream ${streams.join(', ')}`}
        </Quiet>
      </Checkbox>
      {problem !== null && <ProblemFix {...problem} of={name} />}
      {isChosen && (
        <div role="group" aria-label={`Settings of ${name}`} className={cls(styles.settings)}>
          {children}
        </div>
      )}
    </>
  );
}
