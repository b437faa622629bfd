import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { api, bodyOf } from '../../../api/client.ts';
import { useMay } from '../../../api/me.ts';
import { queryClient } from '../../../api/query-client.ts';
import { Empty, Loading, Problem } from '../../../ui/answers.tsx';
import { Button } from '../../../ui/button.tsx';
import { Curl } from '../../../ui/curl.tsx';
import { Actions, PageBody, Quiet, Row, Rows } from '../../../ui/page.tsx';
import { Id } from '../../../ui/text.tsx';
import { say, undoing } from '../../../ui/notices.ts';
import { Confirm } from '../../../ui/confirm.tsx';
import { SettingsHead } from '../settings-head.tsx';
import { usePickedWorkspace } from '../use-picked-workspace.ts';
import { NoWorkspace, WorkspacePicker } from '../workspace-picker.tsx';
import { ProviderForm } from './provider-form.tsx';
import { JWT_PROVIDERS, jwtProvidersQuery, type JwtProvider } from './queries.ts';

/** In the address: the form of one that is not there yet. No provider can have this name. */
const NEW = '+';

/** Whose tokens apps and browsers send events with. */
export function JwtProviders(): ReactNode {
  const { workspace: wanted, open } = useSearch({ from: '/settings/identity/jwt-providers' });
  const picked = usePickedWorkspace(wanted);
  const { workspace } = picked;
  const off = useMay('configure', workspace ?? '-');
  const navigate = useNavigate({ from: '/settings/identity/jwt-providers' });
  const show = (name: string | null): void => {
    void navigate({
      search: { ...(workspace !== null && { workspace }), ...(name !== null && { open: name }) },
    });
  };
  return (
    <>
      <SettingsHead
        title="JWT Providers"
        lead="Apps and browsers send events with a token that your identity provider signed. Carillon knows the provider by its public keys."
        isIdentity
      >
        {workspace !== null && open === undefined && (
          <Button kind="main" off={off} onPress={() => show(NEW)}>
            Add
          </Button>
        )}
      </SettingsHead>
      <PageBody>
        <NoWorkspace picked={picked} />
        {workspace !== null && (
          <>
            {open === undefined && <WorkspacePicker workspace={workspace} all={picked.all} />}
            <Providers key={workspace} workspace={workspace} off={off} open={open} onShow={show} />
          </>
        )}
      </PageBody>
    </>
  );
}

function Providers({
  workspace,
  off,
  open,
  onShow,
}: {
  readonly workspace: string;
  readonly off: string | null;
  readonly open: string | undefined;
  readonly onShow: (name: string | null) => void;
}): ReactNode {
  const { data, error, refetch } = useQuery(jwtProvidersQuery(workspace));
  const [removing, setRemoving] = useState<JwtProvider | null>(null);
  if (!data) {
    if (error) return <Problem error={error} onRetry={() => void refetch()} />;
    return <Loading what="JWT providers" rows={3} />;
  }
  const providers = data.items;
  const chosen = providers.find(({ name }) => name === open);
  if (open !== undefined && (open === NEW || chosen)) {
    return (
      <ProviderForm
        key={open}
        workspace={workspace}
        taken={providers.map(({ name }) => name)}
        provider={chosen ?? null}
        off={off}
        onDone={() => onShow(null)}
      />
    );
  }
  return (
    <>
      {open !== undefined && <p>The JWT provider {open} was removed from this workspace.</p>}
      {providers.length === 0 && (
        <Empty title="No providers yet">
          Nobody can send an event to {workspace} with a token yet. You need the URL of the provider’s public JWK set,
          and the audience of its tokens.
        </Empty>
      )}
      {providers.length > 0 && (
        <Rows label="JWT providers">
          {providers.map((provider) => (
            <ProviderRow
              key={provider.name}
              provider={provider}
              off={off}
              onShow={onShow}
              onRemove={() => setRemoving(provider)}
            />
          ))}
        </Rows>
      )}
      <Curl call={{ method: 'GET', path: `/v1/workspaces/${workspace}/jwt-providers` }} />
      {removing && <RemoveProvider provider={removing} onClose={() => setRemoving(null)} />}
    </>
  );
}

function ProviderRow({
  provider: { name, jwks_url, issuer, audiences, used_by },
  off,
  onShow,
  onRemove,
}: {
  readonly provider: JwtProvider;
  readonly off: string | null;
  readonly onShow: (name: string) => void;
  readonly onRemove: () => void;
}): ReactNode {
  return (
    <Row>
      <div>
        <h2>{name}</h2>
        <Quiet>
          Keys from <Id>{jwks_url}</Id>
          {issuer !== null && (
            <>
              {' '}
              · issuer <Id>{issuer}</Id>
            </>
          )}{' '}
          · {audiences.length > 0 ? `audience ${audiences.join(' or ')}` : 'any audience'}
        </Quiet>
        <p>
          {used_by.length === 0 ? (
            <Quiet>
              No notification accepts tokens of this provider yet. Select the provider under “Secure your endpoint” of a
              notification.
            </Quiet>
          ) : (
            <>Used by {used_by.join(', ')}</>
          )}
        </p>
      </div>
      <Actions>
        <Button onPress={() => onShow(name)} aria-label={`Check or edit ${name}`}>
          Check or edit
        </Button>
        <Button kind="danger" off={off} onPress={onRemove} aria-label={`Remove ${name}`}>
          Remove
        </Button>
      </Actions>
    </Row>
  );
}

function RemoveProvider({
  provider: { workspace, name, number, body, used_by },
  onClose,
}: {
  readonly provider: JwtProvider;
  readonly onClose: () => void;
}): ReactNode {
  const isOld = (): Promise<void> => queryClient.invalidateQueries({ queryKey: [JWT_PROVIDERS] });
  const remove = useMutation({
    mutationFn: () =>
      bodyOf(
        api.DELETE('/v1/workspaces/{workspace}/jwt-providers/{name}', {
          params: { path: { workspace, name } },
          headers: { 'if-match': `"${number}"` },
          body: {},
        }),
      ),
    async onSuccess() {
      await isOld();
      say(`The provider ${name} is removed.`, undoing(putBack, isOld));
      onClose();
    },
    onError: isOld,
  });
  const putBack = (): Promise<unknown> =>
    bodyOf(
      api.PUT('/v1/workspaces/{workspace}/jwt-providers/{name}', {
        params: { path: { workspace, name } },
        headers: { 'if-none-match': '*' },
        body,
      }),
    );
  return (
    <Confirm
      title={`Remove the provider ${name}?`}
      verb={`Remove ${name}`}
      call={{ method: 'DELETE', path: `/v1/workspaces/${workspace}/jwt-providers/${name}` }}
      error={remove.error}
      isPending={remove.isPending}
      onDo={() => remove.mutate()}
      onClose={onClose}
    >
      Its tokens are refused from then on.{' '}
      {used_by.length > 0 ? `Accepted by ${used_by.join(', ')}. Remove it there first.` : 'No notification accepts it.'}
    </Confirm>
  );
}
