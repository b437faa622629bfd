import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState, type FormEvent, type ReactNode } from 'react';
import { queryClient } from '../../api/query-client.ts';
import { Empty, Loading, Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Curl } from '../../ui/curl.tsx';
import { Field } from '../../ui/field.tsx';
import { NativeSelect } from '../../ui/native-select.tsx';
import { PageBody, PageHead } from '../../ui/page.tsx';
import { useZone } from '../../ui/zone.ts';
import { Id, Unseen } from '../../ui/text.tsx';
import { Checkbox } from '../../ui/toggle.tsx';
import { draftsQuery } from '../drafts/queries.ts';
import { ErasePersonCard } from '../erasures/erase-person-card.tsx';
import { notificationsQuery } from '../notifications/queries.ts';
import { runQuery } from '../runs/queries.ts';
import { namesWithDrafts } from '../templates/with-drafts.ts';
import { Answer } from './answer.tsx';
import {
  BETWEEN,
  faultOf,
  fieldTime,
  instantOf,
  isAsked,
  SPANS,
  optionsOf,
  spanOf,
  whyNotQuery,
  wholeOf,
  type Span,
  type WhySearch,
} from './question.ts';
import { SearchLog } from './search-log.tsx';
import styles from './why.module.css';

const FROM = '/workspaces/$w/why';

/** Why a notification did not tell somebody: the gates between an event and them, and the first that stopped it. */
export function Why(): ReactNode {
  const { w } = useParams({ from: FROM });
  const search = useSearch({ from: FROM });
  const navigate = useNavigate({ from: FROM });
  const { data: run } = useQuery({ ...runQuery(w, search.search ?? ''), enabled: search.search !== undefined });
  const isReady = search.search === undefined || run?.state === 'done';
  const options = whyNotQuery(w, search, isReady);
  const { data, error, isFetching, isFetchingNextPage, hasNextPage, fetchNextPage, refetch } =
    useInfiniteQuery(options);
  const whole = data ? wholeOf(data.pages) : null;
  const isAtField = ['who', 'from', 'to', 'event'].some((field) => faultOf(error, field) !== null);
  const ask = (next: WhySearch): void => {
    // The same question again is asked anew: a message that waited may have gone.
    if (JSON.stringify(next) === JSON.stringify(search)) void queryClient.resetQueries({ queryKey: options.queryKey });
    else void navigate({ search: next });
  };
  return (
    <>
      <PageHead
        title="Why not?"
        lead="Why somebody was not notified: each step between the event and the message, in order, and the first one that stopped it."
      />
      <PageBody>
        <Question
          key={JSON.stringify(search)}
          workspace={w}
          search={search}
          error={error}
          isAsking={isFetching}
          onAsk={ask}
        />
        {error && !isAtField && <Problem error={error} onRetry={() => void refetch()} />}
        {!isAsked(search) && (
          <Empty title="Who is missing a message?">
            Enter a whole address, person or unique_id, and the notification that they should have had. “Why not?” on a
            delivery or an event fills this form in.
          </Empty>
        )}
        {isAsked(search) && isReady && !whole && !error && <Loading what="the answer" rows={8} />}
        {/* Read out once it is there: whoever asked by the keyboard still stands in the form. */}
        <Unseen>
          <span role="status">{whole && !isFetching ? whole.main.sentence : ''}</span>
        </Unseen>
        {whole && (
          <div className={cls(styles.answer, isFetching && !isFetchingNextPage && styles.old)}>
            <Answer
              workspace={w}
              search={search}
              whole={whole}
              more={
                hasNextPage ? (
                  <Button isDisabled={isFetchingNextPage} onPress={() => void fetchNextPage()}>
                    {isFetchingNextPage ? 'Looking…' : 'Look further back'}
                  </Button>
                ) : null
              }
            />
            <Curl
              call={{
                method: 'POST',
                path: `/v1/workspaces/${w}/why-not`,
                body: {
                  who: search.who ?? '',
                  notification: search.notification ?? '',
                  ...optionsOf(search),
                },
              }}
            />
          </div>
        )}
        {isAsked(search) && (whole || !isReady) && (
          <SearchLog
            key={`${search.who} ${search.search}`}
            workspace={w}
            who={search.who}
            search={search.search}
            onSearch={(id) => ask({ ...keptOf(search), search: id })}
          />
        )}
        {search.who !== undefined && <ErasePersonCard key={`erase ${search.who}`} workspace={w} person={search.who} />}
      </PageBody>
    </>
  );
}

