import { useNavigate } from '@tanstack/react-router';
import { useCallback, useEffect, useRef, useState, type ReactNode } from 'react';
import { api, bodyOf, isAway } from '../../api/client.ts';
import { beginFirstSteps } from '../../api/first-steps.ts';
import { queryClient } from '../../api/query-client.ts';
import { setSignedIn } from '../../api/session.ts';
import { statusQuery } from '../../api/status.ts';
import { Loading, Problem } from '../../ui/answers.tsx';
import { cls } from '../../ui/class-names.ts';
import { SignIn } from './sign-in.tsx';
import styles from './sign-in.module.css';

/** Uses the word of a link once. The browser's history and address bar do not keep it; the page does until the server has answered. */
export function Welcome(): ReactNode {
  const navigate = useNavigate();
  const [refused, setRefused] = useState<Error | null>(null);
  // Once: the word counts once, and the way from here begins while this still stands.
  const word = useRef<string | null>(null);
  const use = useCallback(() => {
    setRefused(null);
    const enter = (): void => {
      beginFirstSteps();
      setSignedIn(true);
      void navigate({ to: '/', replace: true });
    };
    bodyOf(api.POST('/v1/session', { body: { word: word.current ?? '' } })).then(
      enter,
      // Whoever has a session already and clicks an old link once more just goes on.
      (error: Error) => queryClient.fetchQuery({ ...statusQuery, retry: false }).then(enter, () => setRefused(error)),
    );
  }, [navigate]);
  useEffect(() => {
    if (word.current !== null) return;
    word.current = location.hash.slice(1);
    history.replaceState(history.state, '', '/welcome');
    if (word.current === '') void navigate({ to: '/sign-in', replace: true });
    else use();
  }, [navigate, use]);
  if (refused === null) return <Loading what="Carillon" />;
  if (!isAway(refused)) return <SignIn said={refused} />;
  return (
    <main className={cls(styles.page)}>
      <div className={cls(styles.card)}>
        <h1>Sign-in was refused, but your link still works</h1>
        <Problem error={refused} onRetry={use} />
      </div>
    </main>
  );
}
