import { ArrowLeft, X } from 'lucide-react';
import { useEffect, useRef, type ReactNode } from 'react';
import { Button } from './button.tsx';
import { cls } from './class-names.ts';
import { NARROW, useMedia } from './media.ts';
import styles from './split.module.css';
import { TEXT_FIELD } from './use-letter.ts';

export type SplitProps = {
  readonly list: ReactNode;
  /** What was opened of the list; null: nothing. Where there is little room it takes the place of the list. */
  readonly panel: ReactNode | null;
  readonly panelLabel: string;
};

/** A list, and beside it what was opened. */
export function Split({ list, panel, panelLabel }: SplitProps): ReactNode {
  return (
    <div className={cls(styles.split)}>
      <div className={cls(styles.list)} data-covered={panel === null ? undefined : ''}>
        {list}
      </div>
      {panel !== null && (
        <section aria-label={panelLabel} className={cls(styles.panel)}>
          {panel}
        </section>
      )}
    </div>
  );
}

export type PanelProps = {
  /** Names what is shown. On a narrow screen another id takes the focus to the title. */
  readonly id: string;
  readonly title: ReactNode;
  readonly onClose: () => void;
  readonly children: ReactNode;
};

/** One thing that was opened. */
export function Panel({ id, title, onClose, children }: PanelProps): ReactNode {
  const heading = useRef<HTMLHeadingElement>(null);
  const isNarrow = useMedia(NARROW);
  useEffect(() => {
    // Where it took the place of the list, the row that had the focus is gone.
    if (isNarrow) heading.current?.focus();
  }, [id, isNarrow]);
  const inside = useRef<HTMLDivElement>(null);
  const close = useRef(onClose);
  useEffect(() => {
    close.current = onClose;
  });
  // From the list too: there the focus stays when a row is opened.
  useEffect(() => {
    const hear = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape' || event.defaultPrevented || !(event.target instanceof Element)) return;
      if (event.target.closest('[role="dialog"], [role="listbox"], [role="menu"]')) return;
      // A field beside the panel has an Escape of its own.
      if (event.target.closest(TEXT_FIELD) && !inside.current?.contains(event.target)) return;
      close.current();
    };
    document.addEventListener('keydown', hear);
    return () => document.removeEventListener('keydown', hear);
  }, []);
  return (
    <div ref={inside} className={cls(styles.inside)}>
      <div className={cls(styles.head)}>
        <h2 ref={heading} tabIndex={-1}>
          {title}
        </h2>
        <Button kind="quiet" isIcon aria-label={isNarrow ? 'Back to the list' : 'Close'} onPress={onClose}>
          {isNarrow ? <ArrowLeft size={16} aria-hidden /> : <X size={16} aria-hidden />}
        </Button>
      </div>
      {children}
    </div>
  );
}
