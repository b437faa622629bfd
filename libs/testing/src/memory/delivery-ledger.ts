import { isSearched } from '@carillon/domain/channels';
import type { Delivery, DeliveryState } from '@carillon/domain/deliveries';
import { stringifyJson, type Instant } from '@carillon/kernel';
import type { DeliveryFilter, DeliveryLedger, NewRecord, Replacing } from '@carillon/ports';
import { pageOf } from './pages.ts';
import type { Wire } from './wire.ts';

type Inserted = Awaited<ReturnType<DeliveryLedger['insert']>>[number];

const slotOf = ({ slot }: Delivery): string =>
  JSON.stringify([slot.workspace, slot.notificationId, slot.channel, slot.uniqueId]);

const shown = ({ id, version, state, reason, token, intent }: Delivery): string =>
  `${id.slice(0, 12)} v${version} ${state} (${reason}) of ${intent.id.slice(0, 12)}${token === null ? '' : ` token ${token}`}`;

function fits(delivery: Delivery, filter: DeliveryFilter): boolean {
  const { slot, intent, state, reason, createdAt } = delivery;
  const wanted: readonly (readonly [unknown, unknown])[] = [
    [filter.workspace, slot.workspace],
    [filter.uniqueId, slot.uniqueId],
    [filter.person, intent.person],
    [filter.eventId, intent.eventId],
    [filter.notification, intent.notification],
    [filter.rule, intent.rule],
    [filter.test, intent.test !== undefined],
  ];
  return (
    wanted.every(([want, is]) => want === undefined || want === is) &&
    (filter.states?.includes(state) ?? true) &&
    (filter.reasons?.includes(reason) ?? true) &&
    (filter.channels?.includes(slot.channel) ?? true) &&
    (filter.to === undefined ||
      (filter.toIsWhole === true ? filter.to.some((one) => one === intent.to) : isSearched(intent.to, filter.to))) &&
    createdAt >= (filter.since ?? Number.NEGATIVE_INFINITY) &&
    createdAt < (filter.before ?? Number.POSITIVE_INFINITY)
  );
}

function countEach<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
): readonly (readonly [string, number])[] {
  return [...Map.groupBy(items, keyOf)].map(([key, of]) => [key, of.length]);
}

/**
 * A ledger with one document per slot and compare-and-set, which copies its inputs. Calls `moved` after each write.
 * With `append`, ledger and log are one store.
 */
export function createMemoryLedger(
  moved: (before: Delivery | null, after: Delivery) => void = () => undefined,
  append?: (records: readonly NewRecord[]) => void,
) {
  const stored = new Map<string, Delivery>();
  const slots = new Map<string, string>();

  function insertOne(delivery: Delivery): Inserted {
    const holder = stored.get(delivery.id) ?? stored.get(slots.get(slotOf(delivery)) ?? '');
    if (holder) return { inserted: false, holder };
    stored.set(delivery.id, structuredClone(delivery));
    slots.set(slotOf(delivery), delivery.id);
    moved(null, delivery);
    return { inserted: true };
  }

  function replace(next: Delivery, records: readonly NewRecord[] | undefined): 'done' | 'told' | 'stale' {
    const before = stored.get(next.id);
    if (before?.version !== next.version - 1) return 'stale';
    const tells = append && records && records.length > 0;
    const written = tells ? { ...next, unpublished: [] } : next;
    stored.set(next.id, structuredClone(written));
    if (tells) append(records);
    moved(before, written);
    return tells ? 'told' : 'done';
  }

  const where = (holds: (delivery: Delivery) => boolean): Delivery[] => [...stored.values()].filter(holds);

  return {
    all: (): readonly Delivery[] => [...stored.values()],
    get: (id: string): Delivery | null => stored.get(id) ?? null,
    connect: (wire: Wire): DeliveryLedger => ({
      insert: (deliveries) =>
        wire.ask('ledger.insert', () => deliveries.map(insertOne), {
          writes: true,
          about: () => deliveries.map(shown).join(', '),
          partly: (chance) => deliveries.filter(() => chance() < 0.5).forEach(insertOne),
        }),
      replace(next, how: Replacing = {}) {
        const records = append && how.telling?.();
        return wire.ask('ledger.replace', () => replace(next, records), { writes: true, about: () => shown(next) });
      },
      get: (id) => wire.ask('ledger.get', () => stored.get(id) ?? null, { about: () => id.slice(0, 12) }),
      many: (ids) => {
        const wanted = new Set<string>(ids);
        return wire.ask('ledger.many', () => where(({ id }) => wanted.has(id)));
      },
      ...waitingOf(wire, where),
      leaseExpired: (now, limit) =>
        wire.ask('ledger.leaseExpired', () =>
          where(({ state, leaseUntil }) => state === 'SENDING' && (leaseUntil ?? 0) < now).slice(0, limit),
        ),
      unlisted: (now, limit) =>
        wire.ask('ledger.unlisted', () =>
          where(({ state, nextAt }) => state === 'COLLECTED' && nextAt !== null && nextAt <= now).slice(0, limit),
        ),
      unpublished: (olderThan, limit) =>
        wire.ask('ledger.unpublished', () =>
          where(({ unpublished, updatedAt }) => unpublished.length > 0 && updatedAt < olderThan).slice(0, limit),
        ),
      list: (filter, limit, cursor) =>
        wire.ask('ledger.list', () =>
          pageOf(
            where((one) => fits(one, filter)),
            ({ createdAt, id }) => [createdAt, id],
            (one) => one,
            limit,
            cursor,
          ),
        ),
      byEvent: (eventId) => wire.ask('ledger.byEvent', () => where(({ intent }) => intent.eventId === eventId)),
      ...countsOf(wire, where),
    }),
  };
}
export type MemoryLedger = ReturnType<typeof createMemoryLedger>;

