import { ChevronsUpDown } from 'lucide-react';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useCallback, useMemo, useState, type ReactNode } from 'react';
import { useLiveList } from '../../api/live-list.ts';
import { EVERY_WORKSPACE } from '../../frame/last-workspace.ts';
import { Empty, Loading, Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { focusList } from '../../ui/focus-list.ts';
import { Menu } from '../../ui/menu.tsx';
import { LiveRows } from '../../ui/live-rows.tsx';
import { useMedia } from '../../ui/media.ts';
import { PageHead } from '../../ui/page.tsx';
import { lazyPart, Part } from '../../ui/part.tsx';
import { Split } from '../../ui/split.tsx';
import { stateWords } from '../../ui/state-words.ts';
import { useChoice } from '../../ui/use-choice.ts';
import { deliveryRow, deliveryRowOfAll } from './delivery-row.tsx';
import type { BulkAction } from './decisions.ts';
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

const stateName = (state: string | undefined): string => (state === undefined ? 'Any state' : stateWords(state));

const keyOf = ({ id }: Delivery): string => id;

/** What became of messages: a list that keeps itself up to date, and the story of the one that is open. */
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
  const [bulk, setBulk] = useState<BulkAction | null>(null);
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
      tools={
        <>
          {bulk !== null && (
            <Part>
              <Bulk which={{ search, workspace: w }} action={bulk} onClose={() => setBulk(null)} />
            </Part>
          )}
          <SearchField search={search} change={change} />
          <Menu
            label={`State: ${stateName(search.state)}`}
            letter="s"
            trigger={
              <>
                {stateName(search.state)}
                <ChevronsUpDown size={16} aria-hidden />
              </>
            }
            choices={STATE_CHOICES}
            chosen={search.state ?? ANY}
            onChoose={(state) => change(withWord(search, 'state', state === ANY ? '' : state))}
          />
          <Menu
            label={`Channel: ${search.channel ?? 'Any channel'}`}
            trigger={
              <>
                {search.channel ?? 'Any channel'}
                <ChevronsUpDown size={16} aria-hidden />
              </>
            }
            choices={CHANNELS}
            chosen={search.channel ?? ANY}
            onChoose={(channel) => change(withWord(search, 'channel', channel === ANY ? '' : channel))}
          />
          {w !== EVERY_WORKSPACE && (
            <Menu
              label="All that match"
              trigger={
                <>
                  All that match
                  <ChevronsUpDown size={16} aria-hidden />
                </>
              }
              choices={BULK}
              onChoose={(id) => setBulk(id === 'cancel' ? 'cancel' : 'resend')}
            />
          )}
          {isFiltered && (
            <Button kind="quiet" onPress={() => change(search.open === undefined ? {} : { open: search.open })}>
              Clear
            </Button>
          )}
        </>
      }
      empty={
        isFiltered ? (
          <Empty
            title="No delivery fits this filter"
            action={
              <>
                <Button onPress={() => change({})}>Clear the filter</Button>
                <AskWhy workspace={w} search={search} />
              </>
            }
          >
            Looked for:{' '}
            {Object.entries(filter)
              .map(([name, value]) => `${name} ${value}`)
              .join(', ')}
            .
          </Empty>
        ) : (
          <Empty title="No deliveries yet">
            Every message that a rule decides on stands here, with what became of it. If you miss one, find its event by
            its id: the story says which rules saw it and why they did not fire.
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

export type DeliveryScreenProps = {
  readonly title: string;
  readonly lead?: ReactNode;
  readonly workspace: string;
  readonly search: DeliverySearch;
  readonly change: (next: DeliverySearch, replace?: boolean) => void;
  readonly tools?: ReactNode;
  /** Between the tabs and the list. */
  readonly above?: ReactNode;
  readonly empty: ReactNode;
};

/** A list of deliveries with the one that is open beside it. */
export function DeliveryScreen({
  title,
  lead,
  workspace,
  search,
  change,
  tools,
  above,
  empty,
}: DeliveryScreenProps): ReactNode {
  const key = JSON.stringify(filterOf(search));
  const load = useMemo(() => loadDeliveries(workspace, JSON.parse(key) as DeliverySearch), [workspace, key]);
  const followed = { workspace, topic: 'deliveries' } as const;
  const list = useLiveList(DELIVERIES, `${workspace} ${key}`, load, keyOf, followed);
  const { items, error, retry } = list;
  const choice = useChoice(items, keyOf, `${workspace} ${key}`);
  const isPhone = useMedia('(max-width: 640px)');
  const isCoarse = useMedia('(pointer: coarse)');
  const open = search.open ?? null;
  const show = useCallback(
    (id: string) => change({ ...search, open: id }, search.open !== undefined),
    [change, search],
  );
  const close = (): void => {
    const { open: _closed, ...rest } = search;
    change(rest);
    focusList();
  };
  return (
    <>
      <PageHead title={title} {...(lead !== undefined && { lead })} />
      <Queues workspace={workspace} />
      <Split
        panelLabel="Story"
        panel={
          open === null ? null : (
            <Part loading={<Loading what="the delivery" />}>
              <DeliveryPanel
                key={open}
                workspace={workspace}
                id={open}
                row={items?.find(({ id }) => id === open)}
                isListRead={items !== undefined}
                isChoosing={choice.rows.length > 0}
                onClose={close}
              />
            </Part>
          )
        }
        list={
          <>
            {above}
            {tools !== undefined && tools !== false && <div className={cls(styles.tools)}>{tools}</div>}
            {error && <Problem error={error} onRetry={retry} />}
            {!items && !error && <Loading what="deliveries" />}
            {items?.length === 0 && empty}
            {items !== undefined && items.length > 0 && (
              <LiveRows
                list={list}
                label={title}
                items={items}
                keyOf={keyOf}
                row={workspace === EVERY_WORKSPACE ? deliveryRowOfAll : deliveryRow}
                rowHeight={isPhone ? 64 : isCoarse ? 52 : 40}
                chosen={open}
                onOpen={show}
                choice={choice}
              />
            )}
            {choice.isBegun && (
              <Part>
                <ChosenDeliveries chosen={choice.rows} onClear={choice.clear} />
              </Part>
            )}
          </>
        }
      />
    </>
  );
}
