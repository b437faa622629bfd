import { useMutation, useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { api, bodyOf } from '../../../api/client.ts';
import { useMay } from '../../../api/me.ts';
import { queryClient } from '../../../api/query-client.ts';
import { Empty, Loading, Problem } from '../../../ui/answers.tsx';
import { Button } from '../../../ui/button.tsx';
import { Curl } from '../../../ui/curl.tsx';
import { Actions, PageBody, Quiet, Row, Rows } from '../../../ui/page.tsx';
import { Lamp } from '../../../ui/state.tsx';
import { Id } from '../../../ui/text.tsx';
import { Time } from '../../../ui/time.tsx';
import { say } from '../../../ui/notices.ts';
import { Confirm } from '../../../ui/confirm.tsx';
import { SettingsHead } from '../settings-head.tsx';
import { usePickedWorkspace } from '../use-picked-workspace.ts';
import { NoWorkspace, WorkspacePicker } from '../workspace-picker.tsx';
import { API_KEYS, apiKeysQuery, type ApiKey } from './queries.ts';
import { RequestKey } from './request-key.tsx';
import { RotateKey } from './rotate-key.tsx';

type Open = { readonly kind: 'request' } | { readonly kind: 'rotate' | 'revoke'; readonly name: string };

/** What servers send events with: requested, rotated and revoked. */
export function ApiKeys(): ReactNode {
  const { workspace: wanted } = useSearch({ from: '/settings/identity/api-keys' });
  const picked = usePickedWorkspace(wanted);
  const { workspace } = picked;
  const off = useMay('configure', workspace ?? '-');
  const [open, setOpen] = useState<Open | null>(null);
  return (
    <>
      <SettingsHead
        title="API Keys"
        lead="Your servers send events with a key. A key belongs to one workspace, and each notification chooses the keys that it accepts."
        isIdentity
      >
        {workspace !== null && (
          <Button kind="main" off={off} onPress={() => setOpen({ kind: 'request' })}>
            Request a key
          </Button>
        )}
      </SettingsHead>
      <PageBody>
        <NoWorkspace picked={picked} />
        {workspace !== null && (
          <>
            <WorkspacePicker workspace={workspace} all={picked.all} />
            <Keys key={workspace} workspace={workspace} off={off} open={open} onOpen={setOpen} />
          </>
        )}
      </PageBody>
    </>
  );
}

function Keys({
  workspace,
  off,
  open,
  onOpen,
}: {
  readonly workspace: string;
  readonly off: string | null;
  readonly open: Open | null;
  readonly onOpen: (open: Open | null) => void;
}): ReactNode {
  const { data, error, refetch } = useQuery(apiKeysQuery(workspace));
  const keys = data?.items ?? [];
  const named = open?.kind === 'request' ? undefined : keys.find(({ name }) => name === open?.name);
  const close = (): void => onOpen(null);
  return (
    <>
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading what="API keys" rows={3} />}
      {data?.items.length === 0 && (
        <Empty title="No keys yet">
          Nobody can send an event to {workspace} with a key yet. A requested key is shown once, here.
        </Empty>
      )}
      {keys.length > 0 && (
        <Rows label="API keys">
          {keys.map((key) => (
            <KeyRow key={key.name} apiKey={key} off={off} onOpen={onOpen} />
          ))}
        </Rows>
      )}
      <Curl call={{ method: 'GET', path: `/v1/workspaces/${workspace}/api-keys` }} />
      {open?.kind === 'request' && (
        <RequestKey workspace={workspace} taken={keys.map(({ name }) => name)} onClose={close} />
      )}
      {open?.kind === 'rotate' && named && (
        <RotateKey workspace={workspace} old={named} keys={keys} off={off} onOpen={onOpen} onClose={close} />
      )}
      {open?.kind === 'revoke' && named && <RevokeKey workspace={workspace} apiKey={named} onClose={close} />}
    </>
  );
}

function KeyRow({
  apiKey: { name, key_id, created_at, expires_at, expired, last_used_at, used_by },
  off,
  onOpen,
}: {
  readonly apiKey: ApiKey;
  readonly off: string | null;
  readonly onOpen: (open: Open) => void;
}): ReactNode {
  return (
    <Row>
      <div>
        <h2>{name}</h2>
        <Quiet>
          <Id>{key_id}</Id> · made <Time at={created_at} /> ·{' '}
          {last_used_at === null ? (
            'never used'
          ) : (
            <>
              last used <Time at={last_used_at} />
            </>
          )}
          {expires_at !== null && !expired && (
            <>
              {' '}
              · expires <Time at={expires_at} />
            </>
          )}
        </Quiet>
        <p>
          {expired && <Lamp tone="bad">Expired</Lamp>}{' '}
          {used_by.length === 0 ? (
            <Quiet>
              No notification accepts this key yet. Select the key under “Secure your endpoint” of a notification.
            </Quiet>
          ) : (
            <>Used by {used_by.join(', ')}</>
          )}
        </p>
      </div>
      <Actions>
        <Button off={off} onPress={() => onOpen({ kind: 'rotate', name })} aria-label={`Rotate ${name}`}>
          Rotate
        </Button>
        <Button kind="danger" off={off} onPress={() => onOpen({ kind: 'revoke', name })} aria-label={`Revoke ${name}`}>
          Revoke
        </Button>
      </Actions>
    </Row>
  );
}

function RevokeKey({
  workspace,
  apiKey: { name, used_by, last_used_at },
  onClose,
}: {
  readonly workspace: string;
  readonly apiKey: ApiKey;
  readonly onClose: () => void;
}): ReactNode {
  const revoke = useMutation({
    mutationFn: () =>
      bodyOf(api.DELETE('/v1/workspaces/{workspace}/api-keys/{name}', { params: { path: { workspace, name } } })),
    async onSuccess() {
      await queryClient.invalidateQueries({ queryKey: [API_KEYS] });
      say(`The key ${name} is revoked.`);
      onClose();
    },
  });
  return (
    <Confirm
      title={`Revoke the key ${name}?`}
      verb={`Revoke ${name}`}
      call={{ method: 'DELETE', path: `/v1/workspaces/${workspace}/api-keys/${name}` }}
      error={revoke.error}
      isPending={revoke.isPending}
      typed={used_by.length > 0 ? name : null}
      onDo={() => revoke.mutate()}
      onClose={onClose}
    >
      Senders that use it are refused immediately. This cannot be undone.{' '}
      {used_by.length > 0 ? `Accepted by ${used_by.join(', ')}. ` : 'No notification accepts it. '}
      {last_used_at === null ? (
        'It was never used.'
      ) : (
        <>
          This key was last used <Time at={last_used_at} />.
        </>
      )}
    </Confirm>
  );
}
