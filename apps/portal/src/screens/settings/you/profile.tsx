import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState, type FormEvent, type ReactNode } from 'react';
import { api, bodyOf } from '../../../api/client.ts';
import { meQuery, type Profiled } from '../../../api/me.ts';
import { queryClient } from '../../../api/query-client.ts';
import { useUnsaved } from '../../../api/unsaved.ts';
import { Empty, Loading, Problem } from '../../../ui/answers.tsx';
import { Button } from '../../../ui/button.tsx';
import { cls } from '../../../ui/class-names.ts';
import { Curl } from '../../../ui/curl.tsx';
import { Field } from '../../../ui/field.tsx';
import { Actions, Card, PageBody } from '../../../ui/page.tsx';
import { Time } from '../../../ui/time.tsx';
import { say } from '../../../ui/notices.ts';
import { SettingsHead } from '../settings-head.tsx';
import styles from '../settings.module.css';
import { Authenticator } from './authenticator.tsx';

const readAgain = () => queryClient.invalidateQueries({ queryKey: meQuery.queryKey });

/** Who one is here: name, address, password and second factor. */
export function Profile(): ReactNode {
  const { data, error, refetch } = useQuery(meQuery);
  return (
    <>
      <SettingsHead title="Profile" lead="Your name, address and password." />
      <PageBody>
        {error && !data && <Problem error={error} onRetry={() => void refetch()} />}
        {!data && !error && <Loading what="your profile" />}
        {data?.person === null && (
          <Empty title="No profile">
            You are signed in with a token, which has no name, address or password. A link of{' '}
            <code>npx carillon owner-link</code> signs in a person.
          </Empty>
        )}
        {data?.person && (
          <>
            <NameAndAddress key={`${data.person.name} ${data.person.email}`} person={data.person} />
            <Password person={data.person} />
            <Authenticator person={data.person} onChanged={readAgain} />
            <p>
              <Link to="/settings/sessions">Your sessions</Link>
            </p>
          </>
        )}
      </PageBody>
    </>
  );
}

function NameAndAddress({ person }: { readonly person: Profiled }): ReactNode {
  const [name, setName] = useState(person.name);
  const [email, setEmail] = useState(person.email ?? '');
  const [current, setCurrent] = useState('');
  const isMoved = email.trim() !== (person.email ?? '');
  const needsProof = isMoved && person.has_password;
  const body = {
    ...(name.trim() !== person.name && { name: name.trim() }),
    ...(isMoved && { email: email.trim() }),
  };
  const save = useMutation({
    mutationFn: () =>
      bodyOf(api.PUT('/v1/me', { body: { ...body, ...(needsProof && { current_password: current }) } })),
    async onSuccess({ person: saved }) {
      setEmail(saved?.email ?? '');
      setCurrent('');
      await readAgain();
      say('Your profile is saved.');
    },
  });
  useUnsaved('/settings/you', Object.keys(body).length > 0 && !save.isPending);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (Object.keys(body).length > 0 && !save.isPending) save.mutate();
  };
  return (
    <Card title="Name and address">
      <form className={cls(styles.form)} onSubmit={submit}>
        <div className={cls(styles.pair)}>
          <Field label="Name" value={name} onChange={setName} autoComplete="name" maxLength={100} />
          <Field label="Email" type="email" value={email} onChange={setEmail} autoComplete="username" maxLength={254} />
        </div>
        {needsProof && (
          <Field
            label="Your password, to change the address"
            type="password"
            value={current}
            onChange={setCurrent}
            autoComplete="current-password"
          />
        )}
        {person.unconfirmed_email && (
          <p role="status">
            <strong>{person.unconfirmed_email.address}</strong> is not confirmed. Open the link that was mailed to it
            until <Time at={person.unconfirmed_email.ends_at} />, or ask an owner to confirm it under People. You sign
            in with {person.email ?? 'a link'} until then.
          </p>
        )}
        {save.error && <Problem error={save.error} />}
        <Actions>
          <Button
            type="submit"
            off={Object.keys(body).length === 0 ? 'Change something first.' : null}
            isDisabled={save.isPending}
          >
            Save
          </Button>
        </Actions>
        <Curl call={{ method: 'PUT', path: '/v1/me', body }} />
      </form>
    </Card>
  );
}

function Password({ person }: { readonly person: Profiled }): ReactNode {
  const [password, setPassword] = useState('');
  const [current, setCurrent] = useState('');
  const save = useMutation({
    mutationFn: () =>
      bodyOf(
        api.PUT('/v1/me/password', {
          body: { password, ...(person.has_password && { current_password: current }) },
        }),
      ),
    async onSuccess() {
      setPassword('');
      setCurrent('');
      await readAgain();
      say('Your password is set. All your other sessions have ended.');
    },
  });
  useUnsaved('/settings/you', password !== '' && !save.isPending);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (password !== '' && !save.isPending) save.mutate();
  };
  if (person.email === null) {
    return (
      <Card title="Set a password">
        <p>Enter your address first, because you sign in with it.</p>
      </Card>
    );
  }
  return (
    <Card title={person.has_password ? 'Password' : 'Set a password'}>
      <form className={cls(styles.form)} onSubmit={submit}>
        <p>
          At least twelve characters. A few words are better than one word with symbols. A new password ends all your
          other sessions.
        </p>
        <input type="text" name="username" autoComplete="username" value={person.email} readOnly hidden />
        <div className={cls(styles.pair)}>
          {person.has_password && (
            <Field
              label="Current password"
              type="password"
              value={current}
              onChange={setCurrent}
              autoComplete="current-password"
            />
          )}
          <Field
            label="New password"
            type="password"
            value={password}
            onChange={setPassword}
            autoComplete="new-password"
          />
        </div>
        {save.error && <Problem error={save.error} />}
        <Actions>
          <Button type="submit" isDisabled={save.isPending}>
            Set the password
          </Button>
        </Actions>
        <Curl call={{ method: 'PUT', path: '/v1/me/password', body: { password: '' } }} />
      </form>
    </Card>
  );
}
