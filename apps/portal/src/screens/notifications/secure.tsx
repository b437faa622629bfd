import { useParams } from '@tanstack/react-router';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useDraft } from '../../api/use-draft.ts';
import { Loading, Problem } from '../../ui/answers.tsx';
import { Card } from '../../ui/page.tsx';
import { lazyPart, Part } from '../../ui/part.tsx';
import { Code, Id } from '../../ui/text.tsx';
import { DraftActions, DraftNotices } from '../drafts/draft-actions.tsx';
import { sampleQuery } from '../rule/queries.ts';
import { NotificationFrame, type NotificationDraft } from './notification-frame.tsx';
import { SecurityChoice } from './security-choice.tsx';

/** Comes after the choice: a first visit stays within its budget. */
const CodeSamples = lazyPart(() => import('../rule/event-stream.tsx').then(({ CodeSamples: loaded }) => loaded));

/** Who may send the events of a notification, and the code that does; the code follows each choice at once. */
export function NotificationSecure(): ReactNode {
  const { w, n } = useParams({ from: '/workspaces/$w/notifications/$n/secure' });
  return (
    <NotificationFrame w={w} n={n}>
      {(draft) => <Streams draft={draft} />}
    </NotificationFrame>
  );
}

function Streams({ draft }: { readonly draft: NotificationDraft }): ReactNode {
  const rules = Object.entries(draft.body.rules ?? {}).filter(([, rule]) => rule.cohort === undefined);
  const own = rules.filter(([, rule]) => rule.stream === undefined);
  const shared = Map.groupBy(
    rules.filter(([, rule]) => rule.stream !== undefined),
    ([, rule]) => rule.stream ?? '',
  );
  if (rules.length === 0)
    return <p>No rule of this notification uses a stream, so nobody sends events to the notification.</p>;
  return (
    <>
      {own.length > 0 && <OwnStreams draft={draft} rules={own.map(([name]) => name)} />}
      {[...shared].map(([stream, of]) => (
        <SharedStream key={stream} stream={stream} draft={draft} rules={of.map(([name]) => name)} />
      ))}
    </>
  );
}

/** The notification itself says who may send to the streams that its rules have for themselves. */
function OwnStreams({
  draft,
  rules,
}: {
  readonly draft: NotificationDraft;
  readonly rules: readonly string[];
}): ReactNode {
  const { workspace, name, body } = draft;
  return (
    <>
      <Card title="Streams of this notification">
        <p>
          Applies to{' '}
          {rules.length === 1
            ? 'this notification’s own stream'
            : `the ${rules.length} own streams of this notification`}
          .
        </p>
        <SecurityChoice
          workspace={workspace}
          security={body.security ?? {}}
          faults={draft.faultsAt('security')}
          isDraft={draft.hasDraft}
          onChange={(security) => {
            draft.change((before) => ({ ...before, security }));
            void draft.saveNow();
          }}
        />
      </Card>
      {rules.map((rule) => (
        <Samples
          key={rule}
          workspace={workspace}
          title={`${name}.${rule}`}
          saving={draft.hasDraft ? (draft.draftRevision ?? draft.saving) : null}
        />
      ))}
    </>
  );
}

/** A shared stream has a draft of its own: what is chosen counts for every rule that hears it. */
function SharedStream({
  stream,
  draft,
  rules,
}: {
  readonly stream: string;
  readonly draft: NotificationDraft;
  readonly rules: readonly string[];
}): ReactNode {
  const { workspace, name } = draft;
  const shared = useDraft('streams', workspace, stream);
  const from = shared.body?.from;
  const [first = ''] = rules;
  // The code is that of the rule in its draft, with who may send in the draft of the stream.
  const savings = [draft, shared].map((one) => (one.hasDraft ? (one.draftRevision ?? one.saving) : null));
  return (
    <>
      <Card title={`Stream ${stream}`} beside={<DraftActions draft={shared} isPart />}>
        <p>
          This stream is shared. Your choice applies to every rule on <Id>{`${workspace}/${stream}`}</Id>.
        </p>
        <DraftNotices draft={shared} />
        {shared.error && <Problem error={shared.error} onRetry={shared.retry} />}
        {shared.isLoading && <Loading what="the stream" rows={3} />}
        {!shared.isLoading && !shared.error && shared.body === null && (
          <p>There is no stream {stream}. Create it, or give the rule its own stream.</p>
        )}
        {from !== undefined && <p>This stream reads {from.integration}, so nobody sends events to it.</p>}
        {shared.body !== null && from === undefined && (
          <SecurityChoice
            workspace={workspace}
            security={shared.body.security ?? {}}
            faults={shared.faultsAt('security')}
            isDraft={shared.hasDraft}
            onChange={(security) => {
              shared.change((before) => ({ ...before, security }));
              void shared.saveNow();
            }}
          />
        )}
      </Card>
      {shared.body !== null && from === undefined && (
        <Samples
          workspace={workspace}
          title={`${name}.${first}`}
          saving={savings.every((one) => one === null) ? null : savings.join(' ')}
        />
      )}
    </>
  );
}

function Samples({
  workspace,
  title,
  saving,
}: {
  readonly workspace: string;
  readonly title: string;
  readonly saving: string | null;
}): ReactNode {
  const { data, error, refetch } = useQuery(sampleQuery(workspace, title, saving));
  return (
    <Card title={`Code for ${title}`}>
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading what="the code" rows={4} />}
      {data && (
        <>
          <Code text={data.url} what="the URL" />
          <Part loading={<Loading what="the code" rows={3} />}>
            <CodeSamples sample={data} />
          </Part>
        </>
      )}
    </Card>
  );
}
