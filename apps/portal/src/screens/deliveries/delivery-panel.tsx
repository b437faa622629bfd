import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { isAway } from '../../api/client.ts';
import { useOnChange } from '../../api/live.ts';
import { useMay, useWho } from '../../api/me.ts';
import { queryClient } from '../../api/query-client.ts';
import { Loading, Problem } from '../../ui/answers.tsx';
import { cls } from '../../ui/class-names.ts';
import { Panel } from '../../ui/split.tsx';
import { State } from '../../ui/state.tsx';
import { Facts, Id } from '../../ui/text.tsx';
import { Time } from '../../ui/time.tsx';
import { CameIn, WentOut } from './contents.tsx';
import { DeliveryActions } from './delivery-actions.tsx';
import { Journey } from './journey.tsx';
import {
  DELIVERIES,
  deliveryQuery,
  deliveryTraceQuery,
  eventTraceQuery,
  TOLD_EVERY,
  type Delivery,
  type Trace,
} from './queries.ts';
import { whyText } from './why-text.ts';
import { IdLink, Story } from './story.tsx';
import styles from './story.module.css';

/** In milliseconds: what is open follows its delivery this soon. */
const TOLD_AFTER = 500;
const DOUBT =
  'The provider did not answer, so this message may have arrived. Look into the provider’s log first: sending it again may deliver it twice.';

export type DeliveryPanelProps = {
  readonly workspace: string;
  readonly id: string;
  /** The row of the list; undefined: it is not in the list, or not yet. */
  readonly row: Delivery | undefined;
  /** Whether the list was read: then a row that is not in it is not there. */
  readonly isListRead: boolean;
  /** Rows of the list are chosen: a letter of the keyboard is about those. */
  readonly isChoosing: boolean;
  readonly onClose: () => void;
};

/** One delivery. A duplicate has no document of its own: its row says who holds the slot, its event says what happened. */
export function DeliveryPanel({ workspace, id, row, isListRead, isChoosing, onClose }: DeliveryPanelProps): ReactNode {
  const isDuplicate = row !== undefined && row.duplicate_of !== null;
  const hasDocument = id.startsWith('dlv_') && !isDuplicate;
  const live = useOnChange(
    workspace,
    'deliveries',
    TOLD_AFTER,
    () =>
      Promise.all(
        ['one', 'trace'].map((part) => queryClient.invalidateQueries({ queryKey: [DELIVERIES, workspace, part, id] })),
      ),
    (changed) => (changed as Delivery).id === id,
  );
  const often = { enabled: hasDocument, ...(live === 'live' && { refetchInterval: TOLD_EVERY }) };
  const document = useQuery({ ...deliveryQuery(workspace, id), ...often });
  const ownTrace = useQuery({ ...deliveryTraceQuery(workspace, id), ...often });
  const eventTrace = useQuery({
    ...eventTraceQuery(workspace, row?.event_id ?? ''),
    enabled: isDuplicate && row.event_id !== null,
  });
  const delivery = hasDocument ? (document.data ?? row) : row;
  const trace = hasDocument ? ownTrace : eventTrace;
  const failed = document.error ?? trace.error;
  const error = delivery && isAway(failed) ? null : failed;
  const title = delivery ? (
    <>
      {delivery.notification} to <bdi>{delivery.to ?? 'nobody: no address'}</bdi>
      <State state={delivery.state} words={delivery.state_words} />
    </>
  ) : (
    <Id>{id}</Id>
  );
  const isMissing = !hasDocument && delivery === undefined && isListRead;
  return (
    <Panel id={id} title={title} onClose={onClose}>
      {error && <Problem error={error} onRetry={() => void trace.refetch()} />}
      {isMissing && <p>This row is no longer in the list. Search for the event or the delivery by id.</p>}
      {delivery && <Told delivery={delivery} trace={trace.data} isChoosing={isChoosing} />}
      {!delivery && !error && !isMissing && <Loading what="the delivery" />}
    </Panel>
  );
}

