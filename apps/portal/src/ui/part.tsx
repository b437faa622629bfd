import { RotateCw } from 'lucide-react';
import { Component, lazy, Suspense, type ComponentType, type ReactNode } from 'react';
import { Button } from './button.tsx';
import { cls } from './class-names.ts';
import styles from './text.module.css';

/** In milliseconds: a page that was loaded anew this recently, and still lacks the file, would lack it after another time too. */
const RELOADED_WITHIN = 60_000;
const RELOADED_AT = 'carillon-reloaded-at';

/** What browsers say of a file of code that is not there: each its own words. */
const isMissingFile = (error: unknown): boolean =>
  error instanceof Error &&
  /dynamically imported module|importing a module script|error loading dynamically|preload css/i.test(error.message);

/** Whether the page may be loaded anew by itself: a browser that keeps nothing could never tell the first time from the tenth. */
function mayReload(): boolean {
  try {
    const before = Number(sessionStorage.getItem(RELOADED_AT) ?? 0);
    sessionStorage.setItem(RELOADED_AT, String(Date.now()));
    return Date.now() - before > RELOADED_WITHIN;
  } catch {
    return false;
  }
}

/**
 * A component in a file of its own, asked for when it is first drawn. Where the file is gone, because Carillon was upgraded under an
 * open page, the page is loaded anew, once; `Part` tells of what then still fails.
 */
export function lazyPart<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  return lazy(async () => {
    try {
      return { default: await load() };
    } catch (error) {
      if (!isMissingFile(error) || !mayReload()) throw error;
      location.reload();
      // Nothing is drawn in between.
      return new Promise<never>(() => undefined);
    }
  });
}

/** In place of what could not be loaded or drawn: why, and the one thing that helps. */
export function Failed({ error }: { readonly error: unknown }): ReactNode {
  return (
    <div role="alert" className={cls(styles.problem)}>
      <p>
        {isMissingFile(error)
          ? 'This part of the page could not be loaded. Carillon does not answer, or was upgraded since the page was opened.'
          : `This part of the page could not be drawn: ${error instanceof Error ? error.message : String(error)}`}
      </p>
      <Button onPress={() => location.reload()}>
        <RotateCw size={16} aria-hidden />
        Reload the page
      </Button>
    </div>
  );
}

type Held = { readonly failed: boolean; readonly error: unknown };

class Boundary extends Component<{ readonly children: ReactNode; readonly failed: ReactNode }, Held> {
  override state: Held = { failed: false, error: null };
  static getDerivedStateFromError(error: unknown): Held {
    return { failed: true, error };
  }
  override render(): ReactNode {
    const { failed, error } = this.state;
    return !failed ? this.props.children : (this.props.failed ?? <Failed error={error} />);
  }
}

/** Around a lazy component, or one that may break by itself: what stands around it stays. */
export function Part({
  children,
  loading = null,
  failed = null,
}: {
  readonly children: ReactNode;
  readonly loading?: ReactNode;
  /** In place of the words about it. */
  readonly failed?: ReactNode;
}): ReactNode {
  return (
    <Boundary failed={failed}>
      <Suspense fallback={loading}>{children}</Suspense>
    </Boundary>
  );
}
