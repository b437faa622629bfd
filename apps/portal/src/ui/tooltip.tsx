import { useState, type ReactNode } from 'react';
import { Tooltip as AriaTooltip, TooltipTrigger } from 'react-aria-components';
import { cls } from './class-names.ts';
import styles from './popup.module.css';

/**
 * A sentence beside a button: by pointing at it, by its focus, and, where `opensOnPress`, by pressing it, which is the only way on a
 * phone. `children`: one Button. Nothing that somebody needs may stand here alone.
 */
export function Tooltip({
  text,
  opensOnPress = false,
  isOpenAtFirst = false,
  children,
}: {
  readonly text: string;
  readonly opensOnPress?: boolean;
  readonly isOpenAtFirst?: boolean;
  readonly children: (press: () => void) => ReactNode;
}): ReactNode {
  const [isOpen, setOpen] = useState(isOpenAtFirst);
  return (
    <TooltipTrigger
      isOpen={isOpen}
      onOpenChange={setOpen}
      delay={300}
      closeDelay={100}
      shouldCloseOnPress={!opensOnPress}
    >
      {children(() => opensOnPress && setOpen(true))}
      <AriaTooltip offset={6} className={cls(styles.tooltip)}>
        {/* Drawn outside of all landmarks: what is live is found there all the same, and a press on a phone reads it out. */}
        <span aria-live="polite">{text}</span>
      </AriaTooltip>
    </TooltipTrigger>
  );
}
