import type { CohortChange } from './cohort-message.ts';
import { isBefore, type Order } from './order.ts';
import { hasAllPages, withPage, type PageRanges } from './page-ranges.ts';

/** Pages of one export received so far. */
export type SessionPages = {
  readonly session: string;
  /** Order of the page that came first; counts for all pages of the export. */
  readonly order: Order;
  readonly of: number | null;
  readonly seen: PageRanges;
  /** Whether any member on them came with a usable user id. */
  readonly named: boolean;
  /** Members on them that came without one. */
  readonly skipped: number;
};

export const isWhole = ({ of, seen }: SessionPages): boolean => of !== null && hasAllPages(seen, of);

/**
 * Returns true if members came without a usable user id: the integration names the wrong field. An empty cohort does
 * not count.
 */
export const namesNobody = ({ named, skipped }: SessionPages): boolean => !named && skipped > 0;

/**
 * Adds the page of this message. Null if it has no page or its export began before the newest one; such a page cannot
 * show who left.
 */
export function withMessage(
  before: SessionPages | null,
  { session, page, userIds, skipped }: Pick<CohortChange, 'session' | 'page' | 'userIds' | 'skipped'>,
  order: Order,
): SessionPages | null {
  if (session === null || page === null) return null;
  const same = before?.session === session ? before : null;
  if (before && !same && isBefore(order, before.order)) return null;
  // An export whose pages named no member is forgotten: after the field name is fixed, all of its pages must arrive
  // again.
  const known = same && isWhole(same) && namesNobody(same) ? null : same;
  return {
    session,
    order,
    of: page.of ?? known?.of ?? null,
    seen: withPage(known?.seen ?? [], page.number),
    named: (known?.named ?? false) || userIds.length > 0,
    skipped: (known?.skipped ?? 0) + skipped,
  };
}
