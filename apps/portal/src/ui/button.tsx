import type { ReactNode } from 'react';
import { Button as AriaButton, type ButtonProps as AriaButtonProps } from 'react-aria-components';
import { cls } from './class-names.ts';
import styles from './button.module.css';

export type ButtonKind = 'main' | 'plain' | 'quiet' | 'danger';

export type ButtonProps = Omit<AriaButtonProps, 'className' | 'style' | 'children'> & {
  readonly children: ReactNode;
  /** `main` stands once on a page: the action that it is for. */
  readonly kind?: ButtonKind;
  /** An icon without a word, which `aria-label` says. */
  readonly isIcon?: boolean;
};

export const buttonClass = (kind: ButtonKind = 'plain', isIcon = false): string =>
  cls(styles.button, kind !== 'plain' && styles[kind], isIcon && styles.icon);

/** A verb with its object where two could be meant. */
export function Button({ kind, isIcon, ...props }: ButtonProps): ReactNode {
  return <AriaButton {...props} className={buttonClass(kind, isIcon)} />;
}
