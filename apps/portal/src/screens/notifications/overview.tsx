import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { FaultList } from '../../faults/fault-list.tsx';
import { Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Actions, Card, Quiet } from '../../ui/page.tsx';
import { Lamp } from '../../ui/state.tsx';
import { Facts, Id } from '../../ui/text.tsx';
import { Time } from '../../ui/time.tsx';
import { AsFile } from '../drafts/as-file.tsx';
import { Counters } from './counters.tsx';
import { DeliveryChart } from './delivery-chart.tsx';
import { NotificationFrame, type NotificationDraft } from './notification-frame.tsx';
import { insightsQuery } from './queries.ts';
import { rulesOf, ruleWords } from './sentence.ts';
import styles from './notifications.module.css';

/** One notification: what it does, and what came of it. */
export function NotificationOverview(): ReactNode {
  const { w, n } = useParams({ from: '/workspaces/$w/notifications/$n' });
  return (
    <NotificationFrame w={w} n={n}>
      {(draft) => (
        <>
          <Faults draft={draft} />
          {draft.resource !== null && <Today w={w} n={n} />}
          <Summary draft={draft} />
          {draft.resource && <AsFile kind="notifications" workspace={w} name={n} number={draft.resource.number} />}
        </>
      )}
    </NotificationFrame>
  );
}

function Today({ w, n }: { readonly w: string; readonly n: string }): ReactNode {
  const { data, error, refetch } = useQuery(insightsQuery(w, n));
  return (
    <Card
      title="Last 24 hours"
      beside={
        <Link to="/workspaces/$w/deliveries" params={{ w }} search={{ notification: n }}>
          Open the deliveries
        </Link>
      }
    >
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {data && (
        <>
          <Counters states={data.states} />
          <DeliveryChart buckets={data.buckets} />
          {data.failing_accounts.map(({ account, reason, deliveries }) => (
            <p key={`${account} ${reason}`}>
              <Lamp tone="bad">{account}</Lamp> {deliveries} messages of the last hour wait or failed because of it:{' '}
              {reason}
            </p>
          ))}
        </>
      )}
    </Card>
  );
}

/** What keeps its draft from being published. */
function Faults({ draft }: { readonly draft: NotificationDraft }): ReactNode {
  const { faults } = draft;
  if (faults.length === 0) return null;
  return (
    <Card title="Missing before you can publish">
      <FaultList faults={faults} label="Steps before you can publish" tone={draft.isTried ? 'bad' : 'todo'} />
    </Card>
  );
}

function Summary({ draft }: { readonly draft: NotificationDraft }): ReactNode {
  const { body, resource, change, workspace: w, name: n } = draft;
  const isOn = body.enabled !== false;
  const rules = rulesOf(body);
  return (
    <Card
      title="About"
      beside={
        <Actions>
          {isOn ? <Lamp tone="good">On</Lamp> : <Lamp tone="held">Off: no rule fires</Lamp>}
          <Button
            off={draft.off}
            onPress={() =>
              change(({ enabled: _before, ...before }) => ({ ...before, ...(isOn && { enabled: false }) }))
            }
          >
            {isOn ? 'Pause' : 'Switch on'}
          </Button>
        </Actions>
      }
    >
      <Facts
        facts={[
          ['Name in files and links', <Id key="name">{n}</Id>],
          ['Category', body.category],
          ['Limits', body.transactional === true ? 'none, because it is transactional' : undefined],
          ['Given up after', body.expires ?? '24h'],
          [
            'Rules',
            rules.length === 0 ? (
              <Link key="rules" to="/workspaces/$w/notifications/$n/rules" params={{ w, n }}>
                No rule yet: nothing can fire. Add a rule
              </Link>
            ) : (
              <ul key="rules">
                {rules.map(([name, rule]) => (
                  <li key={name}>
                    <Link to="/workspaces/$w/notifications/$n/rules/$r" params={{ w, n, r: name }}>
                      {name}
                    </Link>{' '}
                    <Quiet>{ruleWords(body, rule)}</Quiet>
                  </li>
                ))}
              </ul>
            ),
          ],
          [
            'Published',
            resource === null ? (
              'not yet, only a draft'
            ) : (
              <span key="published">
                version {resource.version}, <Time at={resource.updated_at} />, by{' '}
                {resource.updated_by.name ?? resource.updated_by.id}
              </span>
            ),
          ],
        ]}
      />
      <p className={cls(styles.sentence)}>Pausing and switching on are drafts too. They work after you publish them.</p>
    </Card>
  );
}
