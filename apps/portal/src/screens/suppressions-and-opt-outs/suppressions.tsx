import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useMemo, type ReactNode } from 'react';
import { useMay } from '../../api/me.ts';
import { usePages } from '../../api/page-list.ts';
import { EVERY_WORKSPACE } from '../../frame/last-workspace.ts';
import { Empty, Loading } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { useMaySee } from '../../ui/if-allowed.tsx';
import { ListScreen, type Columns, type ListAction } from '../../ui/list-screen.tsx';
import { lazyPart, Part } from '../../ui/part.tsx';
import { Time } from '../../ui/time.tsx';
import { importSuppressions, loadSuppressions, SUPPRESSIONS } from './calls.ts';
import { CHANNEL_OPTIONS, sourceName, SOURCES, type Suppression } from './entry-text.ts';

const FROM = '/workspaces/$w/suppressions';
const ANY = 'any';

const AddSuppression = lazyPart(() => import('./add-suppression.tsx').then(({ AddSuppression: loaded }) => loaded));
const ChosenSuppressions = lazyPart(() =>
  import('./remove-suppressions.tsx').then(({ ChosenSuppressions: loaded }) => loaded),
);
const AllSuppressions = lazyPart(() =>
  import('./remove-suppressions.tsx').then(({ AllSuppressions: loaded }) => loaded),
);
const SuppressionPanel = lazyPart(() =>
  import('./suppression-panel.tsx').then(({ SuppressionPanel: loaded }) => loaded),
);
const ImportFile = lazyPart(() => import('./import-file.tsx').then(({ ImportFile: loaded }) => loaded));

const keyOf = ({ workspace, channel, address, source }: Suppression): string =>
  [workspace, channel, source, address].join(' ');

const COLUMNS: Columns<Suppression> = {
  what: ({ source }) => sourceName(source),
  who: ({ address }) => address,
  about: ({ channel, detail }) => [channel, detail].filter((word) => word !== '').join(' · '),
  time: ({ at }) => <Time at={at} ago />,
};
const CHANNELS = [{ id: ANY, name: 'Any channel' }, ...CHANNEL_OPTIONS];
const SOURCE_OPTIONS = [{ id: ANY, name: 'Any source' }, ...SOURCES.map((id) => ({ id, name: sourceName(id) }))];

/** Addresses that nothing is sent to, each with who says so, and the way back. */
export function Suppressions(): ReactNode {
  const { w } = useParams({ from: FROM });
  const { open, address, channel, source } = useSearch({ from: FROM });
  const navigate = useNavigate({ from: FROM });
  const maySee = useMaySee();
  const off = useMay('operate', w);
  const filter = useMemo(
    () => ({
      ...(address !== undefined && { address }),
      ...(channel !== undefined && { channel }),
      ...(source !== undefined && { source }),
    }),
    [address, channel, source],
  );
  const key = JSON.stringify(filter);
  const load = useMemo(() => loadSuppressions(w, filter), [w, filter]);
  const list = usePages([SUPPRESSIONS, w, key], maySee ? load : null);
  const change = (next: Readonly<Record<string, string | undefined>>): void => {
    const all = Object.entries({ ...filter, ...next }).filter(([, word]) => word !== undefined && word !== '');
    void navigate({ search: Object.fromEntries(all), replace: true });
  };
  const clear = (): void => void navigate({ search: {}, replace: true });
  const isFiltered = Object.keys(filter).length > 0;
  const isOne = w !== EVERY_WORKSPACE;
  const headActions: readonly ListAction[] = [
    { name: 'Export as CSV', href: `/v1/workspaces/${encodeURIComponent(w)}/suppressions/export` },
    {
      name: 'Import…',
      off,
      renderDialog: (close) => (
        <ImportFile
          title="Import suppressions"
          note="The first row names the columns: address, channel and optionally detail. Importing the same file again changes nothing."
          workspace={w}
          call={{ method: 'POST', path: `/v1/workspaces/${w}/suppressions/import` }}
          queryKey={[SUPPRESSIONS]}
          send={importSuppressions}
          command={`npx carillon suppressions import file.csv --workspace ${w}`}
          onClose={close}
        />
      ),
    },
    {
      name: 'Add an address',
      kind: 'main',
      off,
      renderDialog: (close) => <AddSuppression workspace={w} onClose={close} />,
    },
  ];
  const choose = (name: 'channel' | 'source') => (id: string) => change({ [name]: id === ANY ? undefined : id });
  return (
    <ListScreen
      title="Suppressions"
      lead="Addresses to which nothing is sent, each with the source of the suppression."
      what="suppressions"
      list={list}
      keyOf={keyOf}
      columns={COLUMNS}
      headActions={isOne ? headActions : []}
      filters={[
        { search: 'Address', value: address ?? '', onFind: (word) => change({ address: word }) },
        { menu: 'Channel', options: CHANNELS, value: channel ?? ANY, onChoose: choose('channel') },
        { menu: 'Source', options: SOURCE_OPTIONS, value: source ?? ANY, onChoose: choose('source') },
      ]}
      actions={[
        isFiltered &&
          isOne &&
          list.items !== undefined &&
          list.items.length > 0 && {
            name: 'Remove all matching addresses…',
            kind: 'quiet',
            off,
            renderDialog: (close) => <AllSuppressions workspace={w} filter={filter} onClose={close} />,
          },
        isFiltered && { name: 'Clear', kind: 'quiet', run: clear },
      ]}
      selection={{ scope: `${w} ${key}`, bar: ChosenSuppressions }}
      open={open ?? null}
      onOpen={(next) => change({ open: next })}
      onClose={() => change({})}
      panelLabel="Suppression"
      renderPanel={({ key: id, item, isListRead, onClose }) => (
        <Part loading={<Loading what="the address" />}>
          <SuppressionPanel key={id} id={id} entry={item} isListRead={isListRead} onClose={onClose} />
        </Part>
      )}
      renderEmpty={(button) =>
        isFiltered ? (
          <Empty title="No address matches this filter" action={<Button onPress={clear}>Clear the filter</Button>}>
            Filter:{' '}
            {Object.entries(filter)
              .map(([name, word]) => `${name} ${word}`)
              .join(', ')}
            . Enter a whole address. Upper and lower case do not matter.
          </Empty>
        ) : (
          <Empty title="No suppressed addresses" action={button('Add an address')}>
            Carillon adds an address when a provider reports that the address does not exist, when a recipient complains
            or replies STOP, and when an app is removed from a device.
          </Empty>
        )
      }
    />
  );
}
