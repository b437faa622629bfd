import type { Clock, EvaluationRow, ReadModels } from '@carillon/ports';
import type { AnyBulkWriteOperation, Collection } from 'mongodb';
import type { Attempt } from '../attempts.ts';
import type { Collections } from '../collections.ts';
import type { DeadLetterDocument, DuplicateDocument, EventDocument, FieldDocument } from '../documents.ts';
import { RetryFromStart, duplicatesIn } from '../failures.ts';
import { afterCursor, equalities, filterOf, pageOf, sortOf, within, type Order } from '../pages.ts';
import { inRuns } from '../adaptive-batches.ts';
import {
  deadLetterDocument,
  deadLetterOf,
  duplicateDocument,
  duplicateOf,
  evaluationDocument,
  evaluationOf,
  eventDocument,
  eventOf,
  fieldDocument,
  fieldOf,
} from './read-model-documents.ts';

const EVENTS: Order = { at: 'number', partition: 'number', offset: 'number' };
const BY_ID: Order = { at: 'number', _id: 'string' };

type Named = { readonly _id: string };

/** Writes documents under their ids. `kept`: fields that the first writing fixes; `all`: the whole document is. */
async function project<Kind extends Named>(
  collection: Collection<Kind>,
  documents: readonly Kind[],
  kept: readonly (keyof Kind)[] | 'all',
): Promise<void> {
  if (documents.length === 0) return;
  const operations = documents.map(({ _id, ...fields }) => {
    const isKept = (name: string): boolean => kept === 'all' || kept.includes(name as keyof Kind);
    const once = Object.entries(fields).filter(([name]) => isKept(name));
    const always = Object.entries(fields).filter(([name]) => !isKept(name));
    const update = {
      ...(once.length > 0 && { $setOnInsert: Object.fromEntries(once) }),
      ...(always.length > 0 && { $set: Object.fromEntries(always) }),
    };
    return { updateOne: { filter: { _id }, update, upsert: true } } as unknown as AnyBulkWriteOperation<Kind>;
  });
  try {
    await collection.bulkWrite(operations, { ordered: false });
  } catch (error) {
    duplicatesIn(error);
    throw new RetryFromStart('another process is writing the row');
  }
}

/** Writes those rows that know of more than what is stored. */
async function projectFields(fields: Collection<FieldDocument>, documents: readonly FieldDocument[]): Promise<void> {
  if (documents.length === 0) return;
  const operations = documents.map(({ _id, ...row }) => ({
    updateOne: { filter: { _id, offset: { $lt: row.offset } }, update: { $set: row }, upsert: true },
  }));
  try {
    await fields.bulkWrite(operations, { ordered: false });
  } catch (error) {
    const places = duplicatesIn(error);
    const refused = documents.filter((_, at) => places.has(at));
    const stored = await fields.find({ _id: { $in: refused.map(({ _id }) => _id) } }).toArray();
    const offsets = new Map(stored.map(({ _id, offset }) => [_id, offset] as const));
    // The stored row is not newer: another writer started it at the same moment.
    if (refused.some(({ _id, offset }) => (offsets.get(_id) ?? -1) < offset)) {
      throw new RetryFromStart('another process is writing the row');
    }
  }
}

const newest = (filter: {
  readonly workspace?: string;
  readonly stream?: string;
  readonly since?: number;
  readonly before?: number;
  readonly traceId?: string;
}) => ({
  ...equalities({ workspace: filter.workspace, stream: filter.stream, traceId: filter.traceId }),
  ...within('at', filter),
});

