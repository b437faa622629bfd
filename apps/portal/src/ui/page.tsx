import { useEffect, type ReactNode } from 'react';
import { cls } from './class-names.ts';
import styles from './page.module.css';

/** The head of a screen: where one is, in a sentence where there is one, and what can be done. It names the window too. */
export function PageHead({
  title,
  lead,
  children,
}: {
  readonly title: string;
  readonly lead?: ReactNode;
  readonly children?: ReactNode;
}): ReactNode {
  useEffect(() => {
    document.title = `${title} · Carillon`;
  }, [title]);
  return (
    <div className={cls(styles.head)}>
      <h1>{title}</h1>
      {children !== undefined && <div className={cls(styles.actions)}>{children}</div>}
      {lead !== undefined && <p className={cls(styles.lead)}>{lead}</p>}
    </div>
  );
}

/** What stands below the head of a screen that is no list. */
export function PageBody({ children }: { readonly children: ReactNode }): ReactNode {
  return <div className={cls(styles.body)}>{children}</div>;
}

export function Card({ title, children }: { readonly title?: string; readonly children: ReactNode }): ReactNode {
  return (
    <section className={cls(styles.card)} {...(title !== undefined && { 'aria-label': title })}>
      {title !== undefined && <h2>{title}</h2>}
      {children}
    </section>
  );
}

/** Things one below the other, each with its name first. */
export function Rows({ label, children }: { readonly label: string; readonly children: ReactNode }): ReactNode {
  return (
    <ul aria-label={label} className={cls(styles.cards)}>
      {children}
    </ul>
  );
}

export function Row({ children }: { readonly children: ReactNode }): ReactNode {
  return <li className={cls(styles.row)}>{children}</li>;
}

export function Actions({ children }: { readonly children: ReactNode }): ReactNode {
  return <div className={cls(styles.actions)}>{children}</div>;
}

export function Quiet({ children }: { readonly children: ReactNode }): ReactNode {
  return <span className={cls(styles.quiet)}>{children}</span>;
}
