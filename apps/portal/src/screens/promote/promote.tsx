import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { meQuery, useMay } from '../../api/me.ts';
import { reloadDrafts } from '../../api/use-draft.ts';
import { Empty, Loading, Problem } from '../../ui/answers.tsx';
import { Button, buttonClass } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Curl } from '../../ui/curl.tsx';
import { Actions, Card, PageBody, PageHead, Quiet, Rows } from '../../ui/page.tsx';
import { Lamp } from '../../ui/state.tsx';
import { counted, faultWords, placeWords, titleOf } from '../drafts/change-words.ts';
import { Fields } from '../drafts/fields.tsx';
import { FileDiff } from '../drafts/file-diff.tsx';
import { changesOf, filesOf } from '../drafts/plan-parts.ts';
import { Progress } from './progress.tsx';
import { promotionQuery, startPromotion, workspacesQuery, type Named, type Promoted } from './queries.ts';
import styles from './promote.module.css';

const keyOf = ({ kind, name }: Named): string => `${kind} ${name}`;

/** What a test environment has otherwise than its live workspace, and writing that there as drafts. */
export function Promote(): ReactNode {
  const { w } = useParams({ from: '/workspaces/$w/promote' });
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
            ? 'What was tried in a test environment becomes drafts of its live workspace.'
            : `What was tried in ${w} becomes drafts of ${live}: nothing counts there before it is published.`
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
            It works like any other workspace, and its messages stay in the sandbox. What was tried in it can be
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
        {live !== undefined && <Promotion workspace={w} live={live} />}
      </PageBody>
    </>
  );
}

function Promotion({ workspace, live }: { readonly workspace: string; readonly live: string }): ReactNode {
  const [inTest, inLive] = [useMay('configure', workspace), useMay('configure', live)];
  const off = inTest ?? inLive;
  const { data: me } = useQuery(meQuery);
  const { data, error, refetch, isFetching } = useQuery({
    ...promotionQuery(workspace, null),
    // Who may not is refused: it is asked for once it is known that they may.
    enabled: me !== undefined && off === null,
  });
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const [job, setJob] = useState<string | null>(null);
  const chosen = (data?.drafts ?? []).filter((draft) => !left.has(keyOf(draft)));
  const start = useMutation({
    mutationFn: () =>
      startPromotion(
        workspace,
        chosen.map(({ kind, name }) => ({ kind, name })),
      ),
    onSuccess: ({ id }) => setJob(id),
  });
  const choose = (draft: Named, isChosen: boolean): void => {
    const next = new Set(left);
    if (isChosen) next.delete(keyOf(draft));
    else next.add(keyOf(draft));
    setLeft(next);
  };
  if (off !== null) return <p>{off}</p>;
  if (error) return <Problem error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading what="what would be promoted" />;
  const body = { resources: chosen.map(({ kind, name }) => ({ kind, name })) };
  return (
    <>
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
          title={`${live} has all of it`}
          action={
            <Link to="/workspaces/$w/drafts" params={{ w: live }}>
              Review the drafts of {live}
            </Link>
          }
        >
          Nothing in {workspace} is otherwise than in {live}, but for what others edit there.
        </Empty>
      )}
      {data.missing.length > 0 && <Missing promoted={data} />}
      {data.in_the_way.length > 0 && (
        <Card title="In the way">
          <p>Somebody has a draft of these in {live}. Nothing is written over it: publish or discard it first.</p>
          <ul aria-label="Drafts in the way" className={cls(styles.lines)}>
            {data.in_the_way.map((draft) => (
              <li key={keyOf(draft)}>
                {titleOf(draft)} <Quiet>by {draft.by.name ?? draft.by.id}</Quiet>
              </li>
            ))}
          </ul>
        </Card>
      )}
      {data.drafts.length > 0 && (
        <>
          <Rows label="What would be promoted">
            {data.drafts.map((draft) => (
              <Wanted
                key={keyOf(draft)}
                draft={draft}
                promoted={data}
                isChosen={!left.has(keyOf(draft))}
                onChoose={(isChosen) => choose(draft, isChosen)}
              />
            ))}
          </Rows>
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
              Keys, secrets, accounts and people are never copied. Ids of {live} stay: who was told stays told.
            </Quiet>
          </Actions>
          <Curl call={{ method: 'POST', path: `/v1/workspaces/${workspace}/promotions`, body }} />
        </>
      )}
      <p>
        <Quiet>
          {counted(data.unchanged, 'resource')} {data.unchanged === 1 ? 'is' : 'are'} the same in both.
          {data.only_live.length > 0 && ` Only ${live} has, and keeps: ${data.only_live.map(titleOf).join(', ')}.`}
        </Quiet>
      </p>
    </>
  );
}

/** What live lacks and nobody copies: named before anything is written. */
function Missing({ promoted: { live, missing } }: { readonly promoted: Promoted }): ReactNode {
  return (
    <Card title={`${live} lacks`}>
      <ul aria-label={`What ${live} lacks`} className={cls(styles.faults)}>
        {missing.map((one) => (
          <li key={keyOf(one)}>
            {titleOf(one)}, needed by {one.needed_by.join(', ')}
          </li>
        ))}
      </ul>
      <p>These are never copied: make them in {live}, and publish the drafts then.</p>
    </Card>
  );
}

function Wanted({
  draft,
  promoted: { plan },
  isChosen,
  onChoose,
}: {
  readonly draft: Promoted['drafts'][number];
  readonly promoted: Promoted;
  readonly isChosen: boolean;
  readonly onChoose: (isChosen: boolean) => void;
}): ReactNode {
  const faults = plan.faults.filter((one) => keyOf(one) === keyOf(draft));
  return (
    <li className={cls(styles.wanted)}>
      <div className={cls(styles.headline)}>
        <label className={cls(styles.choose)}>
          <input type="checkbox" checked={isChosen} onChange={(event) => onChoose(event.target.checked)} />
          {titleOf(draft)}
        </label>
        {faults.length > 0 ? (
          <Lamp tone="bad">{counted(faults.length, 'mistake')} there</Lamp>
        ) : (
          <Quiet>{draft.action === 'create' ? 'New there' : 'Changed there'}</Quiet>
        )}
      </div>
      {faults.length > 0 && (
        <ul aria-label="Mistakes" className={cls(styles.faults)}>
          {faults.map((fault) => (
            <li key={`${fault.path} ${fault.message}`}>
              {fault.path !== '' && `${placeWords(fault.path)}: `}
              {faultWords(fault)}
            </li>
          ))}
        </ul>
      )}
      {draft.action === 'update' &&
        changesOf(plan, draft).map((change) => <Fields key={change.resource} fields={change.fields} />)}
      {filesOf(plan, draft).map((file) => (
        <FileDiff key={file.path} file={file} />
      ))}
    </li>
  );
}
