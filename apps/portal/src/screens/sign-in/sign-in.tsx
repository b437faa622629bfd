import { queryOptions, useMutation, useQuery } from '@tanstack/react-query';
import { useLocation, useNavigate } from '@tanstack/react-router';
import { useEffect, useState, type FormEvent, type ReactNode } from 'react';
import { api, bodyOf, Refusal } from '../../api/client.ts';
import { queryClient } from '../../api/query-client.ts';
import { setSignedIn } from '../../api/session.ts';
import { Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Field } from '../../ui/field.tsx';
import styles from './sign-in.module.css';

/** The server writes the API reference, so the page is loaded again after the sign-in. */
const WRITTEN_BY_SERVER = '/docs/api';
/** Pages that are only for whoever has no session. */
const DOORS: readonly string[] = ['/welcome', '/sign-in', '/invitation'];

/** How people sign in here: answered to anybody. */
export const waysQuery = queryOptions({
  queryKey: ['/v1/sign-in'],
  queryFn: ({ signal }) => bodyOf(api.GET('/v1/sign-in', { signal })),
  staleTime: 60_000,
});

export type Credential =
  | { readonly word: string }
  | { readonly email: string; readonly password: string; readonly code?: string };

/** Opens a session: at an identity provider, by address and password, or by the owner token; `said` is what stands above them from the beginning. */
export function SignIn({ said }: { readonly said?: Error | null }): ReactNode {
  const [isToken, setToken] = useState(false);
  const navigate = useNavigate();
  const { pathname, href } = useLocation();
  const ways = useQuery(waysQuery);
  // While it is unknown, and where it cannot be asked for, the form stands: the server refuses what is off.
  const hasPasswords = ways.data?.passwords ?? true;
  const to = DOORS.includes(pathname) ? '/' : href;
  useEffect(() => {
    document.title = 'Sign in · Carillon';
  }, []);
  const signIn = useMutation({
    mutationFn: (body: Credential) => bodyOf(api.POST('/v1/session', { body })),
    async onSuccess() {
      if (pathname === WRITTEN_BY_SERVER) return location.reload();
      queryClient.clear();
      setSignedIn(true);
      if (DOORS.includes(pathname)) await navigate({ to: '/', replace: true });
      return undefined;
    },
  });
  const needsCode = signIn.error instanceof Refusal && signIn.error.code === 'second_factor';
  const error = needsCode ? null : (signIn.error ?? said ?? null);
  const send = (body: Credential): void => {
    if (!signIn.isPending) signIn.mutate(body);
  };
  const choose = (token: boolean): void => {
    signIn.reset();
    setToken(token);
  };
  return (
    <main className={cls(styles.page)}>
      <div className={cls(styles.card)}>
        <img src="/assets/icon.svg" alt="" />
        <h1>Sign in to Carillon</h1>
        {error !== null && <Problem error={error} />}
        {isToken ? (
          <TokenForm isPending={signIn.isPending} onSend={send} />
        ) : (
          <>
            <ProviderLinks verb="Continue with" to={to} />
            {hasPasswords && <PasswordForm isPending={signIn.isPending} needsCode={needsCode} onSend={send} />}
            {!hasPasswords && ways.data?.providers.length === 0 && (
              <p>
                Passwords are off and no identity provider is set up. Owners can sign in with the owner token or a link.
              </p>
            )}
          </>
        )}
        <Button kind="quiet" onPress={() => choose(!isToken)}>
          {isToken ? 'Sign in another way' : 'Use the owner token'}
        </Button>
        <p>
          Or create a link that signs in once: <code>npx carillon owner-link</code>
        </p>
      </div>
    </main>
  );
}

/** One link for each identity provider: a page of the server that leads there, outside of the router. */
export function ProviderLinks({ verb, to }: { readonly verb: string; readonly to: string }): ReactNode {
  const { data } = useQuery(waysQuery);
  return data?.providers.map(({ name, title, begin }) => (
    <a key={name} className={cls(styles.provider)} href={`${begin}?to=${encodeURIComponent(to)}`}>
      {verb} {title}
    </a>
  ));
}

export type FormProps = { readonly isPending: boolean; readonly onSend: (body: Credential) => void };

/** Address, password, and a code where one is asked for. */
export function PasswordForm({
  isPending,
  needsCode,
  known = '',
  onSend,
}: FormProps & {
  /** The address, where it is clear whose it is. */
  readonly known?: string;
  /** Address and password are right, and a second factor is asked for. */
  readonly needsCode: boolean;
}): ReactNode {
  const [email, setEmail] = useState(known);
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const [asksCode, setAsksCode] = useState(false);
  // It stays while the next try is under way.
  if (needsCode && !asksCode) setAsksCode(true);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (email.trim() === '' || password === '') return;
    onSend({ email: email.trim(), password, ...(code.trim() !== '' && { code: code.trim() }) });
  };
  return (
    <form className={cls(styles.form)} onSubmit={submit}>
      <Field label="Email" type="email" autoComplete="username" autoFocus value={email} onChange={setEmail} />
      <Field label="Password" type="password" autoComplete="current-password" value={password} onChange={setPassword} />
      {asksCode && (
        <Field
          label="Code"
          autoComplete="one-time-code"
          autoFocus
          isMono
          value={code}
          onChange={setCode}
          note="Six digits of your authenticator, or one of your recovery codes."
        />
      )}
      <Button type="submit" kind="main" isDisabled={isPending}>
        Continue
      </Button>
    </form>
  );
}

function TokenForm({ isPending, onSend }: FormProps): ReactNode {
  const [word, setWord] = useState('');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (word.trim() !== '') onSend({ word: word.trim() });
  };
  return (
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
        note="In the file owner-token of the data folder."
      />
      <Button type="submit" kind="main" isDisabled={isPending}>
        Continue
      </Button>
    </form>
  );
}
