import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, type ReactNode } from 'react';
import { readDraft } from '../../api/draft-calls.ts';
import { useMay } from '../../api/me.ts';
import { EVERY_WORKSPACE } from '../../frame/last-workspace.ts';
import { Empty, Loading, Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { PageBody, PageHead, Rows } from '../../ui/page.tsx';
import { Lamp } from '../../ui/state.tsx';
import { useLetter } from '../../ui/use-letter.ts';
import { counted } from '../drafts/change-words.ts';
import { draftsQuery, type DraftFacts } from '../drafts/queries.ts';
import { Counters } from './counters.tsx';
import { insightsQuery, notificationsQuery } from './queries.ts';
import { nameOf, sentenceOf } from './sentence.ts';
import styles from './notifications.module.css';

const FROM = '/workspaces/$w/notifications';
const NewNotification = lazy(() =>
  import('./new-dialog.tsx').then(({ NewNotification: loaded }) => ({ default: loaded })),
);

/** All notifications of a workspace: what each does in a sentence, and what came of it today. */
export function Notifications(): ReactNode {
  const { w } = useParams({ from: FROM });
  const { data, error, refetch } = useQuery(notificationsQuery(w));
  const isOne = w !== EVERY_WORKSPACE;
  const search = useSearch({ from: FROM });
  const navigate = useNavigate({ from: FROM });
  const off = useMay('configure', w);
  const open = (): void => void navigate({ search: { new: 'yes' } });
  const close = (): void => void navigate({ search: {}, replace: true });
  useLetter('n', () => {
    if (isOne && off === null) open();
  });
  const { data: drafts } = useQuery({ ...draftsQuery(w), enabled: isOne });
  const insights = useQuery({ ...insightsQuery(w), enabled: isOne });
  const states = new Map((insights.data?.notifications ?? []).map((one) => [one.notification, one.states]));
  const facts = new Map(
    (drafts?.items ?? []).filter(({ kind }) => kind === 'notification').map((draft) => [draft.name, draft]),
  );
  const names = new Set(data?.items.map(({ name }) => name));
  const unborn = [...facts.values()].filter(({ name, action }) => action === 'create' && !names.has(name));
  const isEmpty = data !== undefined && data.items.length + unborn.length === 0;
  return (
    <>
      <PageHead
        title="Notifications"
        lead={
          data && !isEmpty
            ? `${counted(data.items.length, 'notification')}${isOne ? ` in ${w}` : ''}. Each says when it notifies whom, and how.`
            : undefined
        }
      >
        {isOne && (
          <Button kind="main" off={off} onPress={open}>
            New notification
          </Button>
        )}
      </PageHead>
      <PageBody>
        {error && <Problem error={error} onRetry={() => void refetch()} />}
        {!data && !error && <Loading what="notifications" />}
        {isEmpty && (
          <Empty
            title="No notifications yet"
            action={
              isOne && (
                <Button off={off} onPress={open}>
                  Start from an example
                </Button>
              )
            }
          >
            A notification says when somebody gets a message, who gets it and on which channel. You send events, its
            rules evaluate them, and the messages are sent.
          </Empty>
        )}
        {data && !isEmpty && (
          <Rows label="Notifications">
            {unborn.map((draft) => (
              <UnbornRow key={draft.name} workspace={w} draft={draft} />
            ))}
            {data.items.map(({ workspace, name, body }) => (
              <NotificationRow
                key={`${workspace}/${name}`}
                workspace={workspace}
                name={name}
                body={body}
                draft={facts.get(name)}
                states={insights.data ? (states.get(name) ?? {}) : undefined}
              />
            ))}
          </Rows>
        )}
      </PageBody>
      {search.new !== undefined && isOne && (
        <Suspense>
          <NewNotification
            workspace={w}
            stream={search.stream ?? ''}
            taken={new Set([...names, ...facts.keys()])}
            onClose={close}
          />
        </Suspense>
      )}
    </>
  );
}

type RowProps = {
  readonly workspace: string;
  readonly name: string;
  readonly body: unknown;
  readonly draft: DraftFacts | undefined;
  readonly states: Readonly<Record<string, number>> | undefined;
};

function NotificationRow({ workspace, name, body, draft, states }: RowProps): ReactNode {
  return (
    <li className={cls(styles.row)}>
      <div className={cls(styles.name)}>
        <h2>
          <Link to="/workspaces/$w/notifications/$n" params={{ w: workspace, n: name }}>
            {nameOf(body, name)}
          </Link>
        </h2>
        {draft && <DraftLamp draft={draft} />}
      </div>
      {states && <Counters states={states} />}
      <p className={cls(styles.sentence)}>{sentenceOf(body)}</p>
    </li>
  );
}

/** A notification that exists only as a draft. */
function UnbornRow({ workspace, draft }: { readonly workspace: string; readonly draft: DraftFacts }): ReactNode {
  const { data } = useQuery({
    queryKey: ['new, only a draft', workspace, draft.name, draft.revision],
    queryFn: () => readDraft({ kind: 'notifications', workspace, name: draft.name }),
    staleTime: Infinity,
  });
  return <NotificationRow workspace={workspace} name={draft.name} body={data?.body} draft={draft} states={undefined} />;
}

const DRAFT_WORDS = { create: 'New, not published yet', update: 'Draft', delete: 'Draft: will be removed' } as const;

function DraftLamp({ draft }: { readonly draft: DraftFacts }): ReactNode {
  return <Lamp tone="held">{draft.state === 'conflict' ? 'Draft in conflict' : DRAFT_WORDS[draft.action]}</Lamp>;
}
