import { useMutation } from '@tanstack/react-query';
import { useLocation, useNavigate } from '@tanstack/react-router';
import { useEffect, useState, type FormEvent, type ReactNode } from 'react';
import { api, bodyOf } from '../../api/client.ts';
import { queryClient } from '../../api/query-client.ts';
import { setSignedIn } from '../../api/session.ts';
import { Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Field } from '../../ui/field.tsx';
import styles from './sign-in.module.css';

/** The reference of the API is written by the server: whoever may see it now asks for it once more. */
const WRITTEN_BY_SERVER = '/docs';

/** Opens a session; `said` is what stands above the form from the beginning. */
export function SignIn({ said }: { readonly said?: Error | null }): ReactNode {
  const [word, setWord] = useState('');
  const navigate = useNavigate();
  const { pathname } = useLocation();
  useEffect(() => {
    document.title = 'Sign in · Carillon';
  }, []);
  const signIn = useMutation({
    mutationFn: () => bodyOf(api.POST('/v1/session', { body: { word: word.trim() } })),
    async onSuccess() {
      if (pathname === WRITTEN_BY_SERVER) return location.reload();
      queryClient.clear();
      setSignedIn(true);
      if (pathname === '/welcome' || pathname === '/sign-in') await navigate({ to: '/', replace: true });
      return undefined;
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (word.trim() !== '') signIn.mutate();
  };
  const error = signIn.error ?? said ?? null;
  return (
    <main className={cls(styles.page)}>
      <div className={cls(styles.card)}>
        <img src="/assets/icon.svg" alt="" />
        <h1>Sign in to Carillon</h1>
        {error !== null && <Problem error={error} />}
        <form className={cls(styles.form)} onSubmit={submit}>
          {/* A browser that keeps the token asks whose it is. */}
          <input type="text" name="username" autoComplete="username" value="owner" readOnly hidden />
          <Field
            label="Token"
            type="password"
            autoComplete="current-password"
            autoFocus
            isMono
            value={word}
            onChange={setWord}
            note="It stands in the file owner-token of the data folder."
          />
          <Button type="submit" kind="main" isDisabled={signIn.isPending}>
            Continue
          </Button>
        </form>
        <p>
          Or make a link that signs in once: <code>npx carillon owner-link</code>
        </p>
      </div>
    </main>
  );
}
