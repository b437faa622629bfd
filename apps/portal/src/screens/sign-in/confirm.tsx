import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useState, type ReactNode } from 'react';
import { api, bodyOf, Refusal } from '../../api/client.ts';
import { meQuery } from '../../api/me.ts';
import { queryClient } from '../../api/query-client.ts';
import { Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import styles from './sign-in.module.css';

/** Returns true if the server will not accept this link later either. */
const isFinal = (error: Error | null): boolean =>
  error instanceof Refusal && error.status >= 400 && error.status < 500 && error.status !== 429;

/**
 * The page of a link that was mailed to somebody. A button uses the link, because programs that check mails open every address in them.
 * The word leaves the address bar and the history at once.
 */
export function Confirm(): ReactNode {
  const [word] = useState(() => location.hash.slice(1));
  useEffect(() => {
    history.replaceState(history.state, '', '/confirm');
    document.title = 'Confirm · Carillon';
  }, []);
  const confirm = useMutation({
    mutationFn: () => bodyOf(api.POST('/v1/mailed-links/open', { body: { word } })),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: meQuery.queryKey }),
  });
  const isUseless = word === '' || isFinal(confirm.error);
  return (
    <main className={cls(styles.page)}>
      <div className={cls(styles.card)}>
        <img src="/assets/icon.svg" alt="" />
        <h1>Confirm your email address</h1>
        {word === '' && <p>This link is incomplete. Open the whole link from the mail.</p>}
        {confirm.error && <Problem error={confirm.error} />}
        {confirm.data && (
          <p role="status">
            {confirm.data.purpose === 'address'
              ? `${confirm.data.email} is confirmed. Sign in with it from now on.`
              : 'Your account is unlocked. If somebody else entered the wrong codes, set a new password.'}
          </p>
        )}
        {!isUseless && !confirm.data && (
          <Button kind="main" isDisabled={confirm.isPending} onPress={() => confirm.mutate()}>
            Confirm
          </Button>
        )}
        {(isUseless || confirm.data) && (
          <p>
            <Link to="/">Go to Carillon</Link>
          </p>
        )}
      </div>
    </main>
  );
}
