import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import type { Bodies } from '../../api/draft-calls.ts';
import { statusQuery } from '../../api/status.ts';
import { useDraft } from '../../api/use-draft.ts';
import { Empty, Loading, Problem } from '../../ui/answers.tsx';
import { cls } from '../../ui/class-names.ts';
import { Curl } from '../../ui/curl.tsx';
import { useLetter } from '../../ui/use-letter.ts';
import { Card, PageBody, PageHead } from '../../ui/page.tsx';
import { lazyPart, Part } from '../../ui/part.tsx';
import { NativeSelect } from '../../ui/native-select.tsx';
import { Code, Id } from '../../ui/text.tsx';
import { AsFile } from '../drafts/as-file.tsx';
import { DraftActions, DraftNotices } from '../drafts/draft-actions.tsx';
import { notificationsQuery } from '../notifications/queries.ts';
import { sampleQuery } from '../rule/queries.ts';
import { textOf } from '../rule/rule-props.ts';
import { SourceCard } from '../sources/source-card.tsx';
import { emptyEvent, subscribedRulesText, streamsIn, type StreamFacts } from './subscribed-rules.ts';
import { NewestEvents } from './newest-events.tsx';
import { streamsQuery } from './queries.ts';
import { SeenFields } from './seen-fields.tsx';
import { SendEvent } from './send-event.tsx';
import type { StreamDraft } from './stream-draft.ts';
import styles from './streams.module.css';

// Both stand below what is looked at first, and bring tabs, choices and fields with them.
const SendMany = lazyPart(() => import('./send-many.tsx').then(({ SendMany: loaded }) => loaded));
const CodeSamples = lazyPart(() => import('../rule/event-stream.tsx').then(({ CodeSamples: loaded }) => loaded));
const EntityStateCard = lazyPart(() => import('./entity-state.tsx').then(({ EntityStateCard: loaded }) => loaded));
const StreamSettings = lazyPart(() => import('./stream-settings.tsx').then(({ StreamSettings: loaded }) => loaded));

/** One stream: its address, who may send, what was seen to come, code that sends, and an event sent right now. */
export function EventStreamPage(): ReactNode {
  const { w, s } = useParams({ from: '/workspaces/$w/streams/$s' });
  const shared = useQuery(streamsQuery(w));
  const notifications = useQuery(notificationsQuery(w));
  const error = shared.error ?? notifications.error;
  const isReady = shared.data !== undefined && notifications.data !== undefined;
  const facts = isReady
    ? streamsIn(shared.data.items, notifications.data.items).find(({ name }) => name === s)
    : undefined;
  if (facts?.isShared === false) {
    return (
      <>
        <Head workspace={w} name={s} lead={leadOf(facts, null)} />
        <PageBody>
          <Parts workspace={w} name={s} facts={facts} draft={null} />
        </PageBody>
      </>
    );
  }
  if (isReady) return <SharedStream workspace={w} name={s} facts={facts} />;
  return (
    <>
      <Head workspace={w} name={s} />
      <PageBody>
        {error ? (
          <Problem error={error} onRetry={() => void Promise.all([shared.refetch(), notifications.refetch()])} />
        ) : (
          <Loading what="the event stream" />
        )}
      </PageBody>
    </>
  );
}

const All = ({ workspace }: { readonly workspace: string }): ReactNode => (
  <Link to="/workspaces/$w/streams" params={{ w: workspace }}>
    Event streams
  </Link>
);

function Head({
  workspace,
  name,
  lead,
  children,
}: {
  readonly workspace: string;
  readonly name: string;
  readonly lead?: ReactNode;
  readonly children?: ReactNode;
}): ReactNode {
  return (
    <PageHead title={name} crumbs={[<All key="all" workspace={workspace} />, name]} lead={lead}>
      {children}
    </PageHead>
  );
}

