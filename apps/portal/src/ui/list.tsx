import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual';
import {
  memo,
  useCallback,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
  type KeyboardEvent,
  type ReactNode,
} from 'react';
import { cls } from './class-names.ts';
import styles from './list.module.css';
import { hasLetters } from './settings.ts';
import type { RowChoice } from './use-choice.ts';

export type ListProps<Item> = {
  readonly label: string;
  readonly items: readonly Item[];
  readonly keyOf: (item: Item) => string;
  /** What a row shows. The same function at every drawing, or all rows are drawn anew. */
  readonly row: (item: Item) => ReactNode;
  /** In pixels. */
  readonly rowHeight: number;
  readonly chosen: string | null;
  readonly onOpen: (key: string) => void;
  /** Lets rows be chosen; left out: they are only opened. */
  readonly choice?: RowChoice | undefined;
  /** The end is near: more can be asked for. */
  readonly onEnd?: () => void;
  /** Whether the first row is in sight; new rows may come only then. */
  readonly onTop?: (isAtTop: boolean) => void;
};

/** Rows beyond the edges that are drawn, so that a key held down meets drawn rows. */
const OVERSCAN = 8;
/** In pixels: so much may be hidden of the first row. */
const TOP = 4;

/**
 * A list of any length of which only the rows in sight are in the page. Arrows, j and k, Home and End move the focus, Enter opens, x
 * chooses, with Shift up to there; Tab leaves it, so that the way to what was opened is one key.
 */
export function List<Item>({
  label,
  items,
  keyOf,
  row,
  rowHeight,
  chosen,
  onOpen,
  choice,
  onEnd,
  onTop,
}: ListProps<Item>): ReactNode {
  const id = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const [stop, setStop] = useState<string | null>(null);
  /** The row that the focus goes to once it is drawn. */
  const wanted = useRef<string | null>(null);
  // Made once for these items: with a hundred thousand rows this is most of what a pressed key costs.
  const keys = useMemo(() => items.map(keyOf), [items, keyOf]);
  /** One row takes the focus that comes by Tab. */
  const stopKey = [stop, chosen].find((key) => key !== null && keys.includes(key)) ?? keys[0];
  const stopAt = stopKey === undefined ? -1 : keys.indexOf(stopKey);
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    getItemKey: (at) => keyOf(items[at]!),
    overscan: OVERSCAN,
    // Out of sight too: what has the focus stays in the page, and Tab finds a row.
    rangeExtractor(range) {
      const drawn = defaultRangeExtractor(range);
      if (stopAt < 0 || drawn.includes(stopAt)) return drawn;
      return stopAt < range.startIndex ? [stopAt, ...drawn] : [...drawn, stopAt];
    },
  });
  useEffect(() => virtual.measure(), [virtual, rowHeight]);

  const drawn = virtual.getVirtualItems();
  // A row that is drawn for its focus alone says nothing about what is in sight.
  const last = drawn.reduce((most, { index }) => (index === stopAt ? most : Math.max(most, index)), -1);
  useEffect(() => {
    if (last >= 0 && last >= items.length - OVERSCAN) onEnd?.();
  }, [last, items.length, onEnd]);
  useEffect(() => {
    const key = wanted.current;
    if (key === null) return;
    const button = scroller.current?.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`);
    if (!button) return;
    wanted.current = null;
    button.focus({ preventScroll: true });
  });

  const choosing = useRef(choice);
  useEffect(() => {
    choosing.current = choice;
  });
  // The same function at every drawing: a key draws the boxes of two rows anew, and no others.
  const toggle = useCallback((name: string, isRange: boolean) => choosing.current?.toggle(name, isRange), []);

  function move(event: KeyboardEvent): void {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (choice && stopKey !== undefined && event.key.toLowerCase() === 'x' && hasLetters()) {
      event.preventDefault();
      choice.toggle(stopKey, event.shiftKey);
      return;
    }
    const from = stopKey === undefined ? 0 : keys.indexOf(stopKey);
    const to = { ArrowDown: from + 1, j: from + 1, ArrowUp: from - 1, k: from - 1, Home: 0, End: keys.length - 1 }[
      event.key
    ];
    const key = to === undefined ? undefined : keys[to];
    if (to === undefined || key === undefined) return;
    event.preventDefault();
    wanted.current = key;
    setStop(key);
    virtual.scrollToIndex(to, { align: 'auto' });
  }

  return (
    <div
      ref={scroller}
      className={cls(styles.scroller)}
      // A box that scrolls is reached by the keyboard through its rows.
      tabIndex={-1}
      onScroll={(event) => onTop?.(event.currentTarget.scrollTop <= TOP)}
    >
      <ol aria-label={label} className={cls(styles.rows)} style={{ height: virtual.getTotalSize() }} onKeyDown={move}>
        {drawn.map(({ key, index, start, size }) => {
          const item = items[index];
          const name = keys[index];
          if (item === undefined || name === undefined) return null;
          return (
            <li
              key={key}
              className={cls(styles.row)}
              style={{ height: size, transform: `translateY(${start}px)` }}
              data-chosen={choice?.has(name) === true ? '' : undefined}
              aria-setsize={items.length}
              aria-posinset={index + 1}
            >
              {choice && (
                <ChoiceBox
                  name={name}
                  labelledBy={`${id}-${index}`}
                  isChosen={choice.has(name)}
                  isStop={name === stopKey}
                  onFocus={setStop}
                  onToggle={toggle}
                />
              )}
              <button
                type="button"
                id={`${id}-${index}`}
                data-key={name}
                className={cls(styles.button)}
                aria-current={name === chosen ? 'true' : undefined}
                tabIndex={name === stopKey ? 0 : -1}
                onFocus={() => setStop(name)}
                onClick={() => onOpen(name)}
              >
                <Cells item={item} row={row as (item: unknown) => ReactNode} />
              </button>
            </li>
          );
        })}
      </ol>
    </div>
  );
}

type ChoiceBoxProps = {
  readonly name: string;
  /** The id of what says which row it is. */
  readonly labelledBy: string;
  readonly isChosen: boolean;
  readonly isStop: boolean;
  readonly onFocus: (name: string) => void;
  readonly onToggle: (name: string, isRange: boolean) => void;
};

/** The box of a row that can be chosen; of all of them the one beside the row that takes the focus is reached by Tab. */
const ChoiceBox = memo(({ name, labelledBy, isChosen, isStop, onFocus, onToggle }: ChoiceBoxProps) => {
  const id = useId();
  const isRange = useRef(false);
  return (
    <label className={cls(styles.box)} onPointerDown={({ shiftKey }) => (isRange.current = shiftKey)}>
      <input
        type="checkbox"
        id={id}
        aria-label="Choose"
        aria-labelledby={`${id} ${labelledBy}`}
        checked={isChosen}
        tabIndex={isStop ? 0 : -1}
        onFocus={() => onFocus(name)}
        onChange={() => {
          onToggle(name, isRange.current);
          isRange.current = false;
        }}
      />
    </label>
  );
});
ChoiceBox.displayName = 'ChoiceBox';

/** A row is drawn anew only when what it shows is another. */
const Cells = memo(({ item, row }: { readonly item: unknown; readonly row: (item: unknown) => ReactNode }) =>
  row(item),
);
Cells.displayName = 'Cells';
