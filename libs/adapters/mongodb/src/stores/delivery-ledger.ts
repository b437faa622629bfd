import type { Filter } from 'mongodb';
import type { Delivery, DeliveryState } from '@carillon/domain/deliveries';
import type { DeliveryId } from '@carillon/kernel';
import type { DeliveryLedger } from '@carillon/ports';
import type { Attempt } from '../attempts.ts';
import type { Collections } from '../collections.ts';
import {
  compareAndSetEach,
  compareAndSetOne,
  insertEach,
  writeToken,
  type VersionedWrite,
} from '../compare-and-set.ts';
import { keyOf, type DeliveryDocument } from '../documents.ts';
import { createIntents, fieldsOf, movingFields, readDelivery, sizeOf, WHOLE, type Whole } from './delivery-fields.ts';
import { RetryFromStart } from '../failures.ts';
import { BY_STATE } from '../schema/wanted.ts';
import {
  afterCursor,
  beginsWithOneOf,
  equalities,
  filterOf,
  IN_ONE_ANSWER,
  pageOf,
  queued,
  sortOf,
  within,
  type Order,
} from '../pages.ts';
import { coalesceRequests } from '../coalesce-requests.ts';
import { createAdaptiveBatches } from '../adaptive-batches.ts';
import { deliveryCounts } from './delivery-counts.ts';

const NEWEST_FIRST: Order = { createdAt: 'number', _id: 'string' };
const BY_NOTIFICATION: Order = { notificationId: 'string', dueAt: 'number', _id: 'string' };
/** Lower than every instant: an unbounded start that an index can use. */
const EVER = Number.MIN_SAFE_INTEGER;

const slotKey = ({ workspace, notificationId, channel, uniqueId }: Delivery['slot']): string =>
  keyOf(workspace, notificationId, channel, uniqueId);

/**
 * Returns for each delivery the index of the first one with its id or slot, which is its own index if it may be
 * inserted.
 */
function firstPlaces(deliveries: readonly Delivery[]): readonly number[] {
  const ids = new Map<string, number>();
  const slots = new Map<string, number>();
  return deliveries.map((delivery, place) => {
    const slot = slotKey(delivery.slot);
    const first = ids.get(delivery.id) ?? slots.get(slot);
    if (first !== undefined) return first;
    ids.set(delivery.id, place);
    slots.set(slot, place);
    return place;
  });
}

/** One of several values, for each field of which some are wanted. */
const oneOf = (fields: Readonly<Record<string, readonly string[] | undefined>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([field, values]) =>
      values === undefined ? [] : [[field, values.length === 1 ? { $eq: values[0] } : { $in: [...values] }]],
    ),
  );

function documentOf(delivery: Delivery, token: string): DeliveryDocument {
  const { dueAt, leaseEnds, unlistedAt, unpublishedSince, ...fields } = fieldsOf(delivery);
  return {
    _id: delivery.id,
    ...delivery.slot,
    ...(delivery.intent.test && { test: true }),
    ...fields,
    ...(dueAt !== undefined && { dueAt }),
    ...(leaseEnds !== undefined && { leaseEnds }),
    ...(unlistedAt !== undefined && { unlistedAt }),
    ...(unpublishedSince !== undefined && { unpublishedSince }),
    createdAt: delivery.createdAt,
    inserted: token,
    written: token,
  };
}

