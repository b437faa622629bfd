import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Loading, Problem } from '../../ui/answers.tsx';
import { cls } from '../../ui/class-names.ts';
import { Card } from '../../ui/page.tsx';
import { Lamp } from '../../ui/state.tsx';
import { Facts, Id } from '../../ui/text.tsx';
import { Time } from '../../ui/time.tsx';
import { cohortsQuery, type Cohort } from './queries.ts';
import styles from '../setup/setup.module.css';

/** Who is in, and how far the sync has come, as it comes. */
export function Cohorts({ workspace, name }: { readonly workspace: string; readonly name: string }): ReactNode {
  const { data, error, refetch } = useQuery(cohortsQuery(workspace, name));
  return (
    <Card title="Cohorts">
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading what="cohorts" rows={3} />}
      {data?.items.length === 0 && (
        <p role="status">
          <Lamp tone="wait">No report yet</Lamp> Start the sync at the platform. The members appear here within seconds,
          page by page. The first sync notifies nobody, because these people were members before.
        </p>
      )}
      {data && data.items.length > 0 && (
        <ul aria-label="Cohorts">
          {data.items.map((cohort) => (
            <CohortRow key={cohort.id} cohort={cohort} />
          ))}
        </ul>
      )}
    </Card>
  );
}

/** Describes the progress of a sync. */
export function syncWords({ sync, first_sync_until: until, synced_at: synced }: Cohort): {
  readonly tone: 'good' | 'wait' | 'bad';
  readonly words: string;
} {
  if (sync?.names_nobody === true)
    return { tone: 'bad', words: 'No member had a usable user id. Check “Field with your user id”.' };
  if (sync && !sync.complete) {
    const of = sync.pages === null ? '' : ` of ${sync.pages}`;
    return { tone: 'wait', words: `Sync under way: page ${sync.pages_so_far}${of}` };
  }
  if (sync?.leaving === true)
    return { tone: 'wait', words: 'All pages received. People on no page are being removed from the cohort.' };
  if (until !== null) return { tone: 'wait', words: 'First sync: people join without a message' };
  return { tone: 'good', words: synced === null ? 'Only changes so far, no complete sync yet' : 'Synced' };
}

function CohortRow({ cohort }: { readonly cohort: Cohort }): ReactNode {
  const { sync } = cohort;
  const { tone, words } = syncWords(cohort);
  const part = sync && sync.pages !== null && sync.pages > 0 ? sync.pages_so_far / sync.pages : null;
  return (
    <li className={cls(styles.cohort)}>
      <h3>
        <bdi>{cohort.name ?? cohort.id}</bdi>
      </h3>
      <p role="status">
        <Lamp tone={tone}>{words}</Lamp>
      </p>
      {part !== null && (
        <div
          role="meter"
          aria-label="Pages of the sync"
          aria-valuenow={sync?.pages_so_far ?? 0}
          aria-valuemin={0}
          aria-valuemax={sync?.pages ?? 0}
          className={cls(styles.meter)}
          data-done={sync?.complete === true ? '' : undefined}
        >
          <span style={{ width: `${Math.min(100, part * 100)}%` }} />
        </div>
      )}
      <Facts
        facts={[
          ['Members', cohort.members.toLocaleString('en')],
          ['Id', <Id key="id">{cohort.id}</Id>],
          ['Newest report', <Time key="newest" at={cohort.newest_at} ago />],
          ['Complete since', cohort.synced_at === null ? null : <Time key="whole" at={cohort.synced_at} />],
          [
            'No messages until',
            cohort.first_sync_until === null ? null : <Time key="until" at={cohort.first_sync_until} />,
          ],
          ['Without a user id', cohort.skipped === 0 ? null : cohort.skipped.toLocaleString('en')],
        ]}
      />
    </li>
  );
}