/** One that stands by itself has a draft; that of a rule comes and goes with its notification. */
function SharedStream({ workspace, name, facts }: Omit<PartsProps, 'draft'>): ReactNode {
  const draft = useDraft('streams', workspace, name);
  const isThere = facts !== undefined || draft.body !== null;
  const isReady = !draft.isLoading && draft.error === null;
  return (
    <>
      <Head workspace={workspace} name={name} lead={isReady && isThere ? leadOf(facts, draft) : undefined}>
        <DraftActions draft={draft} />
      </Head>
      <PageBody>
        {draft.error && <Problem error={draft.error} onRetry={draft.retry} />}
        {draft.isLoading && <Loading what="the event stream" />}
        <DraftNotices draft={draft} />
        {isReady && !isThere && (
          <Empty title={`There is no event stream ${name}`} action={<All workspace={workspace} />}>
            The event stream was removed or renamed.
          </Empty>
        )}
        {isReady && isThere && <Parts workspace={workspace} name={name} facts={facts} draft={draft} />}
      </PageBody>
    </>
  );
}

function leadOf(facts: StreamFacts | undefined, draft: StreamDraft | null): ReactNode {
  if (!facts) {
    return draft?.body?.from === undefined
      ? 'Its URL accepts events after you publish it.'
      : `Carillon reads its ${draft.body.from.tables ? 'tables' : 'topics'} after you publish it.`;
  }
  if (draft !== null && draft.resource !== null && draft.body === null)
    return 'The draft removes this stream. It works until you publish its removal.';
  const [first] = facts.subscribedRules;
  return facts.isShared
    ? `${subscribedRulesText(facts.subscribedRules.length)}.`
    : `Belongs to the rule ${first?.rule} of ${first?.notification}, and is removed with it.`;
}

type PartsProps = {
  readonly workspace: string;
  readonly name: string;
  /** As it counts; undefined: it is not published yet. */
  readonly facts: StreamFacts | undefined;
  /** Null of a stream that a rule brings. */
  readonly draft: StreamDraft | null;
};

function Parts(props: PartsProps): ReactNode {
  const { draft } = props;
  const from = draft?.body?.from ?? draft?.resource?.body.from;
  return from === undefined ? <SentParts {...props} /> : <ReadParts {...props} from={from} />;
}

/** The rules that evaluate what comes to a stream. */
function SubscribedRules({ workspace: w, name: s, facts }: Omit<PartsProps, 'draft'>): ReactNode {
  if (facts === undefined) return null;
  const { subscribedRules } = facts;
  if (subscribedRules.length > 0) {
    return (
      <ul aria-label="Subscribed rules" className={cls(styles.subscribedRules)}>
        <li aria-hidden>Subscribed rules:</li>
        {subscribedRules.map(({ notification, rule }) => (
          <li key={`${notification}.${rule}`}>
            <Link
              to="/workspaces/$w/notifications/$n/rules/$r"
              params={{ w, n: notification, r: rule }}
            >{`${notification}.${rule}`}</Link>
          </li>
        ))}
      </ul>
    );
  }
  return (
    <p>
      No rule is subscribed: events are stored, and nobody is notified.{' '}
      <Link to="/workspaces/$w/notifications" params={{ w }} search={{ new: 'yes', stream: s }}>
        Create a notification
      </Link>{' '}
      with a rule on <Id>{s}</Id>.
    </p>
  );
}

const EntityPart = (props: { readonly workspace: string; readonly path: string }): ReactNode => (
  <Part loading={<Loading what="the state of an entity" rows={3} />}>
    <EntityStateCard {...props} />
  </Part>
);

/** A stream that reads tables or topics: how its source is, its newest events, and its settings. */
function ReadParts({
  workspace: w,
  name: s,
  facts,
  draft,
  from,
}: PartsProps & { readonly from: NonNullable<Bodies['streams']['from']> }): ReactNode {
  const path = `${w}/${s}`;
  const isPublished = facts !== undefined;
  const titles = (facts?.subscribedRules ?? []).map(({ notification, rule }) => `${notification}.${rule}`);
  return (
    <>
      <SourceCard workspace={w} name={from.integration} tables={Object.keys(from.tables ?? from.topics ?? {})} isLinked>
        <SubscribedRules workspace={w} name={s} facts={facts} />
      </SourceCard>
      {isPublished && <NewestEvents workspace={w} path={path} from={from} />}
      {isPublished && <SeenFields workspace={w} path={path} />}
      {isPublished && <EntityPart workspace={w} path={path} />}
      {draft !== null && draft.body !== null && (
        <Part loading={<Loading what="the settings" />}>
          <StreamSettings draft={draft} subscribedRules={titles} />
        </Part>
      )}
      {draft?.resource && <AsFile kind="streams" workspace={w} name={s} number={draft.resource.number} />}
      {isPublished && (
        <Curl call={{ method: 'GET', path: `/v1/workspaces/${w}/streams/${encodeURIComponent(path)}/fields` }} />
      )}
    </>
  );
}

