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
import { accountKindOf, CHANNEL_WORDS, kindWords, NEW_ACCOUNTS, type Channel } from './account-kinds.ts';
import { accountsQuery, sendingQuery } from './queries.ts';
import { formatCallCounts, describeDestination, type SendingAccount } from './sending-words.ts';

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
        lead="Email, SMS and push providers. A notification that names no account uses the deployment’s."
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
              words: accountKindOf(body)?.title ?? body.kind,
              asks: asksAll,
            }))}
            drafts={drafts}
            unborn={unborn}
            asks={asksAll}
          />
        )}
        {data && data.items.length + unborn.length === 0 && (
          <Quiet>No own accounts. Messages use the deployment’s.</Quiet>
        )}
        {isOne && (
          <>
            <h2>Notifications that name no account</h2>
            <Defaults workspace={w} asks={asksAll} />
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

/** Where messages of each channel go if their notification names no account. */
function Defaults({ workspace, asks }: { readonly workspace: string; readonly asks: boolean }): ReactNode {
  const { data, error, refetch } = useQuery(sendingQuery(workspace));
  if (error) return <Problem error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading what="the deployment’s accounts" rows={3} />;
  return (
    <Rows label="Notifications that name no account">
      {data.channels.flatMap(({ channel, accounts }) =>
        accounts
          .filter((account) => account.default)
          .map((account) => (
            <DefaultRow
              key={account.account}
              workspace={workspace}
              channel={channel as Channel}
              account={account}
              calls={formatCallCounts(account.calls, account.kind, data.complete)}
              asks={asks}
            />
          )),
      )}
    </Rows>
  );
}

function DefaultRow({
  workspace,
  channel,
  account,
  calls,
  asks,
}: {
  readonly workspace: string;
  readonly channel: Channel;
  readonly account: SendingAccount;
  readonly calls: string;
  readonly asks: boolean;
}): ReactNode {
  const off = useMay(['configure', 'operate'], workspace);
  const isSandbox = account.kind === 'sandbox';
  const { data, error } = useQuery(
    checkQuery(
      { kind: 'accounts', workspace, name: account.account, drafts: false },
      asks && !isSandbox && off === null,
    ),
  );
  const failing = data?.find(({ ok }) => !ok);
  return (
    <Row>
      <span>
        <h3>{CHANNEL_WORDS[channel]}</h3>
        <Quiet>{describeDestination(account, kindWords(account.kind))}</Quiet>
        <Quiet>{calls}</Quiet>
      </span>
      {error && <Lamp tone="none">{error.message}</Lamp>}
      {data && (
        <Lamp tone={failing ? 'bad' : 'good'}>
          {failing ? `Failed step: ${failing.step}` : `Works: ${data[0]?.detail ?? ''}`}
        </Lamp>
      )}
      {!data && !error && <Lamp tone="none">{isSandbox ? 'Inbox' : 'Not checked'}</Lamp>}
    </Row>
  );
}
