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
  /** Cursor of the deliveries; null: they have ended. */
  readonly deliveries: string | null;
  /** Cursor of the duplicates, where there were more of them than a page takes; null: those from `before` come next. */
  readonly duplicates: string | null;
  readonly before: Instant | null;
};

const NONE = { items: [], next: null };

/**
 * Deliveries, newest first, and among them the duplicates of their span of time: these are no documents of their own. `limit` is that of
 * the deliveries, and so many duplicates are among them at most; where there are more, they go on with the next page. Each row comes once.
 * A list of one person, address, rule and the like has the newest duplicates of its own deliveries: those of all others would be gone through for them.
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

  /** What there is beyond these, each delivery counts. */
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
 * The store does not find duplicates by what is asked for. By event it does; and whoever asks for what was suppressed looks for duplicates as such,
 * whose deliveries are of another state.
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
