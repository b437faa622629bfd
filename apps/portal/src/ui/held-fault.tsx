import { createContext, use, useMemo, useState, type FocusEvent, type ReactNode } from 'react';
import { cls } from './class-names.ts';
import styles from './field.module.css';

type Scope = {
  /** Faults are shown at once: publishing was tried, or this is no form of a draft. */
  readonly isShown: boolean;
  /** True if the fields are saved, so that the faults are about their present content. */
  readonly isSaved: boolean;
};
const Faults = createContext<Scope>({ isShown: true, isSaved: true });

/** A form of a draft: its fields hold their faults back until they were left, or publishing was tried. */
export function FaultScope({
  draft: { isTried, saving },
  children,
}: {
  readonly draft: { readonly isTried: boolean; readonly saving: string };
  readonly children: ReactNode;
}): ReactNode {
  const isSaved = saving === 'saved';
  const scope = useMemo(() => ({ isShown: isTried, isSaved }), [isTried, isSaved]);
  return <Faults value={scope}>{children}</Faults>;
}

/** Fields that belong together: once the last of them is left, all of them show their faults. */
export function FaultGroup({ children }: { readonly children: ReactNode }): ReactNode {
  const { isSaved } = use(Faults);
  const [isShown, leave] = useLeft();
  const scope = useMemo(() => ({ isShown, isSaved }), [isShown, isSaved]);
  const blur = (event: FocusEvent<HTMLElement>): void => {
    if (!event.currentTarget.contains(event.relatedTarget)) leave();
  };
  return (
    <Faults value={scope}>
      <div className={cls(styles.group)} onBlur={blur}>
        {children}
      </div>
    </Faults>
  );
}

/** Returns whether this part of a form shows faults now. */
export const useFaultsShown = (): boolean => use(Faults).isShown;

/**
 * Returns whether a field shows its fault now, and what it calls when it is left. A field that was left waits for the saving of what was
 * typed: the fault before it is that of the text before.
 */
export function useLeft(): readonly [isShown: boolean, leave: () => void] {
  const { isShown, isSaved } = use(Faults);
  const [state, setState] = useState<'untouched' | 'left' | 'shown'>('untouched');
  if (state === 'left' && isSaved) setState('shown');
  const leave = (): void => afterPress(() => setState((before) => (before === 'shown' ? before : 'left')));
  return [isShown || state === 'shown', leave];
}

let isPressed = false;
if (typeof window !== 'undefined') {
  window.addEventListener('pointerdown', () => (isPressed = true), true);
  for (const end of ['pointerup', 'pointercancel'] as const) {
    window.addEventListener(end, () => (isPressed = false), true);
  }
}

/** Runs `act` after the pointer is released. A fault that appears during a press would move the button away. */
function afterPress(act: () => void): void {
  if (!isPressed) return act();
  const end = (): void => {
    window.removeEventListener('pointerup', end);
    window.removeEventListener('pointercancel', end);
    // The click follows its pointerup.
    setTimeout(act);
  };
  window.addEventListener('pointerup', end);
  window.addEventListener('pointercancel', end);
}
