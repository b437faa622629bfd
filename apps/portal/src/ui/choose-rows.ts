/** Rows that somebody has chosen, by their keys, and the one that a range goes from. */
export type Chosen = { readonly keys: ReadonlySet<string>; readonly from: string | null };

export const NONE_CHOSEN: Chosen = { keys: new Set(), from: null };

/**
 * After a row was chosen, or left out where it had been. `isRange`: all rows from the one before to this one become as this one does; `order`
 * is that of the list.
 */
export function choosing(
  { keys, from }: Chosen,
  key: string,
  { isRange, order }: { readonly isRange: boolean; readonly order: readonly string[] },
): Chosen {
  const isChosen = !keys.has(key);
  const [start, end] = [from === null ? -1 : order.indexOf(from), order.indexOf(key)];
  const meant = isRange && start >= 0 && end >= 0 ? order.slice(Math.min(start, end), Math.max(start, end) + 1) : [key];
  const next = new Set(keys);
  for (const one of meant) {
    if (isChosen) next.add(one);
    else next.delete(one);
  }
  return { keys: next, from: key };
}
