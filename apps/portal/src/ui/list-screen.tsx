import { ChevronsUpDown } from 'lucide-react';
import { useMemo, useState, type ComponentType, type ReactNode } from 'react';
import type { LiveList } from '../api/live-list.ts';
import type { PageList } from '../api/page-list.ts';
import { Loading, Problem } from './answers.tsx';
import { Button, type ButtonKind } from './button.tsx';
import { cls } from './class-names.ts';
import { focusList } from './focus-list.ts';
import { IfAllowed, useUnseen } from './if-allowed.tsx';
import styles from './list-screen.module.css';
import { List } from './list.tsx';
import { LiveRows } from './live-rows.tsx';
import { useMedia } from './media.ts';
import { Menu } from './menu.tsx';
import { Actions, PageHead } from './page.tsx';
import { Part } from './part.tsx';
import type { PopupItem } from './popup.tsx';
import { RowCells } from './row-cells.tsx';
import { Search } from './search.tsx';
import { Split } from './split.tsx';
import { useChoice } from './use-choice.ts';

/** The cells of a row, each read from its item. */
export type Columns<Item> = {
  readonly what: (item: Item) => ReactNode;
  readonly who: (item: Item) => ReactNode;
  readonly about: (item: Item) => ReactNode;
  readonly time: (item: Item) => ReactNode;
};

export type ListFilter =
  /** A field of the screen's own. */
  | { readonly key: string; readonly field: ReactNode }
  | { readonly search: string; readonly value: string; readonly onFind: (word: string) => void }
  | {
      readonly menu: string;
      readonly options: readonly PopupItem[];
      /** The id of one of the options, or a word of the address that is none of them. */
      readonly value: string;
      readonly onChoose: (id: string) => void;
      /** A key that opens it. */
      readonly letter?: string;
    };

export type ListAction = {
  readonly name: string;
  readonly kind?: ButtonKind;
  /** Why it does nothing, as `useMay` says it. */
  readonly off?: string | null;
} & (
  | { readonly run: () => void }
  /** A file to download. */
  | { readonly href: string }
  /** What the button opens; `id` is the option that was chosen of its menu. */
  | {
      readonly options?: readonly PopupItem[];
      readonly renderDialog: (close: () => void, id: string) => ReactNode;
    }
);

export type Opened<Item> = {
  readonly key: string;
  /** Undefined if the list does not have it. */
  readonly item: Item | undefined;
  readonly isListRead: boolean;
  /** Rows are chosen, so that a key of the keyboard is about those. */
  readonly isChoosing: boolean;
  readonly onClose: () => void;
};

export type ListScreenProps<Item> = {
  readonly title: string;
  readonly lead?: ReactNode;
  /** Links to neighbouring lists, below the head. */
  readonly tabs?: ReactNode;
  /** Between the tabs and the filters. */
  readonly above?: ReactNode;
  /** The rows in a word, for *Loading …*. */
  readonly what: string;
  readonly label?: string;
  readonly list: LiveList<Item> | PageList<Item>;
  /** A function of the module, as are `columns` and `row`: a new one would draw all rows anew. */
  readonly keyOf: (item: Item) => string;
  readonly columns: Columns<Item> | { readonly row: (item: Item) => ReactNode; readonly rowHeight: number };
  readonly filters?: readonly (ListFilter | false)[];
  /** Beside the title. */
  readonly headActions?: readonly ListAction[];
  /** Beside the filters. */
  readonly actions?: readonly (ListAction | false)[];
  /** Rows can be chosen until `scope` changes; the bar below the list has what can be done with them. */
  readonly selection?: {
    readonly scope: string;
    readonly bar: ComponentType<{ readonly chosen: readonly Item[]; readonly onClear: () => void }>;
  };
  readonly open: string | null;
  readonly onOpen: (key: string) => void;
  readonly onClose?: () => void;
  readonly panelLabel: string;
  readonly renderPanel?: (opened: Opened<Item>) => ReactNode;
  /** In place of the rows if there are none; `button` draws the button of a head action. */
  readonly renderEmpty: (button: (name: string) => ReactNode) => ReactNode;
};

/** A list with its filters, what can be done with its rows, and the row that is open beside it. */
export function ListScreen<Item>(props: ListScreenProps<Item>): ReactNode {
  const { title, lead, tabs, headActions = [] } = props;
  const unseen = useUnseen();
  const [asked, setAsked] = useState<ReactNode>(null);
  const ask = (dialog: (close: () => void) => ReactNode): void => setAsked(dialog(() => setAsked(null)));
  const shown = unseen.reason === null ? headActions : [];
  const content = <ListContent {...props} ask={ask} />;
  return (
    <>
      <PageHead title={title} {...(lead !== undefined && { lead })}>
        {shown.length > 0 && (
          <Actions>
            {shown.map((action) => (
              <ActionButton key={action.name} action={action} ask={ask} />
            ))}
          </Actions>
        )}
      </PageHead>
      {tabs}
      {asked !== null && <Part>{asked}</Part>}
      {unseen.what === '' ? content : <IfAllowed {...unseen}>{content}</IfAllowed>}
    </>
  );
}

