import { useEffect, useState, type ReactNode } from 'react';
import { useLiveState, useRetryAt } from '../api/live.ts';
import { useAnswering } from '../api/session.ts';
import { cls } from './class-names.ts';
import styles from './live-rows.module.css';

/** That nobody tells what changes, where that is so: what is shown stays, and is asked for instead. */
export function LiveLine({ workspace }: { readonly workspace: string }): ReactNode {
  const isLost = useLiveState(workspace) === 'lost';
  // That nothing answers at all is said by the frame.
  const isAnswering = useAnswering();
  if (!isLost || !isAnswering) return null;
  return (
    <p className={cls(styles.lost)}>
      <span role="status">Live updates stopped. This page asks for changes every few seconds instead.</span>
      <Countdown workspace={workspace} />
    </p>
  );
}

/** Counts in sight alone: read out, it would never end. */
function Countdown({ workspace }: { readonly workspace: string }): ReactNode {
  const at = useRetryAt(workspace);
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  const seconds = at === null ? 0 : Math.ceil((at - now) / 1_000);
  return <span aria-hidden> {seconds > 0 ? `Next try in ${seconds} s.` : 'Trying again…'}</span>;
}
