import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState, type FormEvent, type ReactNode } from 'react';
import { api, bodyOf, Refusal } from '../../api/client.ts';
import { meQuery } from '../../api/me.ts';
import { queryClient } from '../../api/query-client.ts';
import { setSignedIn } from '../../api/session.ts';
import { Loading, Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Field } from '../../ui/field.tsx';
import { Time } from '../../ui/time.tsx';
import { PasswordForm, ProviderLinks, waysQuery, type Credential } from './sign-in.tsx';
import styles from './sign-in.module.css';

/** The word of the link: out of the address bar and the history, and in this page until it is used. */
function useWord(): string {
  const [word] = useState(() => location.hash.slice(1));
  useEffect(() => history.replaceState(history.state, '', '/invitation'), []);
  return word;
}

/** What somebody is invited to, and the form that takes it up. */
export function Invitation(): ReactNode {
  const word = useWord();
  useEffect(() => {
    document.title = 'Invitation · Carillon';
  }, []);
  const { data, error, refetch } = useQuery({
    queryKey: ['/v1/invitations/look', word],
    queryFn: ({ signal }) => bodyOf(api.POST('/v1/invitations/look', { body: { word }, signal })),
    enabled: word !== '',
    staleTime: Infinity,
  });
  return (
    <main className={cls(styles.page)}>
      <div className={cls(styles.card)}>
        <img src="/assets/icon.svg" alt="" />
        <h1>You are invited to Carillon</h1>
        {word === '' && <p>This link is incomplete. Open the whole link from the mail.</p>}
        {error && <Problem error={error} onRetry={() => void refetch()} />}
        {!data && !error && word !== '' && <Loading what="your invitation" rows={2} />}
        {data && (
          <>
            <p>
              As <strong>{data.email}</strong>
              {data.owner && ', owner of the deployment'}
              {data.memberships.map(({ workspace, role }) => `, ${role} of ${workspace}`).join('')}. The link works
              once, until <Time at={data.ends_at} />.
            </p>
            {data.has_account ? (
              <AcceptAsSelf word={word} email={data.email} />
            ) : (
              <Accept word={word} email={data.email} />
            )}
          </>
        )}
      </div>
    </main>
  );
}

async function enter(go: () => Promise<void>): Promise<void> {
  queryClient.clear();
  setSignedIn(true);
  await go();
}

/** Somebody who has an account takes the roles up as who they are. */
function AcceptAsSelf({ word, email }: { readonly word: string; readonly email: string }): ReactNode {
  const navigate = useNavigate();
  const { data: me } = useQuery({ ...meQuery, retry: false, refetchInterval: false });
  const accept = useMutation({
    async mutationFn(credential: Credential | null) {
      if (credential !== null) await bodyOf(api.POST('/v1/session', { body: credential }));
      return bodyOf(api.POST('/v1/invitations/accept', { body: { word } }));
    },
    onSuccess: () => enter(() => navigate({ to: '/', replace: true })),
  });
  const hasPasswords = useQuery(waysQuery).data?.passwords ?? true;
  const needsCode = accept.error instanceof Refusal && accept.error.code === 'second_factor';
  const refused = accept.error && !needsCode && <Problem error={accept.error} />;
  if (me?.person) {
    return (
      <div className={cls(styles.form)}>
        <p>You are signed in as {me.person.name}.</p>
        {refused}
        <Button kind="main" isDisabled={accept.isPending} onPress={() => accept.mutate(null)}>
          Join
        </Button>
      </div>
    );
  }
  return (
    <>
      <p>
        You have an account here. Sign in to accept the invitation.{' '}
        {!hasPasswords && ' Then open the link in the mail again.'}
      </p>
      {refused}
      {hasPasswords ? (
        <PasswordForm
          known={email}
          isPending={accept.isPending}
          needsCode={needsCode}
          onSend={(credential) => accept.mutate(credential)}
        />
      ) : (
        <ProviderLinks verb="Continue with" to="/" />
      )}
    </>
  );
}

function Accept({ word, email }: { readonly word: string; readonly email: string }): ReactNode {
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const { data: ways } = useQuery(waysQuery);
  const hasPasswords = ways?.passwords ?? true;
  // Without a password the next sign-in needs the provider, so it is connected while the session of the invitation lasts.
  const connects = !hasPasswords && ways !== undefined && ways.providers.length > 0;
  const accept = useMutation({
    mutationFn: () => {
      const body = { word, name: name.trim(), ...(hasPasswords && { password }) };
      return bodyOf(api.POST('/v1/invitations/accept', { body }));
    },
    onSuccess: () => (connects ? undefined : enter(() => navigate({ to: '/', replace: true }))),
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (name.trim() !== '' && (password !== '' || !hasPasswords) && !accept.isPending) accept.mutate();
  };
  if (accept.isSuccess && connects) {
    return <Connect providers={ways.providers} />;
  }
  return (
    <form className={cls(styles.form)} onSubmit={submit}>
      {accept.error && <Problem error={accept.error} />}
      <input type="text" name="username" autoComplete="username" value={email} readOnly hidden />
      <Field label="Your name" autoComplete="name" autoFocus value={name} onChange={setName} />
      {hasPasswords && (
        <Field
          label="A new password"
          type="password"
          autoComplete="new-password"
          value={password}
          onChange={setPassword}
          note="At least twelve characters. A few words are better than one word with symbols."
        />
      )}
      <Button type="submit" kind="main" isDisabled={accept.isPending}>
        Join
      </Button>
    </form>
  );
}

type Provider = { readonly name: string; readonly title: string };

/** The last step where passwords are off: what signs in from now on. */
function Connect({ providers }: { readonly providers: readonly Provider[] }): ReactNode {
  const connect = useMutation({
    mutationFn: (provider: string) => bodyOf(api.POST('/v1/me/identities', { body: { provider, to: '/' } })),
    onSuccess: ({ location: away }) => location.assign(away),
  });
  return (
    <div className={cls(styles.form)}>
      <p role="status">You have joined. Connect the account that you want to sign in with.</p>
      {connect.error && <Problem error={connect.error} />}
      {providers.map(({ name, title }) => (
        <Button key={name} kind="main" isDisabled={connect.isPending} onPress={() => connect.mutate(name)}>
          Connect {title}
        </Button>
      ))}
    </div>
  );
}
