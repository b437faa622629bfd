import { isSearched } from '@carillon/domain/channels';
import type { Delivery } from '@carillon/domain/deliveries';
import type { DeliveryBody } from '@carillon/contracts';
import type { DeliveryId, Instant } from '@carillon/kernel';
import type { DeliveryFilter, DuplicateRow } from '@carillon/ports';
import { showDelivery, showDuplicate } from './bodies.ts';
import { shownPage } from './pages-in-sight.ts';
import type { ControlPorts } from './ports.ts';

type Ports = Pick<ControlPorts, 'ledger' | 'readModels'>;
type Page<Row> = { readonly items: readonly Row[]; readonly next: string | null };
type Duplicate = { readonly row: DuplicateRow; readonly holder: Delivery | null };

/** Where a page ended. */
type Place = {
  /** Cursor of the deliveries. Null at their end. */
  readonly deliveries: string | null;
  /**
   * Cursor of the remaining duplicates, if there were more than a page takes. Null if those from `before` come next.
   */
  readonly duplicates: string | null;
  readonly before: Instant | null;
};

const NONE = { items: [], next: null };

/**
 * Lists deliveries, newest first, together with the duplicates of the same span of time, which have no documents.
 * `limit` is the maximum of deliveries and of duplicates per page; further duplicates follow on the next page. Each row
 * comes once. A list filtered by person, address, rule and the like only has the newest duplicates of its own
 * deliveries, because finding others would mean reading all duplicates.
 */
export async function listDeliveries(
  filter: DeliveryFilter,
  limit: number,
  cursor: string | undefined,
  isSeen: (delivery: Delivery) => boolean,
  { ledger, readModels }: Ports,
): Promise<Page<DeliveryBody>> {
  // Sealed by this server, so it is valid.
  const from = cursor === undefined ? null : (JSON.parse(cursor) as Place);
  const deliveries: Page<Delivery> =
    from?.deliveries === null
      ? NONE
      : await shownPage(limit, from?.deliveries, (most, next) => ledger.list(filter, most, next), isSeen);
  // A page on which nothing is seen says nothing of its span: what falls into it comes with the next one.
  const oldest = deliveries.next === null ? null : (deliveries.items.at(-1)?.createdAt ?? from?.before ?? undefined);
  const duplicates = await duplicatesBeside();
  const items = [
    ...deliveries.items.map(showDelivery),
    ...duplicates.items.flatMap(({ row, holder }) => (holder ? [showDuplicate(row, holder)] : [])),
  ];
  const place: Place = {
    deliveries: deliveries.next,
    duplicates: duplicates.next,
    before: oldest ?? from?.before ?? null,
  };
  return {
    items: items.toSorted((a, b) => (a.created_at < b.created_at ? 1 : a.created_at > b.created_at ? -1 : 0)),
    next: place.deliveries === null && place.duplicates === null ? null : JSON.stringify(place),
  };

  async function duplicatesBeside(): Promise<Page<Duplicate>> {
    if (isNarrow(filter)) return duplicatesOf(deliveries.items);
    return oldest === undefined ? { ...NONE, next: from?.duplicates ?? null } : duplicatesUntil(oldest);
  }

  /**
   * Returns the newest duplicates of deliveries. A delivery stores the number of its duplicates, so one without any is
   * not looked up.
   */
  async function duplicatesOf(holders: readonly Delivery[]): Promise<Page<Duplicate>> {
    const repeated = new Map<string, Delivery>(
      holders.filter((one) => one.duplicates > 0).map((holder) => [holder.id, holder]),
    );
    if (repeated.size === 0) return NONE;
    const newest = await readModels.duplicates({ deliveryIds: [...repeated.keys()], ...timesOf(filter) }, limit);
    return { items: newest.items.map((row) => ({ row, holder: repeated.get(row.deliveryId) ?? null })), next: null };
  }

  /** The duplicates that come next, down to a time; null: down to the end. */
  async function duplicatesUntil(time: Instant | null): Promise<Page<Duplicate>> {
    const { workspace, eventId, states, reasons } = filter;
    if (states?.includes('SUPPRESSED') === false || reasons?.includes('duplicate') === false) return NONE;
    const since = time ?? filter.since;
    // A cursor goes on where it is, among those that should have come with a page before.
    const before = (from?.duplicates === null ? from.before : null) ?? filter.before;
    const wanted = {
      ...(workspace !== undefined && { workspace }),
      ...(eventId !== undefined && { eventId }),
      ...timesOf({ since, before }),
    };
    const read = async (most: number, next: string | undefined): Promise<Page<Duplicate>> => {
      const page = await readModels.duplicates(wanted, most, next);
      const holders = await Promise.all(page.items.map(({ deliveryId }) => ledger.get(deliveryId as DeliveryId)));
      return { items: page.items.map((row, at) => ({ row, holder: holders[at] ?? null })), next: page.next };
    };
    return shownPage(limit, from?.duplicates ?? undefined, read, isWanted);
  }

  function isWanted({ row, holder }: Duplicate): boolean {
    if (!holder || !isSeen(holder)) return false;
    const { slot, intent } = holder;
    if (filter.to !== undefined && !isFound(intent.to, filter.to, filter.toIsWhole)) return false;
    if (filter.channels?.includes(slot.channel) === false) return false;
    const wanted: readonly (readonly [unknown, unknown])[] = [
      [filter.uniqueId, slot.uniqueId],
      [filter.notification, row.notification],
      [filter.rule, intent.rule],
      [filter.person, intent.person],
      [filter.test, intent.test !== undefined],
    ];
    return wanted.every(([want, is]) => want === undefined || want === is);
  }
}

/**
 * The store cannot find duplicates by most filters. It can by event. A filter for suppressed deliveries asks for
 * duplicates, whose holders have other states.
 */
function isNarrow({
  states,
  reasons,
  eventId,
  channels,
  to,
  person,
  uniqueId,
  notification,
  rule,
  test,
}: DeliveryFilter) {
  if (states !== undefined || reasons !== undefined || eventId !== undefined) return false;
  return [channels, to, person, uniqueId, notification, rule, test].some((wanted) => wanted !== undefined);
}

const timesOf = ({
  since,
  before,
}: {
  readonly since?: Instant | undefined;
  readonly before?: Instant | undefined;
}) => ({
  ...(since !== undefined && { since }),
  ...(before !== undefined && { before }),
});

const isFound = (address: string | null, wanted: readonly string[], isWhole = false): boolean =>
  isWhole ? wanted.some((one) => one === address) : isSearched(address, wanted);
