import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useMay } from '../../api/me.ts';
import { EVERY_WORKSPACE } from '../../frame/last-workspace.ts';
import { Empty, Loading, Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { Curl } from '../../ui/curl.tsx';
import { PageBody, PageHead, Quiet, Row, Rows } from '../../ui/page.tsx';
import { Lamp } from '../../ui/state.tsx';
import { Time } from '../../ui/time.tsx';
import { draftsQuery, type DraftFacts } from '../drafts/queries.ts';
import { notificationsQuery } from '../notifications/queries.ts';
import { NewSetup, type NewKind } from '../setup/new-setup.tsx';
import { subscribedRulesText, isClosed, originText, streamsIn, type StreamFacts } from './subscribed-rules.ts';
import { lastEventQuery, streamsQuery, type StreamResource } from './queries.ts';

const KINDS: readonly NewKind<'streams'>[] = [
  { id: 'stream', name: 'Event stream', what: 'Several rules can use it.', body: { security: {} } },
];
/** A longer list does not ask when the last event of each stream came: that is a call for each. */
const FEW = 40;
const DRAFT_WORDS = { create: 'New, not published yet', update: 'Draft', delete: 'Draft: will be removed' } as const;

/** Where events come in: what each stream is, which rules hear it, who may send, and when something came last. */
export function Streams(): ReactNode {
  const { w } = useParams({ from: '/workspaces/$w/streams' });
  const isOne = w !== EVERY_WORKSPACE;
  const shared = useQuery(streamsQuery(w));
  const notifications = useQuery(notificationsQuery(w));
  const { data: drafts } = useQuery({ ...draftsQuery(w), enabled: isOne });
  const [isAdding, setAdding] = useState(false);
  const off = useMay('configure', w);
  const navigate = useNavigate();
  const error = shared.error ?? notifications.error;
  const isReady = shared.data !== undefined && notifications.data !== undefined;
  const streams = isReady ? streamsIn(shared.data.items, notifications.data.items) : [];
  const facts = new Map(
    (drafts?.items ?? []).filter(({ kind }) => kind === 'stream').map((draft) => [draft.name, draft]),
  );
  const known = new Set(streams.map(({ name }) => name));
  const unborn = [...facts.values()].filter(({ name, action }) => action === 'create' && !known.has(name));
  const isEmpty = isReady && streams.length + unborn.length === 0;
  const bodies = new Map(shared.data?.items.map(({ workspace, name, body }) => [`${workspace}/${name}`, body]));
  const add = isOne && (
    <Button kind="main" off={off} onPress={() => setAdding(true)}>
      New event stream
    </Button>
  );
  return (
    <>
      <PageHead
        title="Event streams"
        lead="The URLs that accept events. A rule has its own stream, or several rules share one, so that a sender sends each event once. To read a database or Kafka, start at Integrations."
      >
        {!isEmpty && isReady && add}
      </PageHead>
      <PageBody>
        {error && (
          <Problem error={error} onRetry={() => void Promise.all([shared.refetch(), notifications.refetch()])} />
        )}
        {!isReady && !error && <Loading what="event streams" />}
        {isEmpty && (
          <Empty title="No event streams yet" action={add}>
            Each rule has its own URL. Make a shared stream if one event matters to several notifications.
          </Empty>
        )}
        {isReady && !isEmpty && (
          <Rows label="Event streams">
            {unborn.map((draft) => (
              <UnbornRow key={`draft ${draft.name}`} workspace={w} draft={draft} />
            ))}
            {streams.map((stream) => (
              <StreamRow
                key={`${stream.workspace}/${stream.name}`}
                stream={stream}
                body={bodies.get(`${stream.workspace}/${stream.name}`)}
                draft={isOne && stream.isShared ? facts.get(stream.name) : undefined}
                asks={streams.length <= FEW}
              />
            ))}
          </Rows>
        )}
        {isReady && <Curl call={{ method: 'GET', path: `/v1/workspaces/${w}/streams` }} />}
      </PageBody>
      {isAdding && (
        <NewSetup
          title="New event stream"
          workspace={w}
          kind="streams"
          kinds={KINDS}
          taken={[...known, ...facts.keys()]}
          onMade={(name) => void navigate({ to: '/workspaces/$w/streams/$s', params: { w, s: name } })}
          onClose={() => setAdding(false)}
        />
      )}
    </>
  );
}

function UnbornRow({ workspace, draft }: { readonly workspace: string; readonly draft: DraftFacts }): ReactNode {
  return (
    <Row>
      <span>
        <h2>
          <Link to="/workspaces/$w/streams/$s" params={{ w: workspace, s: draft.name }}>
            {draft.name}
          </Link>
        </h2>
        <Quiet>Accepts events after you publish this draft</Quiet>
      </span>
      <Lamp tone="held">{DRAFT_WORDS.create}</Lamp>
    </Row>
  );
}

function StreamRow({
  stream: { workspace, name, isShared, subscribedRules },
  body,
  draft,
  asks,
}: {
  readonly stream: StreamFacts;
  /** Undefined of a stream that a rule brings. */
  readonly body: StreamResource['body'] | undefined;
  readonly draft: DraftFacts | undefined;
  readonly asks: boolean;
}): ReactNode {
  const { data, error } = useQuery({ ...lastEventQuery(workspace, `${workspace}/${name}`), enabled: asks });
  const [last] = data?.items ?? [];
  const [first] = subscribedRules;
  return (
    <Row>
      <span>
        <h2>
          <Link to="/workspaces/$w/streams/$s" params={{ w: workspace, s: name }}>
            {name}
          </Link>
        </h2>
        <Quiet>
          {isShared
            ? [subscribedRulesText(subscribedRules.length), ...(body === undefined ? [] : [originText(body)])].join(
                ' · ',
              )
            : `Only for the rule ${first?.rule} of ${first?.notification}`}
        </Quiet>
      </span>
      {draft && <Lamp tone="held">{draft.state === 'conflict' ? 'Draft in conflict' : DRAFT_WORDS[draft.action]}</Lamp>}
      {body !== undefined && isClosed(body) && <Lamp tone="bad">Nobody may send</Lamp>}
      {last && (
        <Quiet>
          Last event <Time at={last.at} ago />
        </Quiet>
      )}
      {data && !last && <Lamp tone="none">No event yet</Lamp>}
      {error && <Quiet>Last event: –</Quiet>}
    </Row>
  );
}
