import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api, bodyOf, type Schemas } from '../../api/client.ts';
import { Loading, Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Time } from '../../ui/time.tsx';
import styles from './story.module.css';

type EventContent = Schemas['EventContent'];
type DeliveryContent = Schemas['DeliveryContent'];
type Reply = DeliveryContent['replies'][number];
type Part = DeliveryContent['parts'][number];

/** Lines of an event at once. */
const LINES = 200;

/** Something long that is asked for when somebody opens it. */
function Opened({ title, children }: { readonly title: string; readonly children: () => ReactNode }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className={cls(styles.opened)} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{title}</summary>
      {isOpen && <div className={cls(styles.inside)}>{children()}</div>}
    </details>
  );
}

const capital = (words: string): string => `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;

export type ContentOf = {
  readonly workspace: string;
  readonly id: string;
};

/** The body of an event, with what rules read of it marked. `position`: which of several copies. */
export function CameIn(props: ContentOf & { readonly position: string | null }): ReactNode {
  return <Opened title="What came in">{() => <EventBody {...props} />}</Opened>;
}

function EventBody({ workspace, id, position }: ContentOf & { readonly position: string | null }): ReactNode {
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = useInfiniteQuery({
    queryKey: ['/v1/workspaces/{workspace}/events/{id}/content', workspace, id, position],
    queryFn: ({ pageParam, signal }) =>
      bodyOf(
        api.GET('/v1/workspaces/{workspace}/events/{id}/content', {
          params: {
            path: { workspace, id },
            query: {
              limit: LINES,
              ...(position !== null && { position }),
              ...(pageParam !== null && { cursor: pageParam }),
            },
          },
          signal,
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }: EventContent) => next,
    staleTime: Infinity,
  });
  if (error) return <Problem error={error} onRetry={() => void refetch()} />;
  const first = data?.pages[0];
  if (!data || !first) return <Loading what="the event" rows={3} />;
  if (first.gone !== null) return <p>{capital(first.gone)}.</p>;
  return (
    <>
      <pre className={cls(styles.body)} tabIndex={0} role="group" aria-label="Body of the event">
        {data.pages
          .flatMap(({ lines }) => lines)
          .map(({ text, read_by: by }, at) =>
            by.length === 0 ? (
              `${text}\n`
            ) : (
              <span key={at}>
                <mark className={cls(styles.mark)}>{text}</mark>
                <span className={cls(styles.by)}>{`  ← ${by.join(', ')}`}</span>
                {'\n'}
              </span>
            ),
          )}
      </pre>
      {hasNextPage && (
        <Button isDisabled={isFetchingNextPage} onPress={() => void fetchNextPage()}>
          Show more lines
        </Button>
      )}
      {first.fields
        .filter((field) => !field.is_there)
        .map(({ path, read_by: by }) => (
          <p key={path}>
            Missing: <code>{path}</code>, read by {by.join(', ')}
          </p>
        ))}
      {first.whole.map((by) => (
        <p key={by}>{by} uses all fields of the event</p>
      ))}
    </>
  );
}

/** The message of a delivery, rendered again, and what the provider said to it. */
export function WentOut(props: ContentOf): ReactNode {
  return <Opened title="What went out">{() => <MessageBody {...props} />}</Opened>;
}

function MessageBody({ workspace, id }: ContentOf): ReactNode {
  const { data, error, refetch } = useQuery({
    queryKey: ['/v1/workspaces/{workspace}/deliveries/{id}/content', workspace, id],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/v1/workspaces/{workspace}/deliveries/{id}/content', { params: { path: { workspace, id } }, signal }),
      ),
  });
  if (error) return <Problem error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading what="the message" rows={3} />;
  return (
    <>
      <p className={cls(styles.note)}>
        {data.problem === null
          ? `Rendered again by version ${data.template_version} of the template ${data.template}, from what was recorded.`
          : `It cannot be rendered: ${data.problem}`}
      </p>
      {data.missing.length > 0 && (
        <p>
          Empty in the message, because the event has no value: <code>{data.missing.join(', ')}</code>
        </p>
      )}
      {data.notes.map((note) => (
        <p key={note}>{capital(note)}.</p>
      ))}
      {data.parts.some(({ name }) => name === 'html') && (
        <iframe
          className={cls(styles.frame)}
          // No script, no forms, an origin of its own: what a tenant's template does stays in there.
          sandbox=""
          referrerPolicy="no-referrer"
          src={`/messages/${encodeURIComponent(id)}/html`}
          title="The message as its reader sees it"
        />
      )}
      {data.parts.map((part) => (
        <PartText key={part.name} workspace={workspace} id={id} part={part} />
      ))}
      {data.replies.length > 0 && <h3>What the provider said</h3>}
      <ul aria-label="What the provider said">
        {data.replies.map((reply) => (
          <ReplyLine key={reply.attempt} reply={reply} />
        ))}
      </ul>
    </>
  );
}

/** A part of a message; what follows of a long one is asked for. */
function PartText({ workspace, id, part }: ContentOf & { readonly part: Part }): ReactNode {
  const [more, setMore] = useState<readonly Part[]>([]);
  const [error, setError] = useState<Error | null>(null);
  const next = (more.at(-1) ?? part).next;
  const ask = (cursor: string): void => {
    setError(null);
    bodyOf(
      api.GET('/v1/workspaces/{workspace}/deliveries/{id}/content', {
        params: { path: { workspace, id }, query: { part: part.name, cursor } },
      }),
    ).then(({ parts }) => setMore((known) => [...known, ...parts]), setError);
  };
  return (
    <>
      <h3>{part.name}</h3>
      <pre className={cls(styles.body)} tabIndex={0} role="group" aria-label={`The part ${part.name}`}>
        {[part, ...more].map(({ text }) => text).join('')}
      </pre>
      {error && <Problem error={error} />}
      {next !== null && <Button onPress={() => ask(next)}>Show more of {part.name}</Button>}
    </>
  );
}

function ReplyLine({ reply }: { readonly reply: Reply }): ReactNode {
  const said = reply.verdict === null ? 'no answer is known' : `${reply.verdict} ${reply.code} ${reply.words}`;
  return (
    <li>
      <Time at={reply.at} /> {reply.account}: <bdi>{said}</bdi>
      {reply.provider_id !== null && (
        <>
          , provider id <bdi>{reply.provider_id}</bdi>
        </>
      )}
    </li>
  );
}
