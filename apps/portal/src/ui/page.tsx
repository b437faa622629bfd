import { useEffect, type ReactNode } from 'react';
import { cls } from './class-names.ts';
import styles from './page.module.css';

/** The head of a screen: where one is, in a sentence where there is one, and what can be done. It names the window too. */
export function PageHead({
  title,
  crumbs,
  lead,
  children,
}: {
  readonly title: string;
  /** Links to what it is part of, the widest first. */
  readonly crumbs?: readonly ReactNode[];
  readonly lead?: ReactNode;
  readonly children?: ReactNode;
}): ReactNode {
  useEffect(() => {
    document.title = `${title} · Carillon`;
  }, [title]);
  return (
    <div className={cls(styles.head)}>
      {crumbs !== undefined && (
        <nav aria-label="Breadcrumb" className={cls(styles.crumbs)}>
          <ol>
            {crumbs.map((crumb, at) => (
              // A way down a tree has no other order than its own.
              <li key={at}>{crumb}</li>
            ))}
          </ol>
        </nav>
      )}
      <h1>{title}</h1>
      {children !== undefined && <div className={cls(styles.actions)}>{children}</div>}
      {lead !== undefined && <p className={cls(styles.lead)}>{lead}</p>}
    </div>
  );
}

/** What stands below the head of a screen that is no list. */
export function PageBody({
  children,
  isWide = false,
}: {
  readonly children: ReactNode;
  /** Takes all the width there is, for an editor. */
  readonly isWide?: boolean;
}): ReactNode {
  return <div className={cls(styles.body, isWide && styles.wide)}>{children}</div>;
}

export function Card({
  title,
  beside,
  children,
}: {
  readonly title?: string;
  /** At the other end of the line of the title. */
  readonly beside?: ReactNode;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <section className={cls(styles.card)} {...(title !== undefined && { 'aria-label': title })}>
      {title !== undefined && (
        <div className={cls(styles.headed)}>
          <h2>{title}</h2>
          {beside}
        </div>
      )}
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