/** Environment variable from which code reads the credential of a stream that no rule hears. */
const variableOf = (published: Bodies['streams'] | undefined): string =>
  published?.security?.jwt_provider === undefined ? 'CARILLON_API_KEY' : 'CARILLON_JWT';

/** A stream that senders post to: its address, an event to send, code, what came, and its settings. */
function SentParts({ workspace: w, name: s, facts, draft }: PartsProps): ReactNode {
  const { data: status } = useQuery(statusQuery);
  const [opened] = useState(() => new Date().toISOString());
  const path = `${w}/${s}`;
  const url = status && `${status.events_url}/${path}`;
  const subscribedRules = facts?.subscribedRules ?? [];
  const titles = subscribedRules.map(({ notification, rule }) => `${notification}.${rule}`);
  const [picked, setPicked] = useState<string | null>(null);
  const title = titles.find((one) => one === picked) ?? titles[0];
  const faults = draft?.faults ?? [];
  const saving = draft !== null && draft.hasDraft && draft.body !== null ? (draft.draftRevision ?? draft.saving) : null;
  const sample = useQuery({
    ...sampleQuery(w, title ?? '', saving),
    // A draft with mistakes has none.
    enabled: title !== undefined && faults.length === 0,
  });
  // What is sent is judged by what is published, whatever the draft says.
  const counts = useQuery({ ...sampleQuery(w, title ?? '', null), enabled: title !== undefined });
  const isListening = facts !== undefined;
  useLetter('c', () => document.querySelector<HTMLElement>('[data-copies="url"] button')?.click());
  const published = draft?.resource?.body;
  return (
    <>
      <Card title="URL">
        <div data-copies="url">{url && <Code text={url} what="the URL" />}</div>
        <p>Post events here as JSON. {isListening ? null : 'The URL accepts events after you publish the stream.'}</p>
        <SubscribedRules workspace={w} name={s} facts={facts} />
      </Card>
      {isListening && (
        <SendEvent
          workspace={w}
          path={path}
          proposed={
            counts.data
              ? counts.data.event
              : title === undefined || counts.isError
                ? emptyEvent(textOf(published?.key), textOf(published?.time), opened)
                : null
          }
        />
      )}
      {title !== undefined && (
        <Card title="Code">
          {titles.length > 1 && (
            <NativeSelect
              label="Example event for the rule"
              options={titles.map((id) => ({ id, name: id }))}
              value={title}
              onChange={setPicked}
            />
          )}
          {sample.error && <Problem error={sample.error} onRetry={() => void sample.refetch()} />}
          {faults.length > 0 && !sample.data && <p>The code appears here once the draft has no mistakes.</p>}
          {!sample.data && !sample.error && faults.length === 0 && <Loading what="the code" rows={4} />}
          {sample.data && (
            <Part loading={<Loading what="the code" rows={4} />}>
              <CodeSamples sample={sample.data} />
            </Part>
          )}
        </Card>
      )}
      {isListening && url && published?.format !== 'debezium' && (
        <Part loading={<Loading what="the code" rows={4} />}>
          <SendMany url={url} variable={counts.data?.credential.variable ?? variableOf(published)} />
        </Part>
      )}
      {isListening && <SeenFields workspace={w} path={path} />}
      {isListening && <NewestEvents workspace={w} path={path} />}
      {isListening && <EntityPart workspace={w} path={path} />}
      {facts?.isShared === false ? (
        <Card title="Settings">
          <p>
            They are part of its notification:{' '}
            <Link to="/workspaces/$w/notifications/$n/secure" params={{ w, n: subscribedRules[0]?.notification ?? '' }}>
              Who may send
            </Link>
            .
          </p>
        </Card>
      ) : (
        draft !== null &&
        draft.body !== null && (
          <Part loading={<Loading what="the settings" />}>
            <StreamSettings draft={draft} subscribedRules={titles} />
          </Part>
        )
      )}
      {draft?.resource && <AsFile kind="streams" workspace={w} name={s} number={draft.resource.number} />}
      {isListening && (
        <Curl call={{ method: 'GET', path: `/v1/workspaces/${w}/streams/${encodeURIComponent(path)}/fields` }} />
      )}
    </>
  );
}
