import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState, type FormEvent, type ReactNode } from 'react';
import { api, bodyOf, isAway } from '../../api/client.ts';
import { useOnChange } from '../../api/live.ts';
import { useMay } from '../../api/me.ts';
import { EVERY_WORKSPACE } from '../../frame/last-workspace.ts';
import { Loading, Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Curl } from '../../ui/curl.tsx';
import { Field } from '../../ui/field.tsx';
import { PageBody, PageHead } from '../../ui/page.tsx';
import { Sentence } from '../../ui/sentence.tsx';
import { State } from '../../ui/state.tsx';
import { Id } from '../../ui/text.tsx';
import { CameIn, WentOut } from './contents.tsx';
import { eventTraceQuery, type Delivery, type Person, type Trace } from './queries.ts';
import { IdLink, Story } from './story.tsx';
import styles from './story.module.css';

const FROM = '/workspaces/$w/events/$id';
/** In milliseconds: the story follows its messages this soon. */
const TOLD_AFTER = 500;

/** What happened to one event: which rules saw it, and what came of each person whom it names. */
export function EventStory(): ReactNode {
  const { w, id } = useParams({ from: FROM });
  const { data: trace, error, refetch } = useQuery(eventTraceQuery(w, id));
  // The stream does not report changes of an event before its first message, so these are polled.
  useOnChange(
    w,
    'deliveries',
    TOLD_AFTER,
    () => refetch(),
    (row) => (row as Delivery).event_id === id,
  );
  const event = trace?.steps.find(({ step }) => step === 'event');
  return (
    <>
      <PageHead title="Event" lead={<Id>{id}</Id>}>
        {w !== EVERY_WORKSPACE && (
          <Link to="/workspaces/$w/why" params={{ w }} search={{ event: id }}>
            Why not?
          </Link>
        )}
      </PageHead>
      <PageBody>
        {error && !(trace && isAway(error)) && <Problem error={error} onRetry={() => void refetch()} />}
        {!trace && !error && <Loading what="the event" />}
        {trace && (
          <>
            <h2>Story</h2>
            <Story trace={trace} workspace={w} />
            {event && <CameIn workspace={w} id={id} position={event.position} />}
            {onlyDelivery(trace) !== null && <WentOut workspace={w} id={onlyDelivery(trace) ?? ''} />}
            <People workspace={w} trace={trace} />
            <Curl call={{ method: 'GET', path: `/v1/workspaces/${w}/events/${id}/trace` }} />
          </>
        )}
      </PageBody>
    </>
  );
}

/** The delivery of an event that made just one. */
function onlyDelivery({ people }: Trace): string | null {
  const made = (people?.items ?? []).filter(({ delivery }) => delivery !== null);
  return made.length === 1 && people?.next === null ? (made[0]?.delivery ?? null) : null;
}

const OUTCOMES: Readonly<Record<Person['outcome'], string>> = {
  told: 'notified',
  waiting: 'waiting',
  in_doubt: 'in doubt',
  not_told: 'not notified',
};

/** Whom an event names, those dropped among them, page by page. */
function People({ workspace, trace }: { readonly workspace: string; readonly trace: Trace }): ReactNode {
  const { recipient } = useSearch({ from: FROM });
  const navigate = useNavigate({ from: FROM });
  const [typed, setTyped] = useState(recipient ?? '');
  // The steps of an event that made one message tell of that one themselves.
  const isTold = trace.steps.some(({ step }) => step === 'intent');
  const isNeeded = trace.people !== null && trace.people.items.length > 0 && !isTold;
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: ['/v1/workspaces/{workspace}/events/{id}/trace', workspace, trace.id, 'people', recipient ?? null],
    queryFn: ({ pageParam, signal }) =>
      bodyOf(
        api.GET('/v1/workspaces/{workspace}/events/{id}/trace', {
          params: {
            path: { workspace, id: trace.id },
            query: { ...(recipient !== undefined && { recipient }), ...(pageParam !== null && { cursor: pageParam }) },
          },
          signal,
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ people }) => people?.next ?? null,
    enabled: isNeeded,
  });
  if (!isNeeded) return null;
  const pages = data?.pages ?? [];
  const find = (event: FormEvent): void => {
    event.preventDefault();
    void navigate({ search: typed.trim() === '' ? {} : { recipient: typed.trim() }, replace: true });
  };
  return (
    <section aria-label="People" className={cls(styles.inside)}>
      <h2>People</h2>
      <p role="status">{pages[0]?.people?.headline ?? ''}</p>
      <form className={cls(styles.find)} onSubmit={find}>
        <Field
          label="Filter by address"
          value={typed}
          onChange={setTyped}
          placeholder="Address, or its beginning"
          autoComplete="off"
        />
        <Button type="submit">Find</Button>
      </form>
      {error && <Problem error={error} />}
      <ol aria-label="People named by the event" className={cls(styles.steps)}>
        {pages
          .flatMap(({ people }) => people?.items ?? [])
          .map((person) => (
            <PersonLines
              key={`${person.rule} ${person.place} ${person.unique_id}`}
              person={person}
              workspace={workspace}
              event={trace.id}
            />
          ))}
      </ol>
      {hasNextPage && (
        <Button isDisabled={isFetchingNextPage} onPress={() => void fetchNextPage()}>
          Show more people
        </Button>
      )}
    </section>
  );
}

function PersonLines({
  person,
  workspace,
  event,
}: {
  readonly person: Person;
  readonly workspace: string;
  readonly event: string;
}): ReactNode {
  const unseen = useMay('bodies', workspace);
  const who = person.person ?? person.unique_id ?? person.to;
  const place = person.count === 1 ? person.place : `${person.place} to ${person.place + person.count - 1}`;
  return (
    <li className={cls(person.outcome === 'not_told' && styles.ended)}>
      <b>
        <bdi>{person.to ?? (person.delivery === null ? 'dropped' : 'no address')}</bdi>
      </b>{' '}
      {person.state === null ? OUTCOMES[person.outcome] : <State state={person.state} words={person.state_words} />}
      {person.reason_words !== null && ` (${person.reason_words})`}
      <div>
        <Sentence text={person.text} />
      </div>
      {person.item !== null && <pre>{person.item}</pre>}
      <div className={cls(styles.sub)}>
        <Id>
          {person.rule} {place}
        </Id>
        {person.unique_id !== null && <Id>{person.unique_id}</Id>}
        {person.delivery !== null && <IdLink id={person.delivery} workspace={workspace} />}
        {/* A user who sees masked addresses cannot ask about them. */}
        {person.outcome !== 'told' && who !== null && unseen === null && workspace !== EVERY_WORKSPACE && (
          <Link
            to="/workspaces/$w/why"
            params={{ w: workspace }}
            search={{ who, notification: person.rule, event }}
            aria-label={`Why not ${person.to ?? who}?`}
          >
            Why not?
          </Link>
        )}
      </div>
    </li>
  );
}
