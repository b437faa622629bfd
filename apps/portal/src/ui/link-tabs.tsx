import type { ReactNode } from 'react';
import { cls } from './class-names.ts';
import styles from './tabs.module.css';

/** Screens that belong together; each is a link with an address of its own, which takes the class. */
export function LinkTabs({
  label,
  children,
}: {
  readonly label: string;
  readonly children: (tabClass: string) => ReactNode;
}): ReactNode {
  return (
    <nav aria-label={label} className={cls(styles.list, styles.bar)}>
      {children(cls(styles.tab))}
    </nav>
  );
}
