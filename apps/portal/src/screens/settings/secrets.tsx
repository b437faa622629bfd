import { useMutation, useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { useState, type FormEvent, type ReactNode } from 'react';
import { api, bodyOf, type Schemas } from '../../api/client.ts';
import { useMay } from '../../api/me.ts';
import { queryClient } from '../../api/query-client.ts';
import { Empty, Loading, Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Curl } from '../../ui/curl.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { Actions, PageBody, Quiet, Row, Rows } from '../../ui/page.tsx';
import { Lamp } from '../../ui/state.tsx';
import { Id } from '../../ui/text.tsx';
import { Time } from '../../ui/time.tsx';
import { say } from '../../ui/notices.ts';
import { Confirm } from '../../ui/confirm.tsx';
import { SettingsHead } from './settings-head.tsx';
import styles from './settings.module.css';
import { usePickedWorkspace } from './use-picked-workspace.ts';
import { NoWorkspace, WorkspacePicker } from './workspace-picker.tsx';

const SECRETS = '/v1/workspaces/{workspace}/secrets';
const ONE = `${SECRETS}/{name}` as const;
type Secret = Schemas['Secret'];

const NAME = /^[A-Z][A-Z0-9_]{0,63}$/;

type Open =
  | { readonly kind: 'set'; readonly name: string | null }
  | { readonly kind: 'remove'; readonly secret: Secret }
  | null;

/** Passwords of providers: they go in, and never come out again. */
export function Secrets(): ReactNode {
  const { workspace: wanted } = useSearch({ from: '/settings/secrets' });
  const picked = usePickedWorkspace(wanted);
  const { workspace } = picked;
  const off = useMay('configure', workspace ?? '-');
  const [open, setOpen] = useState<Open>(null);
  return (
    <>
      <SettingsHead
        title="Secrets"
        lead="Passwords of providers, by name. Nobody can read a value again. Different values have different fingerprints."
      >
        {workspace !== null && (
          <Button kind="main" off={off} onPress={() => setOpen({ kind: 'set', name: null })}>
            Set a secret
          </Button>
        )}
      </SettingsHead>
      <PageBody>
        <NoWorkspace picked={picked} />
        {workspace !== null && (
          <>
            <WorkspacePicker workspace={workspace} all={picked.all} />
            <SecretList key={workspace} workspace={workspace} off={off} onOpen={setOpen} />
            {open?.kind === 'set' && (
              <SetSecret workspace={workspace} known={open.name} onClose={() => setOpen(null)} />
            )}
            {open?.kind === 'remove' && <RemoveSecret secret={open.secret} onClose={() => setOpen(null)} />}
          </>
        )}
      </PageBody>
    </>
  );
}

function SecretList({
  workspace,
  off,
  onOpen,
}: {
  readonly workspace: string;
  readonly off: string | null;
  readonly onOpen: (open: Open) => void;
}): ReactNode {
  const { data, error, refetch } = useQuery({
    queryKey: [SECRETS, workspace],
    queryFn: ({ signal }) => bodyOf(api.GET(SECRETS, { params: { path: { workspace } }, signal })),
  });
  return (
    <>
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading what="secrets" rows={3} />}
      {data?.items.length === 0 && (
        <Empty title="No secrets yet">
          An account refers to its password as <code>{'${SMTP_PASSWORD}'}</code>. Set the value for that name here. It
          is stored encrypted.
        </Empty>
      )}
      {data && data.items.length > 0 && (
        <Rows label="Secrets">
          {data.items.map((secret) => {
            const { name, version, fingerprint, updated_at, used_by, overridden, readable } = secret;
            return (
              <Row key={name}>
                <div>
                  <h2>
                    <Id>{name}</Id>
                  </h2>
                  <Quiet>
                    Fingerprint <Id>{fingerprint}</Id> · value {version}, set <Time at={updated_at} /> ·{' '}
                    {used_by.length === 0
                      ? 'nothing uses it'
                      : `used by ${used_by.map((one) => `${one.kind} ${one.name}`.trim()).join(', ')}`}
                  </Quiet>
                  {overridden && (
                    <p>
                      <Lamp tone="held">Not used, because an environment variable overrides it</Lamp>
                    </p>
                  )}
                  {!readable && (
                    <p>
                      <Lamp tone="bad">Encrypted by an old version. Set the secret again.</Lamp>
                    </p>
                  )}
                </div>
                <Actions>
                  <Button
                    off={off}
                    onPress={() => onOpen({ kind: 'set', name })}
                    aria-label={`Set another value of ${name}`}
                  >
                    Set another value
                  </Button>
                  <Button
                    kind="danger"
                    off={off}
                    onPress={() => onOpen({ kind: 'remove', secret })}
                    aria-label={`Remove ${name}`}
                  >
                    Remove
                  </Button>
                </Actions>
              </Row>
            );
          })}
        </Rows>
      )}
      <Curl call={{ method: 'GET', path: `/v1/workspaces/${workspace}/secrets` }} />
    </>
  );
}

