import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { api, bodyOf } from '../../api/client.ts';
import { queryClient } from '../../api/query-client.ts';
import { setSignedIn } from '../../api/session.ts';
import { statusQuery } from '../../api/status.ts';
import { Loading } from '../../ui/answers.tsx';
import { SignIn } from './sign-in.tsx';

/** Uses the word of a link once. The browser's history and address bar do not keep it. */
export function Welcome(): ReactNode {
  const navigate = useNavigate();
  const [refused, setRefused] = useState<Error | null>(null);
  // Once: the word counts once, and the way from here begins while this still stands.
  const isUsed = useRef(false);
  useEffect(() => {
    if (isUsed.current) return;
    isUsed.current = true;
    const word = location.hash.slice(1);
    history.replaceState(history.state, '', '/welcome');
    if (word === '') {
      void navigate({ to: '/sign-in', replace: true });
      return;
    }
    const enter = (): void => {
      setSignedIn(true);
      void navigate({ to: '/', replace: true });
    };
    bodyOf(api.POST('/v1/session', { body: { word } })).then(
      enter,
      // Whoever has a session already and clicks an old link once more just goes on.
      (error: Error) => queryClient.fetchQuery(statusQuery).then(enter, () => setRefused(error)),
    );
  }, [navigate]);
  return refused === null ? <Loading what="Carillon" /> : <SignIn said={refused} />;
}
