import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useCallback, useMemo, type ReactNode } from 'react';
import { useLiveList } from '../../api/live-list.ts';
import { EVERY_WORKSPACE } from '../../frame/last-workspace.ts';
import { Empty, Loading } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { ListScreen, type ListScreenProps } from '../../ui/list-screen.tsx';
import { lazyPart, Part } from '../../ui/part.tsx';
import { stateWords } from '../../ui/state-words.ts';
import { COLUMNS, COLUMNS_OF_ALL } from './delivery-columns.tsx';
import { filterOf, withWord, type DeliverySearch } from './delivery-search.ts';
import { DELIVERIES, loadDeliveries, type Delivery } from './queries.ts';
import { Queues } from './queues.tsx';
import { SearchField } from './search-field.tsx';
import styles from './deliveries.module.css';

/** Asked for when something is opened: the list is there before. */
const Histogram = lazyPart(() => import('./histogram.tsx').then(({ Histogram: loaded }) => loaded));
const Bulk = lazyPart(() => import('./bulk.tsx').then(({ Bulk: loaded }) => loaded));
const ChosenDeliveries = lazyPart(() =>
  import('./chosen-deliveries.tsx').then(({ ChosenDeliveries: loaded }) => loaded),
);
const DeliveryPanel = lazyPart(() => import('./delivery-panel.tsx').then(({ DeliveryPanel: loaded }) => loaded));

const STATES = [
  'WAITING',
  'COLLECTED',
  'SENDING',
  'IN_DOUBT',
  'FAILED',
  'SUPPRESSED',
  'EXPIRED',
  'CANCELLED',
  'SENT',
  'DELIVERED',
  'BOUNCED',
  'COMPLAINED',
  'DIGESTED',
];
const ANY = 'any';
const STATE_CHOICES = [{ id: ANY, name: 'Any state' }, ...STATES.map((id) => ({ id, name: stateWords(id) }))];

const CHANNELS = [{ id: ANY, name: 'Any channel' }, ...['email', 'sms', 'push'].map((id) => ({ id, name: id }))];
const BULK = [
  { id: 'resend', name: 'Send all again…' },
  { id: 'cancel', name: 'Call all off…' },
];

const keyOf = ({ id }: Delivery): string => id;

/** The live list of deliveries, with the details of the open one. */
export function Deliveries(): ReactNode {
  const { w } = useParams({ from: '/workspaces/$w/deliveries' });
  const search = useSearch({ from: '/workspaces/$w/deliveries' });
  const navigate = useNavigate({ from: '/workspaces/$w/deliveries' });
  const change = useCallback(
    (next: DeliverySearch, replace = true) => void navigate({ search: next, replace }),
    [navigate],
  );
  const filter = filterOf(search);
  const isFiltered = Object.keys(filter).length > 0;
  return (
    <DeliveryScreen
      title="Deliveries"
      workspace={w}
      search={search}
      change={change}
      above={
        w === EVERY_WORKSPACE ? null : (
          <Part loading={<div className={cls(styles.histogram)} />}>
            <Histogram
              workspace={w}
              search={search}
              onRange={(range) => {
                const { from: _from, to: _to, ...rest } = search;
                change({ ...rest, ...range });
              }}
            />
          </Part>
        )
      }
      filters={[
        { key: 'search', field: <SearchField search={search} change={change} /> },
        {
          menu: 'State',
          letter: 's',
          options: STATE_CHOICES,
          value: search.state ?? ANY,
          onChoose: (state) => change(withWord(search, 'state', state === ANY ? '' : state)),
        },
        {
          menu: 'Channel',
          options: CHANNELS,
          value: search.channel ?? ANY,
          onChoose: (channel) => change(withWord(search, 'channel', channel === ANY ? '' : channel)),
        },
      ]}
      actions={[
        w !== EVERY_WORKSPACE && {
          name: 'All that match',
          options: BULK,
          renderDialog: (close, id) => (
            <Bulk which={{ search, workspace: w }} action={id === 'cancel' ? 'cancel' : 'resend'} onClose={close} />
          ),
        },
        isFiltered && {
          name: 'Clear',
          kind: 'quiet',
          run: () => change(search.open === undefined ? {} : { open: search.open }),
        },
      ]}
      empty={
        isFiltered ? (
          <Empty
            title="No delivery matches this filter"
            action={
              <>
                <Button onPress={() => change({})}>Clear the filter</Button>
                <AskWhy workspace={w} search={search} />
              </>
            }
          >
            Filter:{' '}
            {Object.entries(filter)
              .map(([name, value]) => `${name} ${value}`)
              .join(', ')}
            .
          </Empty>
        ) : (
          <Empty title="No deliveries yet">
            Each message of a rule appears here with its state. If a message is missing, find the event by id: the story
            shows which rules evaluated the event and why they did not fire.
          </Empty>
        )
      }
    />
  );
}

/** Whom no delivery is to may have been stopped before there was one. */
function AskWhy({ workspace, search }: { readonly workspace: string; readonly search: DeliverySearch }): ReactNode {
  const { recipient, person, unique_id: uniqueId, notification, from, to } = search;
  const who = recipient ?? person ?? uniqueId;
  if (who === undefined || workspace === EVERY_WORKSPACE) return null;
  return (
    <Link
      to="/workspaces/$w/why"
      params={{ w: workspace }}
      search={{
        who,
        ...(notification !== undefined && { notification }),
        ...(from !== undefined && { from }),
        ...(to !== undefined && { to }),
      }}
    >
      Why not? Look for {who} in the events
    </Link>
  );
}

export type DeliveryScreenProps = Pick<ListScreenProps<Delivery>, 'title' | 'lead' | 'filters' | 'actions'> & {
  readonly workspace: string;
  readonly search: DeliverySearch;
  readonly change: (next: DeliverySearch, replace?: boolean) => void;
  /** Between the tabs and the list. */
  readonly above?: ReactNode;
  readonly empty: ReactNode;
};

/** A list of deliveries with the one that is open beside it. */
export function DeliveryScreen({ workspace, search, change, above, empty, ...rest }: DeliveryScreenProps): ReactNode {
  const key = JSON.stringify(filterOf(search));
  const load = useMemo(() => loadDeliveries(workspace, JSON.parse(key) as DeliverySearch), [workspace, key]);
  const followed = { workspace, topic: 'deliveries' } as const;
  const list = useLiveList(DELIVERIES, `${workspace} ${key}`, load, keyOf, followed);
  const open = search.open ?? null;
  const show = useCallback(
    (id: string) => change({ ...search, open: id }, search.open !== undefined),
    [change, search],
  );
  const close = (): void => {
    const { open: _closed, ...others } = search;
    change(others);
  };
  return (
    <ListScreen
      {...rest}
      tabs={<Queues workspace={workspace} />}
      above={above}
      what="deliveries"
      list={list}
      keyOf={keyOf}
      columns={workspace === EVERY_WORKSPACE ? COLUMNS_OF_ALL : COLUMNS}
      selection={{ scope: `${workspace} ${key}`, bar: ChosenDeliveries }}
      open={open}
      onOpen={show}
      onClose={close}
      panelLabel="Story"
      renderPanel={({ key: id, item, isListRead, isChoosing, onClose }) => (
        <Part loading={<Loading what="the delivery" />}>
          <DeliveryPanel
            key={id}
            workspace={workspace}
            id={id}
            row={item}
            isListRead={isListRead}
            isChoosing={isChoosing}
            onClose={onClose}
          />
        </Part>
      )}
      renderEmpty={() => empty}
    />
  );
}
