import { RotateCw } from 'lucide-react';
import type { ReactNode } from 'react';
import { Refusal } from '../api/client.ts';
import { Button } from './button.tsx';
import { cls } from './class-names.ts';
import { Sentence } from './sentence.tsx';
import styles from './text.module.css';

/** What would be here, why it is not, and the one thing that helps. */
export function Empty({
  title,
  children,
  action,
}: {
  readonly title: string;
  readonly children?: ReactNode;
  readonly action?: ReactNode;
}): ReactNode {
  return (
    <div className={cls(styles.empty)}>
      <h2>{title}</h2>
      {children !== undefined && <p>{children}</p>}
      {action}
    </div>
  );
}

/** What went wrong, what to do, and what to name when asking for help. */
export function Problem({
  error,
  onRetry,
}: {
  readonly error: Error;
  readonly onRetry?: (() => void) | undefined;
}): ReactNode {
  const requestId = error instanceof Refusal ? error.requestId : null;
  return (
    <div role="alert" className={cls(styles.problem)}>
      <p>
        <Sentence text={error.message} />
      </p>
      {requestId !== null && <small>When you ask for help, name the request {requestId}.</small>}
      {onRetry && (
        <Button onPress={onRetry}>
          <RotateCw size={16} aria-hidden />
          Try again
        </Button>
      )}
    </div>
  );
}

/** Rows that are on their way; what stands around them stays. They are drawn after 150 ms, so that quick answers do not flicker. */
export function Loading({ what, rows = 6 }: { readonly what: string; readonly rows?: number }): ReactNode {
  return (
    <div role="status" aria-label={`Loading ${what}`} className={cls(styles.bars)}>
      {Array.from({ length: rows }, (_, at) => (
        <span key={at} />
      ))}
    </div>
  );
}
