import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Schemas } from '../../api/client.ts';
import { CHANNEL_WORDS, kindWords, type Channel } from '../accounts/account-kinds.ts';
import { sendingQuery } from '../accounts/queries.ts';
import { accountState, formatCallCounts, describeDestination, formatRefusalShare } from '../accounts/sending-words.ts';
import type { Insights } from '../notifications/queries.ts';
import { cls } from '../../ui/class-names.ts';
import { Card, Quiet } from '../../ui/page.tsx';
import { Lamp } from '../../ui/state.tsx';
import styles from './overview.module.css';

/** In records: beyond it messages come noticeably later. */
const BEHIND = 1_000;

/** Whether events are processed, and where the messages of each channel go. */
export function Health({
  workspace,
  insights,
}: {
  readonly workspace: string;
  readonly insights: Insights | undefined;
}): ReactNode {
  const { data, error } = useQuery(sendingQuery(workspace));
  const records = insights?.lag.records;
  return (
    <Card title="Health">
      <ul className={cls(styles.lines)}>
        <li>
          <span>Processing</span>
          {records === undefined ? (
            <Quiet>– not counted yet</Quiet>
          ) : records > BEHIND ? (
            <Lamp tone="held">{records.toLocaleString('en')} records waiting</Lamp>
          ) : (
            <Lamp tone="good">{records === 0 ? 'Up to date' : `${records} records waiting`}</Lamp>
          )}
        </li>
        {error && (
          <li>
            <span>Accounts</span>
            <Quiet>– {error.message}</Quiet>
          </li>
        )}
        {data?.channels.map(({ channel, accounts }) => (
          <li key={channel}>
            <Link to="/workspaces/$w/accounts" params={{ w: workspace }}>
              {CHANNEL_WORDS[channel as Channel]}
            </Link>
            <ul className={cls(styles.accounts)}>
              {accounts.map((account) => (
                <AccountHealth
                  key={account.account}
                  account={account}
                  failing={insights?.failing_accounts.find((one) => one.account === account.account)}
                  isComplete={data.complete}
                />
              ))}
            </ul>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function AccountHealth({
  account,
  failing,
  isComplete,
}: {
  readonly account: Schemas['SendingAccount'];
  readonly failing: Insights['failing_accounts'][number] | undefined;
  readonly isComplete: boolean;
}): ReactNode {
  const { tone, words } = accountState(account, failing);
  return (
    <li>
      <span>{describeDestination(account, kindWords(account.kind))}</span>
      <Lamp tone={tone}>{words}</Lamp>
      <Quiet>{formatCallCounts(account.calls, account.kind, isComplete)}</Quiet>
      {account.refusals.map((refusals) => (
        <span key={refusals.notification}>
          {refusals.notification}: {formatRefusalShare(refusals)} in the last 15 minutes
        </span>
      ))}
    </li>
  );
}