function SetSecret({
  workspace,
  known,
  onClose,
}: {
  readonly workspace: string;
  /** The one that gets another value; null: a name is asked for. */
  readonly known: string | null;
  readonly onClose: () => void;
}): ReactNode {
  const [name, setName] = useState(known ?? '');
  const [value, setValue] = useState('');
  const [isTried, setTried] = useState(false);
  const set = useMutation({
    mutationFn: () => bodyOf(api.PUT(ONE, { params: { path: { workspace, name } }, body: { value } })),
    async onSuccess() {
      await queryClient.invalidateQueries({ queryKey: [SECRETS] });
      say(`${name} is set. It is used from the next message or connection on.`);
      onClose();
    },
  });
  const nameFault = NAME.test(name) ? null : 'Use A-Z, 0-9 and _, such as SMTP_PASSWORD.';
  const valueFault = value === '' ? 'Enter the value.' : null;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setTried(true);
    if (nameFault === null && valueFault === null && !set.isPending) set.mutate();
  };
  return (
    <Dialog title={known === null ? 'Set a secret' : `Another value of ${known}`} isOpen onClose={onClose}>
      <form className={cls(styles.form)} onSubmit={submit}>
        {known === null && (
          <Field
            label="Name"
            value={name}
            onChange={setName}
            placeholder="SMTP_PASSWORD"
            autoComplete="off"
            autoFocus
            isMono
            note="The name in the account or integration. An existing secret gets this value."
            fault={isTried ? nameFault : null}
          />
        )}
        {/* A browser that keeps passwords asks whose it is. */}
        <input type="text" name="username" autoComplete="username" value={name} readOnly hidden />
        <Field
          label="Value"
          type="password"
          value={value}
          onChange={setValue}
          autoComplete="new-password"
          autoFocus={known !== null}
          isMono
          fault={isTried ? valueFault : null}
        />
        {set.error && <Problem error={set.error} />}
        <Curl
          call={{
            method: 'PUT',
            path: `/v1/workspaces/${workspace}/secrets/${name || '<NAME>'}`,
            // What stands here is replaced by whoever pastes it; forgotten, it is refused and no secret is lost.
            body: { value: '' },
          }}
        />
        <Actions>
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" kind="main" isDisabled={set.isPending}>
            Set the secret
          </Button>
        </Actions>
      </form>
    </Dialog>
  );
}

function RemoveSecret({
  secret: { workspace, name, used_by },
  onClose,
}: {
  readonly secret: Secret;
  readonly onClose: () => void;
}): ReactNode {
  const remove = useMutation({
    mutationFn: () => bodyOf(api.DELETE(ONE, { params: { path: { workspace, name } } })),
    async onSuccess() {
      await queryClient.invalidateQueries({ queryKey: [SECRETS] });
      say(`${name} is removed.`);
      onClose();
    },
  });
  return (
    <Confirm
      title={`Remove ${name}?`}
      verb={`Remove ${name}`}
      call={{ method: 'DELETE', path: `/v1/workspaces/${workspace}/secrets/${name}` }}
      error={remove.error}
      isPending={remove.isPending}
      typed={used_by.length > 0 ? name : null}
      onDo={() => remove.mutate()}
      onClose={onClose}
    >
      {used_by.length === 0
        ? 'Nothing uses it. Its value is deleted.'
        : `It is used by ${used_by.map((one) => `${one.kind} ${one.name}`.trim()).join(', ')}. Their messages wait or fail from then on.`}
    </Confirm>
  );
}
