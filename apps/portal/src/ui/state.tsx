import { CircleAlert, CircleCheck, CircleMinus, CirclePause, CircleX, Clock3, type LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { cls } from './class-names.ts';
import { toneOf, type Tone } from './state-words.ts';
import styles from './state.module.css';

const SHAPES: Readonly<Record<Tone, LucideIcon>> = {
  good: CircleCheck,
  wait: Clock3,
  held: CirclePause,
  bad: CircleX,
  doubt: CircleAlert,
  none: CircleMinus,
};

/** A state of the ledger: a shape, a word and a colour, so that no one of them has to be seen. */
export function State({
  state,
  words,
}: {
  readonly state: string;
  /** The state as the API words it. */
  readonly words: string | null;
}): ReactNode {
  return (
    <Lamp tone={toneOf(state)} name={state}>
      {words ?? state}
    </Lamp>
  );
}

/** The same for what is no state of a delivery. */
export function Lamp({
  tone,
  name,
  children,
}: {
  readonly tone: Tone;
  readonly name?: string;
  readonly children: ReactNode;
}): ReactNode {
  const Shape = SHAPES[tone];
  return (
    <span className={cls(styles.state, styles[tone])} data-state={name}>
      <Shape size={13} aria-hidden />
      {children}
    </span>
  );
}