export function createReadModels(collections: Collections, attempt: Attempt, clock: Clock): ReadModels {
  const { events, duplicates, deadLetters, evaluations, fields } = collections;
  const write = async <Row, Kind>(
    rows: readonly Row[],
    documentOf: (row: Row) => Kind,
    bulk: (run: readonly Kind[]) => Promise<void>,
  ): Promise<void> => {
    await inRuns(rows.map(documentOf), async (run) => [await attempt(() => bulk(run))]);
  };
  return {
    async put(rows) {
      const now = clock.now();
      await write(rows.events ?? [], eventDocument, (run) => project(events, run, []));
      await write(rows.duplicates ?? [], duplicateDocument, (run) => project(duplicates, run, []));
      // Projecting again must not forget that somebody has sent it on its way since.
      await write(rows.deadLetters ?? [], deadLetterDocument, (run) => project(deadLetters, run, 'all'));
      const evaluated = (row: EvaluationRow) => evaluationDocument(row, now);
      await write(rows.evaluations ?? [], evaluated, (run) => project(evaluations, run, ['writtenAt']));
      await write(rows.fields ?? [], fieldDocument, (run) => projectFields(fields, run));
    },
    async fields(stream, partition) {
      const found = await attempt(() =>
        fields.find(equalities({ stream, partition }), { sort: { path: 1, partition: 1 } }).toArray(),
      );
      return found.map(fieldOf);
    },
    async event(id) {
      const found = await attempt(() =>
        events.find({ id: { $eq: id } }, { sort: { at: 1, partition: 1, offset: 1 } }).toArray(),
      );
      return found.map(eventOf);
    },
    async eventsWithIds(ids, mostOfEach) {
      return inRuns([...new Set(ids)], async (run) => {
        const limit = run.length * mostOfEach;
        const found = await attempt(() => events.find({ id: { $in: [...run] } }, { limit }).toArray());
        if (found.length < limit) {
          return [...Map.groupBy(found, ({ id }) => id).values()].flatMap((all) =>
            all.slice(0, mostOfEach).map(eventOf),
          );
        }
        // Each id is read separately, because one id may have so many events that they crowd out the others.
        const each = await attempt(() =>
          Promise.all(run.map((id) => events.find({ id: { $eq: id } }, { limit: mostOfEach }).toArray())),
        );
        return each.flat().map(eventOf);
      });
    },
    async events(filter, limit, cursor) {
      const wanted = filterOf<EventDocument>(newest(filter), afterCursor(cursor, EVENTS));
      const found = await attempt(() =>
        events.find<EventDocument>(wanted, { sort: sortOf(EVENTS), limit: limit + 1 }).toArray(),
      );
      return pageOf(found, limit, eventOf, EVENTS);
    },
    async duplicatesOfEvent(eventId) {
      const found = await attempt(() =>
        duplicates.find({ eventId: { $eq: eventId } }, { sort: { at: 1, _id: 1 } }).toArray(),
      );
      return found.map(duplicateOf);
    },
    async duplicatesOfDelivery(deliveryId) {
      const found = await attempt(() =>
        duplicates.find({ deliveryId: { $eq: deliveryId } }, { sort: { at: 1, _id: 1 } }).toArray(),
      );
      return found.map(duplicateOf);
    },
    async duplicates(filter, limit, cursor) {
      const wanted = filterOf<DuplicateDocument>(
        newest(filter),
        equalities({ eventId: filter.eventId }),
        filter.deliveryIds ? { deliveryId: { $in: filter.deliveryIds } } : {},
        afterCursor(cursor, BY_ID),
      );
      const found = await attempt(() =>
        duplicates.find<DuplicateDocument>(wanted, { sort: sortOf(BY_ID), limit: limit + 1 }).toArray(),
      );
      return pageOf(found, limit, duplicateOf, BY_ID);
    },
    ...deadLetterModels(deadLetters, attempt),
    async evaluations(workspace, rule, limit) {
      const found = await attempt(() =>
        evaluations
          .find(
            { workspace: { $eq: workspace }, rule: { $eq: rule } },
            { sort: { hasFailures: -1, writtenAt: -1, partition: -1, from: -1 }, limit },
          )
          .toArray(),
      );
      return found.map(evaluationOf);
    },
  };
}

const deadLetterModels = (
  deadLetters: Collections['deadLetters'],
  attempt: Attempt,
): Pick<ReadModels, 'deadLetters' | 'deadLetter' | 'markRedriven' | 'markDismissed' | 'markReopened'> => ({
  async deadLetters(filter, limit, cursor) {
    const wanted = filterOf<DeadLetterDocument>(
      newest(filter),
      {
        ...(filter.ofReceipts !== undefined && { stage: { [filter.ofReceipts ? '$eq' : '$ne']: 'receipts' } }),
        // A document of before has no `dismissedAt`: it counts as null.
        ...(filter.open && { redrivenAt: null, dismissedAt: null }),
      },
      afterCursor(cursor, BY_ID),
    );
    const found = await attempt(() =>
      deadLetters.find<DeadLetterDocument>(wanted, { sort: sortOf(BY_ID), limit: limit + 1 }).toArray(),
    );
    return pageOf(found, limit, deadLetterOf, BY_ID);
  },
  async deadLetter(id) {
    const found = await attempt(() => deadLetters.findOne({ _id: id }));
    return found ? deadLetterOf(found) : null;
  },
  async markRedriven(id, at, by) {
    await attempt(() => deadLetters.updateOne({ _id: id }, { $set: { redrivenAt: at, redrivenBy: by } }));
  },
  async markDismissed(id, at, by) {
    const isOpen = { _id: id, dismissedAt: null };
    await attempt(() => deadLetters.updateOne(isOpen, { $set: { dismissedAt: at, dismissedBy: by } }));
  },
  async markReopened(id) {
    await attempt(() => deadLetters.updateOne({ _id: id }, { $set: { dismissedAt: null, dismissedBy: null } }));
  },
});