type Counts = Pick<
  DeliveryLedger,
  'countAddresses' | 'countOverTime' | 'countByNotification' | 'countPeople' | 'countByState'
>;

/** The part of a ledger that counts. */
const countsOf = (wire: Wire, where: (holds: (delivery: Delivery) => boolean) => readonly Delivery[]): Counts => ({
  countAddresses: ({ workspace, notificationId }, states) =>
    wire.ask('ledger.countAddresses', () => {
      const told = where(
        ({ slot, state, intent }) =>
          intent.test === undefined &&
          slot.workspace === workspace &&
          (notificationId === undefined || slot.notificationId === notificationId) &&
          states.includes(state),
      );
      return new Set(told.flatMap(({ intent }) => intent.to ?? [])).size;
    }),
  countOverTime: (of, part) =>
    wire.ask('ledger.countOverTime', () => {
      const counts = countEach(
        where((one) => fits(one, of)),
        ({ createdAt, state }) => JSON.stringify([createdAt - (createdAt % part), state]),
      );
      return counts.map(([key, deliveries]) => {
        const [at, state] = JSON.parse(key) as [Instant, DeliveryState];
        return { at, state, deliveries };
      });
    }),
  countByNotification: (of) =>
    wire.ask('ledger.countByNotification', () => {
      const counts = countEach(
        where((one) => fits(one, of)),
        ({ intent, state }) => JSON.stringify([intent.notification, state]),
      );
      return counts.map(([key, deliveries]) => {
        const [notification, state] = JSON.parse(key) as [string, DeliveryState];
        return { notification, state, deliveries };
      });
    }),
  countPeople: (of, states) =>
    wire.ask(
      'ledger.countPeople',
      () => new Set(where((one) => fits(one, { ...of, states })).map(({ intent }) => intent.person)).size,
    ),
  countByState: () =>
    wire.ask('ledger.countByState', () => {
      const counts: Partial<Record<DeliveryState, number>> = {};
      for (const { state } of where(() => true)) counts[state] = (counts[state] ?? 0) + 1;
      return counts;
    }),
});

const waitsUntil = ({ state, nextAt }: Delivery): Instant =>
  state === 'WAITING' && nextAt !== null ? nextAt : Number.POSITIVE_INFINITY;

/** The part of a ledger that finds what waits to be sent. */
const waitingOf = (
  wire: Wire,
  where: (holds: (delivery: Delivery) => boolean) => readonly Delivery[],
): Pick<DeliveryLedger, 'dueWorkspaces' | 'due' | 'nextDueAt' | 'waiting'> => ({
  dueWorkspaces: (now) =>
    wire.ask('ledger.dueWorkspaces', () => [
      ...new Set(where((one) => waitsUntil(one) <= now).map(({ slot }) => slot.workspace)),
    ]),
  due: (workspace, now, limit) =>
    wire.ask('ledger.due', () =>
      where((one) => one.slot.workspace === workspace && waitsUntil(one) <= now)
        .toSorted((a, b) => waitsUntil(a) - waitsUntil(b))
        .slice(0, limit)
        .map((delivery) => ({ delivery, bytes: stringifyJson(delivery).length })),
    ),
  nextDueAt: (until) =>
    wire.ask('ledger.nextDueAt', () => {
      const next = Math.min(...where(() => true).map(waitsUntil));
      return next <= until && Number.isFinite(next) ? next : null;
    }),
  waiting: ({ workspace, notificationId }, limit, cursor) =>
    wire.ask('ledger.waiting', () =>
      pageOf(
        where(
          ({ state, slot }) =>
            state === 'WAITING' &&
            slot.workspace === workspace &&
            (notificationId === undefined || slot.notificationId === notificationId),
        ),
        ({ createdAt, id }) => [createdAt, id],
        (one) => one,
        limit,
        cursor,
      ),
    ),
});
