import { useMemo, useState } from 'react';
import { choosing, NONE_CHOSEN, type Chosen } from './choose-rows.ts';
import { focusList } from './focus-list.ts';

/** What a list needs to let rows be chosen. */
export type RowChoice = {
  readonly has: (key: string) => boolean;
  /** Chooses a row or leaves it out; `isRange`: with all between it and the one before. */
  readonly toggle: (key: string, isRange: boolean) => void;
};

export type Choice<Item> = RowChoice & {
  /** The chosen rows that are shown: nothing is done to what has left the list. */
  readonly rows: readonly Item[];
  /** Whether any row was ever chosen: until then nothing about it has to be loaded. */
  readonly isBegun: boolean;
  readonly clear: () => void;
};

const NOTHING: readonly never[] = [];

/** Rows of a list that somebody chooses, until `scope` says that it is another list. `keyOf` is the same function at every call. */
export function useChoice<Item>(
  items: readonly Item[] | undefined,
  keyOf: (item: Item) => string,
  scope: string,
): Choice<Item> {
  const [kept, setKept] = useState<{ readonly scope: string; readonly chosen: Chosen } | null>(null);
  // Forgotten at once: whoever comes back to the first list finds nothing chosen.
  if (kept !== null && kept.scope !== scope) setKept({ scope, chosen: NONE_CHOSEN });
  const chosen = kept?.scope === scope ? kept.chosen : NONE_CHOSEN;
  const { keys } = chosen;
  const rows = useMemo(
    () => (keys.size === 0 || !items ? NOTHING : items.filter((item) => keys.has(keyOf(item)))),
    [items, keyOf, keys],
  );
  return {
    rows,
    isBegun: kept !== null,
    has: (key) => keys.has(key),
    toggle(key, isRange) {
      setKept({ scope, chosen: choosing(chosen, key, { isRange, order: (items ?? NOTHING).map(keyOf) }) });
    },
    clear() {
      setKept((before) => before && { scope, chosen: NONE_CHOSEN });
      // The button that was pressed goes with the bar below the list.
      focusList();
    },
  };
}
