import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useMay } from '../../api/me.ts';
import { EVERY_WORKSPACE } from '../../frame/last-workspace.ts';
import { Loading, Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { PageBody, PageHead, Quiet, Row, Rows } from '../../ui/page.tsx';
import { Lamp } from '../../ui/state.tsx';
import { NewSetup } from '../setup/new-setup.tsx';
import { checkQuery } from '../setup/queries.ts';
import { SetupRows, useSetupDrafts } from '../setup/setup-list.tsx';
import { accountKindOf, CHANNEL_WORDS, NEW_ACCOUNTS, type Channel } from './account-kinds.ts';
import { accountsQuery } from './queries.ts';

/** Over what messages go out: accounts of the workspace, beside the default of the deployment. */
export function Accounts(): ReactNode {
  const { w } = useParams({ from: '/workspaces/$w/accounts' });
  const isOne = w !== EVERY_WORKSPACE;
  const { data, error, refetch } = useQuery(accountsQuery(w));
  const [isAdding, setAdding] = useState(false);
  const [asksAll, setAsksAll] = useState(false);
  const off = useMay('configure', w);
  const navigate = useNavigate();
  const { drafts, unborn, taken } = useSetupDrafts('accounts', w, data?.items.map(({ name }) => name) ?? []);
  return (
    <>
      <PageHead
        title="Accounts"
        lead="Over what messages go out. A notification that names no account goes over the deployment’s default."
      >
        {isOne && <Button onPress={() => setAsksAll(true)}>Check all</Button>}
        {isOne && (
          <Button kind="main" off={off} onPress={() => setAdding(true)}>
            Add an account
          </Button>
        )}
      </PageHead>
      <PageBody>
        {error && <Problem error={error} onRetry={() => void refetch()} />}
        {!data && !error && <Loading what="accounts" />}
        {data && data.items.length + unborn.length > 0 && (
          <SetupRows
            kind="accounts"
            label="Accounts"
            workspace={w}
            items={data.items.map(({ workspace, name, body }) => ({
              workspace,
              name,
              words: accountKindOf(body)?.name ?? body.kind,
              asks: asksAll,
            }))}
            drafts={drafts}
            unborn={unborn}
            asks={asksAll}
          />
        )}
        {data && data.items.length + unborn.length === 0 && (
          <Quiet>This workspace has no account of its own: all of it goes over the default.</Quiet>
        )}
        {isOne && (
          <>
            <h2>The deployment’s default</h2>
            <Rows label="The deployment’s default">
              {(['email', 'sms', 'push'] as const).map((channel) => (
                <DefaultRow key={channel} workspace={w} channel={channel} asks={asksAll} />
              ))}
            </Rows>
          </>
        )}
      </PageBody>
      {isAdding && (
        <NewSetup
          title="Add an account"
          workspace={w}
          kind="accounts"
          kinds={NEW_ACCOUNTS}
          taken={taken}
          onMade={(name) => void navigate({ to: '/workspaces/$w/accounts/$a', params: { w, a: name } })}
          onClose={() => setAdding(false)}
        />
      )}
    </>
  );
}

const DEFAULTS: Readonly<Record<Channel, string>> = { email: 'default', sms: 'default:sms', push: 'default:push' };

function DefaultRow({
  workspace,
  channel,
  asks,
}: {
  readonly workspace: string;
  readonly channel: Channel;
  readonly asks: boolean;
}): ReactNode {
  const off = useMay(['configure', 'operate'], workspace);
  const name = DEFAULTS[channel];
  const { data, error } = useQuery(
    checkQuery({ kind: 'accounts', workspace, name, drafts: false }, asks && off === null),
  );
  const failing = data?.find(({ ok }) => !ok);
  return (
    <Row>
      <span>
        <h3>{CHANNEL_WORDS[channel]}</h3>
        <Quiet>Set up for everybody by whoever runs the deployment, in carillon.yaml</Quiet>
      </span>
      {error && <Lamp tone="none">{error.message}</Lamp>}
      {data && (
        <Lamp tone={failing ? 'bad' : 'good'}>
          {failing ? `Fails at: ${failing.step}` : `Works: ${data[0]?.detail ?? ''}`}
        </Lamp>
      )}
      {!data && !error && <Lamp tone="none">Not checked</Lamp>}
    </Row>
  );
}