export function createDeliveryLedger({ deliveries: ledger }: Collections, attempt: Attempt): DeliveryLedger {
  const intents = createIntents();
  const read = (document: Whole): Delivery => {
    const delivery = readDelivery(document);
    // What an early version wrote is written whole once more.
    if (document.moving !== undefined && document.intentId === delivery.intent.id) intents.remember(delivery);
    return delivery;
  };
  /** A move that leaves out the intent is done only where that very one stands. */
  const writeOf = (next: Delivery): VersionedWrite => {
    const { id, version } = next;
    if (intents.isThere(next)) return { id, version, fields: movingFields(next), where: { intentId: next.intent.id } };
    return { id, version, fields: { ...fieldsOf(next), body: undefined } };
  };

  type Asked = readonly [filter: Readonly<Record<string, unknown>>, sort: Record<string, 1>, limit: number];
  const bodies = (...[filter, sort, limit]: Asked): Promise<Whole[]> =>
    attempt(() => ledger.find<Whole>(filterOf(filter), { projection: WHOLE, ...IN_ONE_ANSWER, sort, limit }).toArray());
  const readAll = async (...asked: Asked): Promise<Delivery[]> => {
    const found = await bodies(...asked);
    return found.map(read);
  };

  const replaced = async (next: Delivery, answer: Promise<'done' | 'stale'>): Promise<'done' | 'stale'> => {
    const is = await answer;
    if (is === 'done') intents.remember(next);
    return is;
  };
  const replaceOne = (next: Delivery): Promise<'done' | 'stale'> =>
    replaced(next, compareAndSetOne(ledger, attempt, writeOf(next)));
  const replaceTogether = coalesceRequests<Delivery, 'done' | 'stale'>(
    ({ id }) => id,
    replaceOne,
    (nexts) => compareAndSetEach(ledger, attempt, nexts.map(writeOf)),
    { oneAtATime: true },
  );

  return {
    insert: createInsert(ledger, attempt, { read, inserted: intents.remember }),
    replace: (next, how) => (how?.together ? replaceTogether(next) : replaceOne(next)),
    ...readsById(ledger, attempt, read),
    dueWorkspaces: (now) => attempt(() => ledger.distinct('workspace', { dueAt: queued({ $lte: now }) })),
    async due(workspace, now, limit) {
      const found = await bodies({ workspace: { $eq: workspace }, dueAt: queued({ $lte: now }) }, { dueAt: 1 }, limit);
      return found.map((one) => ({ delivery: read(one), bytes: sizeOf(one) }));
    },
    // With a bound: FerretDB reads and sorts all that the filter finds, of which the first is asked for.
    async nextDueAt(until) {
      const earliest = await attempt(() =>
        ledger.findOne({ dueAt: queued({ $lte: until }) }, { projection: { dueAt: 1 }, sort: { dueAt: 1 } }),
      );
      return earliest?.dueAt ?? null;
    },
    waiting: readWaiting(ledger, attempt, read),
    leaseExpired: (now, limit) => readAll({ leaseEnds: queued({ $lt: now }) }, { leaseEnds: 1 }, limit),
    unlisted: (now, limit) => readAll({ unlistedAt: queued({ $lte: now }) }, { unlistedAt: 1 }, limit),
    unpublished: (olderThan, limit) =>
      readAll({ unpublishedSince: queued({ $lt: olderThan }) }, { unpublishedSince: 1 }, limit),
    async list(filter, limit, cursor) {
      const { workspace, to, uniqueId, eventId, person, notification, rule, test } = filter;
      const isNarrow = [workspace, to, uniqueId, eventId, person].some((one) => one !== undefined);
      const wanted = filterOf<DeliveryDocument>(
        equalities({ workspace, uniqueId, eventId, person, notification, rule }),
        // No index is by time alone, and most begin with the workspace.
        isNarrow ? {} : { workspace: { $in: await attempt(() => ledger.distinct('workspace')) } },
        oneOf({ state: filter.states, reason: filter.reasons, channel: filter.channels }),
        to === undefined ? {} : filter.toIsWhole === true ? oneOf({ recipient: to }) : beginsWithOneOf(to),
        test === undefined ? {} : { test: test ? { $exists: true, $eq: true } : { $exists: false } },
        within('createdAt', filter),
        afterCursor(cursor, NEWEST_FIRST),
      );
      const found = await attempt(() =>
        ledger
          .find<DeliveryDocument>(wanted, {
            projection: { ...WHOLE, createdAt: 1 },
            sort: sortOf(NEWEST_FIRST),
            limit: limit + 1,
          })
          .toArray(),
      );
      return pageOf(found, limit, read, NEWEST_FIRST);
    },
    byEvent: (eventId) => readAll({ eventId: { $eq: eventId } }, { createdAt: 1, _id: 1 }, 0),
    ...deliveryCounts(ledger, attempt),
    ...totals(ledger, attempt),
  };
}

/** Reads of deliveries by id. Reads of single deliveries that come together are one request. */
function readsById(
  ledger: Collections['deliveries'],
  attempt: Attempt,
  read: (document: Whole) => Delivery,
): Pick<DeliveryLedger, 'get' | 'many'> {
  async function getOne(id: string): Promise<Delivery | null> {
    const found = await attempt(() => ledger.findOne<Whole>({ _id: id }, { projection: WHOLE }));
    return found ? read(found) : null;
  }
  async function many(ids: readonly string[]): Promise<readonly Delivery[]> {
    const wanted: Filter<DeliveryDocument> = { _id: { $in: [...ids] } };
    const found = await attempt(() => ledger.find<Whole>(wanted, { projection: WHOLE, ...IN_ONE_ANSWER }).toArray());
    return found.map(read);
  }
  return {
    many,
    get: coalesceRequests<string, Delivery | null>(
      (id) => id,
      getOne,
      async (ids) => {
        const deliveryOf = new Map((await many(ids)).map((delivery) => [delivery.id, delivery]));
        return ids.map((id) => deliveryOf.get(id as DeliveryId) ?? null);
      },
    ),
  };
}

type InsertParts = {
  readonly read: (document: Whole) => Delivery;
  /** Called for each delivery that was inserted. */
  readonly inserted: (delivery: Delivery) => void;
};