/** The way to what held it back, where that stands on a screen of its own. */
function Evidence({ delivery }: { readonly delivery: Delivery }): ReactNode {
  const { id, workspace, channel, to, reason, state, event_id: event } = delivery;
  const isOptedOut = state === 'SUPPRESSED' && reason === 'opted_out';
  // A delivery has its address; whom that belongs to its event says.
  const { data: found } = useQuery({
    ...eventTraceQuery(workspace, event ?? '', to ?? undefined),
    enabled: isOptedOut && event !== null && to !== null,
    refetchInterval: false,
  });
  if (state !== 'SUPPRESSED') return null;
  if (reason === 'suppressed_address' && to !== null) {
    return (
      <p>
        <Link to="/workspaces/$w/suppressions" params={{ w: workspace }} search={{ address: to, channel }}>
          Why this address is suppressed
        </Link>
      </p>
    );
  }
  if (isOptedOut) {
    const name = found?.people?.items.find((one) => one.delivery === id)?.person ?? to;
    return (
      <p>
        <Link to="/workspaces/$w/opt-outs" params={{ w: workspace }} search={name === null ? {} : { person: name }}>
          Opt-outs of this person
        </Link>
      </p>
    );
  }
  return null;
}

const ARRIVED = new Set(['SENT', 'DELIVERED', 'DIGESTED']);

/** Link to the gates between event and recipient. Hidden if the address is masked. */
function Gates({ delivery }: { readonly delivery: Delivery }): ReactNode {
  const { workspace, state, to, notification, rule, event_id: event, duplicate_of: holder } = delivery;
  const unseen = useMay('bodies', workspace);
  if ((ARRIVED.has(state) && holder === null) || to === null || event === null || unseen !== null) return null;
  return (
    <p>
      <Link
        to="/workspaces/$w/why"
        params={{ w: workspace }}
        search={{ who: to, notification: rule ?? notification, event }}
      >
        Why not? Show each check
      </Link>
    </p>
  );
}

/** Who sent a missing message, with a link to the comparison. */
const Sender = ({
  workspace,
  sentBy: { person, job, run },
}: {
  readonly workspace: string;
  readonly sentBy: NonNullable<Delivery['sent_by']>;
}): ReactNode => (
  <>
    {person} in {job} of{' '}
    <Link to="/workspaces/$w/runs/$id" params={{ w: workspace, id: run }}>
      {run}
    </Link>
  </>
);

function Told({
  delivery,
  trace,
  isChoosing,
}: {
  readonly delivery: Delivery;
  readonly trace: Trace | undefined;
  readonly isChoosing: boolean;
}): ReactNode {
  const isDuplicate = delivery.duplicate_of !== null;
  const { workspace } = delivery;
  const who = useWho(delivery.test_by);
  const event = trace?.steps.find(({ step }) => step === 'event');
  return (
    <>
      {isDuplicate && (
        <p className={cls(styles.note)}>
          Not sent: the delivery named below has the same unique_id, so this person was already notified.
        </p>
      )}
      <Evidence delivery={delivery} />
      <Gates delivery={delivery} />
      {delivery.state === 'IN_DOUBT' && <p className={cls(styles.lead)}>{DOUBT}</p>}
      {!isDuplicate && (
        <DeliveryActions key={`${delivery.id} ${delivery.state}`} delivery={delivery} isChoosing={isChoosing} />
      )}
      {!isDuplicate && trace && (
        <>
          <h3>Journey</h3>
          <Journey delivery={delivery} trace={trace} />
        </>
      )}
      <Facts
        facts={[
          ['Workspace', workspace],
          ['Why', isDuplicate ? null : whyText(delivery)],
          [
            isDuplicate ? 'Notified by' : 'Delivery',
            <IdLink key="id" id={delivery.duplicate_of ?? delivery.id} workspace={workspace} shown={delivery.id} />,
          ],
          ['Sent by', delivery.sent_by && <Sender key="sender" workspace={workspace} sentBy={delivery.sent_by} />],
          ['Test', delivery.test ? `requested by ${who(delivery.test_by)}; no limit or number counts it` : null],
          [
            'Event',
            delivery.event_id === null ? null : <IdLink key="event" id={delivery.event_id} workspace={workspace} />,
          ],
          [
            'Rule',
            delivery.rule === null
              ? null
              : `${delivery.rule} version ${delivery.rule_version}, configuration ${delivery.config_number}`,
          ],
          ['unique_id', <Id key="unique">{delivery.unique_id}</Id>],
          ['Next attempt', delivery.next_at === null ? null : <Time key="next" at={delivery.next_at} />],
          ['Duplicates', delivery.duplicates > 0 ? `${delivery.duplicates}, not sent` : null],
        ]}
      />
      <h3>{isDuplicate ? 'Story of the event' : 'Story'}</h3>
      {trace ? <Story trace={trace} workspace={workspace} /> : <Loading what="the story" rows={4} />}
      {event?.id && <CameIn workspace={workspace} id={event.id} position={event.position} />}
      {!isDuplicate && <WentOut workspace={workspace} id={delivery.id} />}
    </>
  );
}
