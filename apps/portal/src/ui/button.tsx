import { lazy, Suspense, useId, useState, type ReactNode } from 'react';
import { Button as AriaButton, type ButtonProps as AriaButtonProps } from 'react-aria-components';
import { cls } from './class-names.ts';
import { earlyPress } from './early-press.ts';
import styles from './button.module.css';

/** Comes after the page: the reason stands in the button's description until then. */
const Tooltip = lazy(async () => ({ default: (await import('./tooltip.tsx')).Tooltip }));

export type ButtonKind = 'main' | 'plain' | 'quiet' | 'danger';

export type ButtonProps = Omit<AriaButtonProps, 'className' | 'style' | 'children'> & {
  readonly children: ReactNode;
  /** `main` stands once on a page: the action that it is for. */
  readonly kind?: ButtonKind;
  /** An icon without a word, which `aria-label` says. */
  readonly isIcon?: boolean;
  /**
   * Why it does nothing for whoever looks, such as what `useMay` answers. It stays in the order of the keyboard and says so; a
   * form that it would have submitted has to refuse by itself. null: it works.
   */
  readonly off?: string | null;
};

export const buttonClass = (kind: ButtonKind = 'plain', isIcon = false): string =>
  cls(styles.button, kind !== 'plain' && styles[kind], isIcon && styles.icon);

/** A verb with its object where two could be meant. */
export function Button({ kind, isIcon, off = null, ...props }: ButtonProps): ReactNode {
  if (off !== null) return <OffButton {...props} reason={off} className={buttonClass(kind, isIcon)} />;
  return <AriaButton {...props} className={buttonClass(kind, isIcon)} />;
}

function OffButton({
  reason,
  children,
  className,
  'aria-label': label,
}: Pick<ButtonProps, 'children' | 'aria-label'> & {
  readonly reason: string;
  readonly className: string;
}): ReactNode {
  const id = useId();
  // Pressed before the tip was there: it opens as it comes, and the focus stays.
  const [isAsked, setAsked] = useState(false);
  const [hasFocus, setFocus] = useState(false);
  const button = (more: AriaButtonProps): ReactNode => (
    <AriaButton
      aria-disabled="true"
      aria-describedby={id}
      {...(label !== undefined && { 'aria-label': label })}
      className={className}
      {...more}
    >
      {children}
    </AriaButton>
  );
  return (
    <>
      <Suspense fallback={button({ ...earlyPress(() => setAsked(true)), onFocusChange: setFocus })}>
        <Tooltip text={reason} opensOnPress isOpenAtFirst={isAsked}>
          {(press) => button({ onPress: press, autoFocus: hasFocus })}
        </Tooltip>
      </Suspense>
      <span id={id} hidden>
        {reason}
      </span>
    </>
  );
}
