import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useParams, useSearch } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { meQuery, useMay } from '../../api/me.ts';
import { reloadDrafts } from '../../api/use-draft.ts';
import { Empty, Loading, Problem } from '../../ui/answers.tsx';
import { Button, buttonClass } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Curl } from '../../ui/curl.tsx';
import { Actions, PageBody, PageHead, Quiet, Rows } from '../../ui/page.tsx';
import { counted, titleOf } from '../drafts/change-words.ts';
import { draftsQuery } from '../drafts/queries.ts';
import { Progress } from './progress.tsx';
import { promotionQuery, startPromotion, workspacesQuery } from './queries.ts';
import { InTheWay, Missing, TransferRows, useChosenDrafts } from './transfer-parts.tsx';
import styles from './promote.module.css';

/** What a test environment has otherwise than its live workspace, and writing that there as drafts. */
export function Promote(): ReactNode {
  const { w } = useParams({ from: '/workspaces/$w/promote' });
  const { n } = useSearch({ from: '/workspaces/$w/promote' });
  const { data, error, refetch } = useQuery(workspacesQuery);
  const own = data?.items.find(({ workspace }) => workspace === w);
  const live = own?.body.environment === 'test' ? own.body.of : undefined;
  const tests = data?.items.filter(({ body }) => body.of === w) ?? [];
  return (
    <>
      <PageHead
        title="Promote"
        lead={
          live === undefined
            ? 'Copies changes of a test environment into drafts of its live workspace.'
            : `Copies changes of ${w} into drafts of ${live}. They change nothing until you publish them there.`
        }
      />
      <PageBody>
        {error && <Problem error={error} onRetry={() => void refetch()} />}
        {!data && !error && <Loading what="environments" />}
        {data && live === undefined && tests.length === 0 && (
          <Empty
            title={`${w} has no test environment`}
            action={
              <Link to="/workspaces" search={{ test: w }} className={buttonClass()}>
                New test environment
              </Link>
            }
          >
            A test environment works like any other workspace, but its messages stay in the inbox. Its changes can be
            promoted to {w}.
          </Empty>
        )}
        {tests.length > 0 && (
          <Rows label="Test environments">
            {tests.map(({ workspace }) => (
              <li key={workspace} className={cls(styles.row)}>
                <h2>
                  <Link to="/workspaces/$w/promote" params={{ w: workspace }}>
                    Promote {workspace}
                  </Link>
                </h2>
                <Quiet>Test environment of {w}</Quiet>
              </li>
            ))}
          </Rows>
        )}
        {live !== undefined && <Promotion key={n ?? ''} workspace={w} live={live} notification={n ?? null} />}
      </PageBody>
    </>
  );
}

function Promotion({
  workspace,
  live,
  notification,
}: {
  readonly workspace: string;
  readonly live: string;
  /** Promotes only this notification with what it needs. Null: everything that differs. */
  readonly notification: string | null;
}): ReactNode {
  const [inTest, inLive] = [useMay('configure', workspace), useMay('configure', live)];
  const off = inTest ?? inLive;
  const { data: me } = useQuery(meQuery);
  const { data, error, refetch, isFetching } = useQuery({
    ...promotionQuery(workspace, notification),
    // Who may not is refused: it is asked for once it is known that they may.
    enabled: me !== undefined && off === null,
  });
  const { chosen, isChosen, toggle } = useChosenDrafts(data?.drafts ?? []);
  const [job, setJob] = useState<string | null>(null);
  const start = useMutation({
    mutationFn: () =>
      startPromotion(
        workspace,
        chosen.map(({ kind, name }) => ({ kind, name })),
      ),
    onSuccess: ({ id }) => setJob(id),
  });
  if (off !== null) return <p>{off}</p>;
  if (error) return <Problem error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading what="what would be promoted" />;
  const body = { resources: chosen.map(({ kind, name }) => ({ kind, name })) };
  return (
    <>
      <Unpublished workspace={workspace} />
      {notification !== null && (
        <p>
          Only the notification {notification} and what it needs.{' '}
          <Link to="/workspaces/$w/promote" params={{ w: workspace }}>
            Promote everything
          </Link>
        </p>
      )}
      {job !== null && (
        <Progress
          live={live}
          id={job}
          onEnd={() => {
            reloadDrafts(live);
            void refetch();
          }}
        />
      )}
      {data.drafts.length === 0 && (
        <Empty
          title="Nothing to promote"
          action={
            <Link to="/workspaces/$w/drafts" params={{ w: live }}>
              Review the drafts of {live}
            </Link>
          }
        >
          {workspace} has nothing that is new or different from {live}, except what has a draft there already.
        </Empty>
      )}
      <Missing to={live} missing={data.missing} />
      <InTheWay to={live} drafts={data.in_the_way} />
      {data.drafts.length > 0 && (
        <>
          <TransferRows
            label="What would be promoted"
            to={live}
            transfer={data}
            isChosen={isChosen}
            onToggle={toggle}
          />
          {start.error && <Problem error={start.error} />}
          <Actions>
            <Button
              kind="main"
              isDisabled={chosen.length === 0 || start.isPending || isFetching}
              onPress={() => start.mutate()}
            >
              Make {counted(chosen.length, 'draft')} in {live}
            </Button>
            <Quiet>
              Keys, secrets, accounts and people are never copied. Ids of {live} stay, so nobody is notified twice.
            </Quiet>
          </Actions>
          <Curl call={{ method: 'POST', path: `/v1/workspaces/${workspace}/promotions`, body }} />
        </>
      )}
      <p>
        <Quiet>
          {counted(data.unchanged, 'resource')} {data.unchanged === 1 ? 'is' : 'are'} the same in both.{' '}
          {data.only_live.length > 0 && ` Only in ${live}, and kept: ${data.only_live.map(titleOf).join(', ')}.`}
        </Quiet>
      </p>
    </>
  );
}

/** Drafts of the test environment stay behind: only what is published there is promoted. */
function Unpublished({ workspace }: { readonly workspace: string }): ReactNode {
  const { data } = useQuery(draftsQuery(workspace));
  const drafts = data?.items.length ?? 0;
  if (drafts === 0) return null;
  return (
    <p role="status">
      {counted(drafts, 'draft')} in {workspace} {drafts === 1 ? 'is' : 'are'} not promoted. Publish first.{' '}
      <Link to="/workspaces/$w/drafts" params={{ w: workspace }}>
        Review and publish
      </Link>
    </p>
  );
}
