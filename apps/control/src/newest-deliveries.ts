import type { Delivery } from '@carillon/domain/deliveries';
import type { DeliveryFilter, DeliveryLedger } from '@carillon/ports';

const BATCH_SIZE = 500;
/** Maximum deliveries read, newest first, because the caller waits for the response. */
export const MAX_DELIVERIES = 20_000;

/**
 * Returns the results of `pick` for deliveries, newest first. Reads page by page and keeps no page. Reads at most
 * `limit` deliveries, rounded up to whole pages. `complete` is false if there are more deliveries than were read.
 */
export async function pickDeliveries<T>(
  ledger: Pick<DeliveryLedger, 'list'>,
  filter: DeliveryFilter,
  pick: (delivery: Delivery) => readonly T[],
  limit = MAX_DELIVERIES,
): Promise<{ readonly picked: readonly T[]; readonly complete: boolean }> {
  const picked: T[] = [];
  let cursor: string | undefined;
  for (let looked = 0; looked < limit; looked += BATCH_SIZE) {
    const { items, next } = await ledger.list(filter, BATCH_SIZE, cursor);
    picked.push(...items.flatMap(pick));
    if (next === null) return { picked, complete: true };
    cursor = next;
  }
  return { picked, complete: false };
}