type Ask = (dialog: (close: () => void) => ReactNode) => void;

function ActionButton({ action, ask }: { readonly action: ListAction; readonly ask: Ask }): ReactNode {
  if ('href' in action) {
    return (
      <a href={action.href} download>
        {action.name}
      </a>
    );
  }
  if ('renderDialog' in action && action.options !== undefined) {
    return (
      <Menu
        label={action.name}
        trigger={<MenuLabel name={action.name} />}
        choices={action.options}
        onChoose={(id) => ask((close) => action.renderDialog(close, id))}
      />
    );
  }
  return (
    <Button
      kind={action.kind ?? 'plain'}
      off={action.off ?? null}
      onPress={() => ('run' in action ? action.run() : ask((close) => action.renderDialog(close, '')))}
    >
      {action.name}
    </Button>
  );
}

const MenuLabel = ({ name }: { readonly name: string }): ReactNode => (
  <>
    {name}
    <ChevronsUpDown size={16} aria-hidden />
  </>
);

function FilterField({ filter }: { readonly filter: ListFilter }): ReactNode {
  if ('field' in filter) return filter.field;
  if ('search' in filter) return <Search label={filter.search} found={filter.value} onFind={filter.onFind} />;
  const { menu, options, value, onChoose, letter } = filter;
  const name = options.find(({ id }) => id === value)?.name ?? value;
  return (
    <Menu
      label={`${menu}: ${name}`}
      trigger={<MenuLabel name={name} />}
      choices={options}
      chosen={value}
      onChoose={onChoose}
      {...(letter !== undefined && { letter })}
    />
  );
}

function ListContent<Item>({
  title,
  above,
  what,
  label = title,
  list,
  keyOf,
  columns,
  filters = [],
  headActions = [],
  actions = [],
  selection,
  open,
  onOpen,
  onClose,
  panelLabel,
  renderPanel,
  renderEmpty,
  ask,
}: ListScreenProps<Item> & { readonly ask: Ask }): ReactNode {
  const { items, error, retry } = list;
  const Bar = selection?.bar;
  const choice = useChoice(items, keyOf, selection?.scope ?? '');
  const isPhone = useMedia('(max-width: 640px)');
  const isCoarse = useMedia('(pointer: coarse)');
  const row = useMemo(() => ('row' in columns ? columns.row : rowOf(columns)), [columns]);
  const tools = [...filters, ...actions].filter((one) => one !== false);
  const rows = {
    label,
    items: items ?? [],
    keyOf,
    row,
    rowHeight: 'rowHeight' in columns ? columns.rowHeight : isPhone ? 64 : isCoarse ? 52 : 40,
    chosen: open,
    onOpen,
    choice: selection && choice,
  };
  const opened = {
    isListRead: items !== undefined,
    isChoosing: choice.rows.length > 0,
    onClose() {
      onClose?.();
      focusList();
    },
  };
  return (
    <Split
      panelLabel={panelLabel}
      panel={
        open === null || renderPanel === undefined
          ? null
          : renderPanel({ ...opened, key: open, item: items?.find((item) => keyOf(item) === open) })
      }
      list={
        <>
          {above}
          {tools.length > 0 && (
            <div className={cls(styles.tools)}>
              {tools.map((tool) =>
                'name' in tool ? (
                  <ActionButton key={tool.name} action={tool} ask={ask} />
                ) : (
                  <FilterField
                    key={'key' in tool ? tool.key : 'search' in tool ? tool.search : tool.menu}
                    filter={tool}
                  />
                ),
              )}
            </div>
          )}
          {error && <Problem error={error} onRetry={retry} />}
          {!items && !error && <Loading what={what} />}
          {items?.length === 0 &&
            renderEmpty((name) => {
              const action = headActions.find((one) => one.name === name);
              return action && <ActionButton action={action} ask={ask} />;
            })}
          {items !== undefined &&
            items.length > 0 &&
            ('takeIn' in list ? <LiveRows list={list} {...rows} /> : <List {...rows} onEnd={list.more} />)}
          {choice.isBegun && Bar && (
            <Part>
              <Bar chosen={choice.rows} onClear={choice.clear} />
            </Part>
          )}
        </>
      }
    />
  );
}

const rowOf =
  <Item,>({ what, who, about, time }: Columns<Item>) =>
  (item: Item): ReactNode => <RowCells what={what(item)} who={who(item)} about={about(item)} time={time(item)} />;
