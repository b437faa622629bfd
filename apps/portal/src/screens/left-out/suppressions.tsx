import { ChevronsUpDown } from 'lucide-react';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useCallback, useMemo, useState, type ReactNode } from 'react';
import { useIsMeKnown, useMay } from '../../api/me.ts';
import { usePages } from '../../api/page-list.ts';
import { EVERY_WORKSPACE } from '../../frame/last-workspace.ts';
import { Empty, Loading, Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { focusList } from '../../ui/focus-list.ts';
import { IfAllowed, useUnseen } from '../../ui/if-allowed.tsx';
import { List } from '../../ui/list.tsx';
import { useMedia } from '../../ui/media.ts';
import { Menu } from '../../ui/menu.tsx';
import { Actions, PageHead } from '../../ui/page.tsx';
import { Search } from '../../ui/search.tsx';
import { lazyPart, Part } from '../../ui/part.tsx';
import { RowCells } from '../../ui/row-cells.tsx';
import { Split } from '../../ui/split.tsx';
import { Time } from '../../ui/time.tsx';
import { useChoice } from '../../ui/use-choice.ts';
import { importSuppressions, loadSuppressions, SUPPRESSIONS } from './calls.ts';
import { CHANNEL_OPTIONS, sourceName, SOURCES, type Suppression } from './left-out-words.ts';
import styles from './left-out.module.css';

const FROM = '/workspaces/$w/suppressions';
const ANY = 'any';
const ROW_HEIGHTS = { phone: 64, desk: 40 } as const;

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

const row = (one: Suppression): ReactNode => (
  <RowCells
    what={sourceName(one.source)}
    who={one.address}
    about={[one.channel, one.detail].filter((word) => word !== '').join(' · ')}
    time={<Time at={one.at} ago />}
  />
);

/** Addresses that nothing is sent to, each with who says so, and the way back. */
export function Suppressions(): ReactNode {
  const { w } = useParams({ from: FROM });
  const { open, ...filter } = useSearch({ from: FROM });
  const navigate = useNavigate({ from: FROM });
  const isKnown = useIsMeKnown();
  const unseen = useUnseen();
  const off = useMay('operate', w);
  const [asked, setAsked] = useState<'add' | 'import' | 'remove' | null>(null);
  const key = JSON.stringify(filter);
  const load = useMemo(() => loadSuppressions(w, JSON.parse(key) as typeof filter), [w, key]);
  const queryKey = [SUPPRESSIONS, w, key];
  const { items, error, retry, more } = usePages(queryKey, isKnown && unseen.reason === null ? load : null);
  const choice = useChoice(items, keyOf, `${w} ${key}`);
  const isPhone = useMedia('(max-width: 640px)');
  const change = useCallback(
    (next: Readonly<Record<string, string | undefined>>) => {
      const all = Object.entries({ ...filter, ...next }).filter(([, word]) => word !== undefined && word !== '');
      void navigate({ search: Object.fromEntries(all), replace: true });
    },
    [filter, navigate],
  );
  const isFiltered = Object.keys(filter).length > 0;
  const close = (): void => {
    change({});
    focusList();
  };
  const chosen = items?.find((one) => keyOf(one) === open);
  const isOne = w !== EVERY_WORKSPACE;
  const addButton = isOne && (
    <Button kind="main" off={off} onPress={() => setAsked('add')}>
      Add an address
    </Button>
  );
  return (
    <>
      <PageHead title="Suppressions" lead="Addresses that nothing is sent to, each with who says so.">
        {isOne && unseen.reason === null && (
          <Actions>
            <a href={`/v1/workspaces/${encodeURIComponent(w)}/suppressions/export`} download>
              Export as CSV
            </a>
            <Button off={off} onPress={() => setAsked('import')}>
              Import…
            </Button>
            {addButton}
          </Actions>
        )}
      </PageHead>
      {asked === 'add' && (
        <Part>
          <AddSuppression workspace={w} onClose={() => setAsked(null)} />
        </Part>
      )}
      {asked === 'remove' && (
        <Part>
          <AllSuppressions workspace={w} filter={filter} onClose={() => setAsked(null)} />
        </Part>
      )}
      {asked === 'import' && (
        <Part>
          <ImportFile
            title="Import suppressions"
            note="Reads the columns address and channel, and detail where there is one; the first row names them. Taking the same file in again changes nothing."
            workspace={w}
            call={{ method: 'POST', path: `/v1/workspaces/${w}/suppressions/import` }}
            queryKey={[SUPPRESSIONS]}
            send={importSuppressions}
            command={`npx carillon suppressions import file.csv --workspace ${w}`}
            onClose={() => setAsked(null)}
          />
        </Part>
      )}
      <IfAllowed {...unseen}>
        <Split
          panelLabel="Suppression"
          panel={
            open === undefined ? null : (
              <Part loading={<Loading what="the address" />}>
                <SuppressionPanel
                  key={open}
                  id={open}
                  entry={chosen}
                  isListRead={items !== undefined}
                  onClose={close}
                />
              </Part>
            )
          }
          list={
            <>
              <div className={cls(styles.tools)}>
                <Search label="Address" found={filter.address ?? ''} onFind={(address) => change({ address })} />
                <Choice
                  label="Channel"
                  any="Any channel"
                  chosen={filter.channel}
                  choices={CHANNEL_OPTIONS}
                  onChoose={(channel) => change({ channel })}
                />
                <Choice
                  label="Source"
                  any="Any source"
                  chosen={filter.source}
                  choices={SOURCES.map((id) => ({ id, name: sourceName(id) }))}
                  onChoose={(source) => change({ source })}
                />
                {isFiltered && isOne && items !== undefined && items.length > 0 && (
                  <Button kind="quiet" off={off} onPress={() => setAsked('remove')}>
                    Take back all that match…
                  </Button>
                )}
                {isFiltered && (
                  <Button kind="quiet" onPress={() => void navigate({ search: {}, replace: true })}>
                    Clear
                  </Button>
                )}
              </div>
              {error && <Problem error={error} onRetry={retry} />}
              {!items && !error && <Loading what="suppressions" />}
              {items?.length === 0 &&
                (isFiltered ? (
                  <Empty
                    title="No address fits this filter"
                    action={
                      <Button onPress={() => void navigate({ search: {}, replace: true })}>Clear the filter</Button>
                    }
                  >
                    Looked for:{' '}
                    {Object.entries(filter)
                      .map(([name, word]) => `${name} ${word}`)
                      .join(', ')}
                    . An address is found as a whole, whatever its case and form.
                  </Empty>
                ) : (
                  <Empty title="Nobody is left out" action={addButton}>
                    Addresses come here by themselves when a provider says that they do not exist, when somebody
                    complains or writes STOP, and when an app is removed from a device.
                  </Empty>
                ))}
              {items !== undefined && items.length > 0 && (
                <List
                  label="Suppressions"
                  items={items}
                  keyOf={keyOf}
                  row={row}
                  rowHeight={isPhone ? ROW_HEIGHTS.phone : ROW_HEIGHTS.desk}
                  chosen={open ?? null}
                  onOpen={(next) => change({ open: next })}
                  onEnd={more}
                  choice={choice}
                />
              )}
              {choice.isBegun && (
                <Part>
                  <ChosenSuppressions chosen={choice.rows} onClear={choice.clear} />
                </Part>
              )}
            </>
          }
        />
      </IfAllowed>
    </>
  );
}

function Choice({
  label,
  any,
  chosen,
  choices,
  onChoose,
}: {
  readonly label: string;
  readonly any: string;
  readonly chosen: string | undefined;
  readonly choices: readonly { readonly id: string; readonly name: string }[];
  readonly onChoose: (id: string | undefined) => void;
}): ReactNode {
  const shown = choices.find(({ id }) => id === chosen)?.name ?? chosen ?? any;
  return (
    <Menu
      label={`${label}: ${shown}`}
      trigger={
        <>
          {shown}
          <ChevronsUpDown size={16} aria-hidden />
        </>
      }
      choices={[{ id: ANY, name: any }, ...choices]}
      chosen={chosen ?? ANY}
      onChoose={(id) => onChoose(id === ANY ? undefined : id)}
    />
  );
}
