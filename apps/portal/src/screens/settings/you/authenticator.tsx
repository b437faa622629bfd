import { useMutation } from '@tanstack/react-query';
import { useState, type FormEvent, type ReactNode } from 'react';
import { api, bodyOf } from '../../../api/client.ts';
import type { Profiled } from '../../../api/me.ts';
import { Problem } from '../../../ui/answers.tsx';
import { Button } from '../../../ui/button.tsx';
import { cls } from '../../../ui/class-names.ts';
import { Curl } from '../../../ui/curl.tsx';
import { Field } from '../../../ui/field.tsx';
import { Actions, Card } from '../../../ui/page.tsx';
import { Code } from '../../../ui/text.tsx';
import { say } from '../../../ui/notices.ts';
import { KeptOnce } from '../kept-once.tsx';
import styles from '../settings.module.css';
import { QrCode } from './qr-code.tsx';

type Wanted = 'begin' | 'remove' | 'renew';
const VERBS: Readonly<Record<Wanted, string>> = {
  begin: 'Set up an authenticator',
  remove: 'Remove the authenticator',
  renew: 'Make new recovery codes',
};
const PATHS: Readonly<Record<Wanted, string>> = {
  begin: '/v1/me/totp',
  remove: '/v1/me/totp/remove',
  renew: '/v1/me/recovery-codes',
};

/** The second factor: an app that shows six digits, and ten codes for when it is lost. */
export function Authenticator({
  person,
  onChanged,
}: {
  readonly person: Profiled;
  readonly onChanged: () => Promise<void>;
}): ReactNode {
  const [current, setCurrent] = useState('');
  const [begun, setBegun] = useState<{ readonly secret: string; readonly uri: string } | null>(null);
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const body = person.has_password ? { current_password: current } : {};
  const act = useMutation({
    async mutationFn(wanted: Wanted) {
      if (wanted === 'begin') setBegun(await bodyOf(api.POST('/v1/me/totp', { body })));
      if (wanted === 'remove') await bodyOf(api.POST('/v1/me/totp/remove', { body }));
      if (wanted === 'renew') setCodes((await bodyOf(api.POST('/v1/me/recovery-codes', { body }))).recovery_codes);
      return wanted;
    },
    async onSuccess(wanted) {
      setCurrent('');
      await onChanged();
      if (wanted === 'remove') say('The authenticator is removed. You sign in with only your password.');
    },
  });
  const press = (wanted: Wanted, kind: 'plain' | 'danger' = 'plain'): ReactNode => (
    <Button kind={kind} isDisabled={act.isPending && act.variables === wanted} onPress={() => act.mutate(wanted)}>
      {VERBS[wanted]}
    </Button>
  );
  if (codes !== null) {
    return (
      <KeptOnce
        title="Your recovery codes"
        what="the recovery codes"
        text={codes.join('\n')}
        onDone={() => {
          setCodes(null);
          setBegun(null);
          void onChanged();
        }}
      >
        <p>
          Each code signs you in once if you lose your phone. The codes are shown only now. Older codes do not work any
          more.
        </p>
      </KeptOnce>
    );
  }
  return (
    <Card title="Authenticator">
      {begun === null || person.totp ? (
        <>
          <p>
            {person.totp
              ? `Your sign-in asks for a code of your authenticator. ${person.recovery_codes_left} of your recovery codes are left.`
              : 'With an app on your phone, a stolen password is not enough to sign in as you.'}
          </p>
          {person.has_password && (
            <form onSubmit={(event) => event.preventDefault()}>
              <input type="text" name="username" autoComplete="username" value={person.email ?? ''} readOnly hidden />
              <Field
                label="Your password, to confirm"
                type="password"
                value={current}
                onChange={setCurrent}
                autoComplete="current-password"
              />
            </form>
          )}
          {act.error && <Problem error={act.error} />}
          <Actions>
            {person.totp ? (
              <>
                {press('renew')}
                {press('remove', 'danger')}
              </>
            ) : (
              press('begin')
            )}
          </Actions>
          <Curl call={{ method: 'POST', path: PATHS[person.totp ? 'renew' : 'begin'], body: {} }} />
        </>
      ) : (
        <Confirmation begun={begun} onConfirmed={setCodes} onCancel={() => setBegun(null)} />
      )}
    </Card>
  );
}

/** The first code proves that the app has the secret: before it, nothing is asked for at a sign-in. */
function Confirmation({
  begun,
  onConfirmed,
  onCancel,
}: {
  readonly begun: { readonly secret: string; readonly uri: string };
  readonly onConfirmed: (codes: readonly string[]) => void;
  readonly onCancel: () => void;
}): ReactNode {
  const [code, setCode] = useState('');
  const confirm = useMutation({
    mutationFn: () => bodyOf(api.POST('/v1/me/totp/confirm', { body: { code: code.replaceAll(/\s/g, '') } })),
    onSuccess: ({ recovery_codes }) => onConfirmed(recovery_codes),
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (code.trim() !== '' && !confirm.isPending) confirm.mutate();
  };
  return (
    <form className={cls(styles.form)} onSubmit={submit}>
      <p>Scan this with your authenticator app, or type the secret below into it. The secret never leaves this page.</p>
      <QrCode text={begun.uri} label="The secret of the authenticator as a QR code" />
      <Code text={begun.secret} what="the secret" />
      <Field
        label="Code in the app"
        value={code}
        onChange={setCode}
        autoComplete="one-time-code"
        inputMode="numeric"
        isMono
        fault={confirm.error?.message}
      />
      <Actions>
        <Button onPress={onCancel}>Cancel</Button>
        <Button type="submit" kind="main" isDisabled={confirm.isPending}>
          Confirm
        </Button>
      </Actions>
      <Curl call={{ method: 'POST', path: '/v1/me/totp/confirm', body: { code: '123456' } }} />
    </form>
  );
}