/** The parts of a question that a search keeps. */
const keptOf = ({ who, notification, drafts }: WhySearch): WhySearch => ({
  ...(who !== undefined && { who }),
  ...(notification !== undefined && { notification }),
  ...(drafts !== undefined && { drafts }),
});

type QuestionProps = {
  readonly workspace: string;
  readonly search: WhySearch;
  readonly error: Error | null;
  readonly isAsking: boolean;
  readonly onAsk: (search: WhySearch) => void;
};

/** Who, of what, when. */
function Question({ workspace, search, error, isAsking, onAsk }: QuestionProps): ReactNode {
  const zone = useZone();
  const [who, setWho] = useState(search.who ?? '');
  const [notification, setNotification] = useState(search.notification ?? '');
  const [span, setSpan] = useState<Span>(spanOf(search));
  // Null until the field is changed: the instant of the address, with its seconds, stays as it is.
  const [from, setFrom] = useState<string | null>(null);
  const [to, setTo] = useState<string | null>(null);
  const [event, setEvent] = useState(search.event);
  const [missing, setMissing] = useState<'who' | 'notification' | null>(null);
  const [withDrafts, setWithDrafts] = useState(search.drafts !== undefined);
  const { data, error: unread } = useQuery(notificationsQuery(workspace));
  const { data: drafted } = useQuery(draftsQuery(workspace));
  const drafts = drafted?.items ?? [];
  const names = namesWithDrafts(data?.items ?? [], withDrafts ? drafts : [], 'notification').map(({ name }) => name);
  const options = [
    ...(notification === '' ? [{ id: '', name: 'Choose a notification' }] : []),
    // A rule of one, or one that is gone by now: it stands in the address and can be asked for.
    ...[...new Set([...names, ...(notification === '' ? [] : [notification])])].map((name) => ({ id: name, name })),
  ];
  const send = (submitted: FormEvent): void => {
    submitted.preventDefault();
    const known = who.trim();
    setMissing(known === '' ? 'who' : notification === '' ? 'notification' : null);
    if (known === '' || notification === '') return;
    const range = {
      from: from === null ? search.from : instantOf(from, zone),
      to: to === null ? search.to : instantOf(to, zone),
    };
    const when: WhySearch =
      event !== undefined
        ? { event }
        : span === BETWEEN
          ? {
              ...(range.from !== undefined && { from: range.from }),
              ...(range.to !== undefined && { to: range.to }),
            }
          : { last: span };
    onAsk({ who: known, notification, ...when, ...(withDrafts && { drafts: 'yes' }) });
  };
  return (
    <form className={cls(styles.question)} onSubmit={send} aria-label="Question">
      <Field
        label="Who"
        placeholder="ada@example.com"
        autoFocus={search.who === undefined}
        autoComplete="off"
        value={who}
        onChange={setWho}
        maxLength={4096}
        fault={missing === 'who' ? 'Enter the whole address, person or unique_id.' : faultOf(error, 'who')}
      />
      <NativeSelect
        label="Notification"
        options={options}
        value={notification}
        onChange={setNotification}
        {...(unread && { note: `The list could not be read: ${unread.message}` })}
        {...(missing === 'notification' && { note: 'Choose the notification that they should have had.' })}
      />
      {event === undefined && <NativeSelect label="When" options={SPANS} value={span} onChange={setSpan} />}
      {event === undefined && span === BETWEEN && (
        <>
          <Field
            label="From"
            note={zone}
            type="datetime-local"
            value={from ?? fieldTime(search.from, zone)}
            onChange={setFrom}
            fault={faultOf(error, 'from')}
          />
          <Field
            label="To"
            note={zone}
            type="datetime-local"
            value={to ?? fieldTime(search.to, zone)}
            onChange={setTo}
            fault={faultOf(error, 'to')}
          />
        </>
      )}
      {event !== undefined && (
        <p className={cls(styles.only)}>
          <span>
            Only event <Id>{event}</Id>
          </span>
          <Button kind="quiet" onPress={() => setEvent(undefined)}>
            Any event
          </Button>
        </p>
      )}
      {(drafts.length > 0 || withDrafts) && (
        <div className={cls(styles.drafts)}>
          <Checkbox isOn={withDrafts} onChange={setWithDrafts}>
            Also show the answer with the drafts published
          </Checkbox>
        </div>
      )}
      {faultOf(error, 'event') !== null && <p role="alert">{faultOf(error, 'event')}</p>}
      <Button type="submit" kind="main" isDisabled={isAsking}>
        Ask
      </Button>
    </form>
  );
}