function createInsert(
  ledger: Collections['deliveries'],
  attempt: Attempt,
  { read, inserted }: InsertParts,
): DeliveryLedger['insert'] {
  async function byIds(deliveries: readonly Delivery[]): Promise<ReadonlyMap<string, DeliveryDocument>> {
    if (deliveries.length === 0) return new Map();
    const found = await ledger.find({ _id: { $in: deliveries.map(({ id }) => id) } }, IN_ONE_ANSWER).toArray();
    return new Map(found.map((document) => [document._id, document]));
  }

  /**
   * Returns the holders of refused deliveries by id or slot. `known`: holders already found by id. Every refused
   * delivery has a holder, which may not be visible yet.
   */
  async function holdersOf(
    refused: readonly Delivery[],
    known: ReadonlyMap<string, DeliveryDocument>,
  ): Promise<ReadonlyMap<Delivery, DeliveryDocument>> {
    const found = await byIds(refused.filter(({ id }) => !known.has(id)));
    const holders = new Map<Delivery, DeliveryDocument>();
    for (const delivery of refused) {
      const { workspace, notificationId, channel, uniqueId } = delivery.slot;
      const slot = filterOf<DeliveryDocument>(equalities({ workspace, notificationId, channel, uniqueId }));
      const holder = known.get(delivery.id) ?? found.get(delivery.id) ?? (await ledger.findOne(slot));
      if (!holder) throw new RetryFromStart('the holder of a slot is not yet on a majority of the servers');
      holders.set(delivery, holder);
    }
    return holders;
  }

  const inRuns = createAdaptiveBatches();
  /** Whether the run that ended last met deliveries that were here already, as those of a log that is read again do. A guess for the next one. */
  let expectsRepeats = false;

  /**
   * Inserts deliveries in one bulk. Some databases split a bulk with one duplicate into an insert per document. If
   * duplicates are likely, known deliveries are therefore read first and not inserted again. The read only returns
   * documents that a majority holds, which are never rolled back. The unique indexes detect all other duplicates.
   */
  async function insertRun(deliveries: readonly Delivery[]): ReturnType<DeliveryLedger['insert']> {
    const token = writeToken();
    const firstOf = firstPlaces(deliveries);
    const firsts = firstOf.filter((first, place) => first === place);
    const documents = deliveries.map((delivery) => documentOf(delivery, token));
    return attempt(async () => {
      const known = expectsRepeats ? await byIds(deliveries) : new Map<string, DeliveryDocument>();
      const offered = firsts.filter((place) => !known.has(documents[place]?._id ?? ''));
      const duplicates = await insertEach(
        ledger,
        offered.flatMap((place) => documents[place] ?? []),
      );
      const taken = new Set(offered.filter((_place, at) => !duplicates.has(at)));
      expectsRepeats = taken.size < firsts.length;
      const isRefused = (place: number): boolean => !taken.has(firstOf[place] ?? place);
      const holders = await holdersOf(
        deliveries.filter((_delivery, place) => isRefused(place)),
        known,
      );
      return deliveries.map((delivery, place) => {
        const first = firstOf[place] ?? place;
        const holder = holders.get(delivery);
        if (!holder && first !== place) return { inserted: false, holder: deliveries[first] ?? delivery };
        // An earlier try whose answer was lost may be what holds it.
        const ours = first === place && holder?._id === delivery.id && holder.inserted === token;
        if (holder && !ours) return { inserted: false, holder: read(holder) };
        inserted(delivery);
        return { inserted: true };
      });
    });
  }

  return (deliveries) => inRuns(deliveries, insertRun);
}

const totals = (
  ledger: Collections['deliveries'],
  attempt: Attempt,
): Pick<DeliveryLedger, 'countAddresses' | 'countByState'> => ({
  async countAddresses({ workspace, notificationId }, states) {
    const counted = await attempt(() =>
      ledger
        .aggregate<{ told: number }>([
          {
            $match: {
              ...equalities({ workspace, notificationId }),
              state: { $in: [...states] },
              recipient: { $ne: null },
              test: null,
            },
          },
          { $group: { _id: '$recipient' } },
          { $count: 'told' },
        ])
        .toArray(),
    );
    return counted[0]?.told ?? 0;
  },
  async countByState() {
    const counts = await attempt(() =>
      ledger
        .aggregate<{ _id: DeliveryState; count: number }>([{ $group: { _id: '$state', count: { $sum: 1 } } }], {
          // The index is named by its keys, because it may have been created under another name.
          hint: { ...BY_STATE.key },
        })
        .toArray(),
    );
    return Object.fromEntries(counts.map(({ _id, count }) => [_id, count]));
  },
});

const readWaiting =
  (
    ledger: Collections['deliveries'],
    attempt: Attempt,
    read: (document: Whole) => Delivery,
  ): DeliveryLedger['waiting'] =>
  async ({ workspace, notificationId }, limit, cursor) => {
    const found = await attempt(() =>
      ledger
        .find<DeliveryDocument>(
          filterOf<DeliveryDocument>(
            equalities({ workspace, notificationId }),
            { dueAt: queued({ $gte: EVER }) },
            afterCursor(cursor, BY_NOTIFICATION, 'rising'),
          ),
          {
            projection: { ...WHOLE, notificationId: 1, dueAt: 1 },
            sort: sortOf(BY_NOTIFICATION, 'rising'),
            limit: limit + 1,
          },
        )
        .toArray(),
    );
    return pageOf(found, limit, read, BY_NOTIFICATION);
  };
