import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useMemo, type ReactNode } from 'react';
import { api, bodyOf, type Schemas } from '../../api/client.ts';
import { useWho } from '../../api/me.ts';
import { usePages } from '../../api/page-list.ts';
import { Empty, Loading, Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { useMaySee } from '../../ui/if-allowed.tsx';
import { ListScreen, type Columns } from '../../ui/list-screen.tsx';
import { lazyPart } from '../../ui/part.tsx';
import { Sentence } from '../../ui/sentence.tsx';
import { Panel } from '../../ui/split.tsx';
import { humane } from '../../ui/state-words.ts';
import { Facts, Id } from '../../ui/text.tsx';
import { Time } from '../../ui/time.tsx';
import { RECEIPTS } from './queries.ts';
import { Queues } from './queues.tsx';
import { ReceiptActions } from './receipt-decisions.tsx';

const ChosenReceipts = lazyPart(() => import('./receipt-decisions.tsx').then(({ ChosenReceipts: loaded }) => loaded));

type Receipt = Schemas['ParkedReceipt'];
const FROM = '/workspaces/$w/deliveries/receipts';

const SHOWN = [
  { id: 'true', name: 'Not dismissed' },
  { id: 'false', name: 'Dismissed' },
  { id: 'any', name: 'All of them' },
] as const;
type Shown = (typeof SHOWN)[number]['id'];

const keyOf = ({ id }: Receipt): string => id;
/** Returns a receipt's verdict or request as text. */
const saidWords = ({ verdict, wish }: Receipt): string =>
  wish !== null ? wish.toUpperCase() : verdict !== null ? humane(verdict) : 'Not readable';
const COLUMNS: Columns<Receipt> = {
  what: saidWords,
  who: ({ address, detail, delivery_id: delivery, reason }) => address ?? detail ?? delivery ?? reason,
  about: ({ source, account, reason }) => [source, account, reason].filter((word) => word !== null).join(' · '),
  time: ({ parked_at: at }) => <Time at={at} ago />,
};

/** The list of unmatched receipts. Matched ones are part of a delivery's details. */
export function Receipts(): ReactNode {
  const { w } = useParams({ from: FROM });
  const { open, parked } = useSearch({ from: FROM });
  const navigate = useNavigate({ from: FROM });
  const maySee = useMaySee();
  const shown: Shown = SHOWN.find(({ id }) => id === parked)?.id ?? 'true';
  const load = useMemo(
    () => (cursor: string | null, signal: AbortSignal) =>
      bodyOf(
        api.GET(RECEIPTS, {
          params: {
            path: { workspace: w },
            query: { limit: 50, ...(shown !== 'any' && { parked: shown }), ...(cursor !== null && { cursor }) },
          },
          signal,
        }),
      ),
    [w, shown],
  );
  const list = usePages([RECEIPTS, w, 'list', shown], maySee ? load : null);
  const filter = shown === 'true' ? {} : { parked: shown };
  return (
    <ListScreen
      title="Receipts"
      lead="Provider reports that match no delivery. A report that matches is in the story of its delivery."
      tabs={<Queues workspace={w} />}
      what="receipts"
      list={list}
      keyOf={keyOf}
      columns={COLUMNS}
      filters={[
        {
          menu: 'Shown',
          options: SHOWN,
          value: shown,
          onChoose: (id) => void navigate({ search: id === 'true' ? {} : { parked: id }, replace: true }),
        },
      ]}
      selection={{ scope: `${w} ${shown}`, bar: ChosenReceipts }}
      open={open ?? null}
      onOpen={(id) => void navigate({ search: { ...filter, open: id }, replace: true })}
      onClose={() => void navigate({ search: filter, replace: true })}
      panelLabel="Receipt"
      renderPanel={({ key: id, onClose }) => <Opened key={id} workspace={w} id={id} onClose={onClose} />}
      renderEmpty={() =>
        shown === 'true' ? (
          <Empty title="No open receipts">
            {' '}
            Carillon adds each report of a provider to its delivery. A report that matches none, or cannot be read,
            waits here until somebody looks at it.
          </Empty>
        ) : (
          <Empty
            title="No receipt matches"
            action={<Button onPress={() => void navigate({ search: {}, replace: true })}>Show open receipts</Button>}
          >
            {shown === 'false' ? 'No receipt was dismissed yet.' : 'Every receipt matched a delivery so far.'}
          </Empty>
        )
      }
    />
  );
}

function Opened({
  workspace,
  id,
  onClose,
}: {
  readonly workspace: string;
  readonly id: string;
  readonly onClose: () => void;
}): ReactNode {
  const { data, error, refetch } = useQuery({
    queryKey: [RECEIPTS, workspace, 'one', id],
    queryFn: ({ signal }) =>
      bodyOf(api.GET('/v1/workspaces/{workspace}/receipts/{id}', { params: { path: { workspace, id } }, signal })),
  });
  return (
    <Panel id={id} title={data ? `${saidWords(data)}: no matching delivery` : 'Receipt'} onClose={onClose}>
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading what="the receipt" rows={4} />}
      {data && <Told receipt={data} workspace={workspace} />}
    </Panel>
  );
}

function Told({ receipt, workspace: asked }: { readonly receipt: Receipt; readonly workspace: string }): ReactNode {
  const { workspace, reason, delivery_id: delivery, received_at: received } = receipt;
  const who = useWho(receipt.dismissed_by);
  return (
    <>
      <p>
        <Sentence text={reason} />
      </p>
      <Facts
        facts={[
          ['From', receipt.address],
          ['Text of the provider', receipt.detail],
          ['Code', receipt.code],
          ['Provider', receipt.source],
          ['Account', receipt.account],
          [
            'Delivery',
            delivery === null ? null : workspace === null ? (
              <Id key="delivery">{delivery}</Id>
            ) : (
              <Link key="delivery" to="/workspaces/$w/deliveries" params={{ w: workspace }} search={{ open: delivery }}>
                <Id>{delivery}</Id>
              </Link>
            ),
          ],
          ['Attempt', receipt.attempt],
          ['Received', received === null ? null : <Time key="received" at={received} />],
          ['Parked', <Time key="parked" at={receipt.parked_at} />],
          ['Workspace', workspace ?? 'none: it belongs to the deployment'],
          ['Record', <Id key="position">{receipt.position}</Id>],
          [
            'Dismissed',
            receipt.dismissed_at === null ? null : (
              <span key="dismissed">
                <Time at={receipt.dismissed_at} /> by {who(receipt.dismissed_by)}
              </span>
            ),
          ],
        ]}
      />
      <ReceiptActions receipt={receipt} workspace={asked} />
    </>
  );
}
