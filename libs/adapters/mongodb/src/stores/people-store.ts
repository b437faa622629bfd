import type { PeopleKind, PeopleRecord } from '@carillon/domain';
import { parseJson } from '@carillon/kernel';
import type { PeopleStore } from '@carillon/ports';
import type { Attempt } from '../attempts.ts';
import type { Collections } from '../collections.ts';
import { compareAndSet, insertOnce, writeToken } from '../compare-and-set.ts';
import { keyOf, type PeopleDocument } from '../documents.ts';
import { ComeAgain, isDuplicate } from '../failures.ts';
import { afterCursor, equalities, filterOf, pageOf, sortOf, type Order } from '../pages.ts';

const BY_ID: Order = { _id: 'string' };

/** What is stored under a kind is a record of that kind. */
const recordOf = <Kind extends PeopleKind>({ body }: PeopleDocument): PeopleRecord<Kind> =>
  parseJson(body) as unknown as PeopleRecord<Kind>;

const idOf = ({ kind, id }: Pick<PeopleRecord, 'kind' | 'id'>): string => keyOf(kind, id);

const fieldsOf = (record: PeopleRecord) => ({
  kind: record.kind,
  key: record.key === null ? undefined : keyOf(record.kind, record.key),
  of: record.of ?? undefined,
  endsAt: record.endsAt ?? undefined,
  body: JSON.stringify(record),
});

const documentOf = (record: PeopleRecord, written: string): PeopleDocument => {
  const given = Object.entries(fieldsOf(record)).filter(([, value]) => value !== undefined);
  // The fields that have no value are those that a document may lack.
  return { _id: idOf(record), version: record.version, written, ...Object.fromEntries(given) } as PeopleDocument;
};

export function createPeopleStore({ people }: Collections, attempt: Attempt): PeopleStore {
  /** An id or a key that is taken may be taken by an earlier try of ours whose answer was lost: the token says whose it is. */
  async function insert(record: PeopleRecord): Promise<'done' | 'stale' | 'taken'> {
    const document = documentOf(record, writeToken());
    const { _id, key, written } = document;
    return attempt(async () => {
      if (await insertOnce(people, document)) return 'done';
      const found = await people.findOne({ _id });
      if (found) return found.written === written ? 'done' : 'stale';
      if (key !== undefined && (await people.findOne({ key }))) return 'taken';
      throw new ComeAgain('a write is not yet held by a majority');
    });
  }

  return {
    async find<Kind extends PeopleKind>(kind: Kind, id: string) {
      const found = await attempt(() => people.findOne({ _id: keyOf(kind, id) }));
      return found && recordOf<Kind>(found);
    },
    async findByKey<Kind extends PeopleKind>(kind: Kind, key: string) {
      const found = await attempt(() => people.findOne({ key: keyOf(kind, key) }));
      return found && recordOf<Kind>(found);
    },
    async list<Kind extends PeopleKind>(kind: Kind, { of }: { readonly of?: string }, limit: number, cursor?: string) {
      const wanted = filterOf<PeopleDocument>(equalities({ kind, of }), afterCursor(cursor, BY_ID));
      const found = await attempt(() =>
        people.find<PeopleDocument>(wanted, { sort: sortOf(BY_ID), limit: limit + 1 }).toArray(),
      );
      return pageOf(found, limit, recordOf<Kind>, BY_ID);
    },
    async replace(record) {
      if (record.version === 1) return insert(record);
      // Attempts tell of a refusal without its cause, so a key that is taken is seen before.
      let taken = false;
      const noticing: Attempt = (operation) =>
        attempt(async (again) => {
          taken = false;
          try {
            return await operation(again);
          } catch (error) {
            taken = isDuplicate(error);
            throw error;
          }
        });
      try {
        return await compareAndSet(people, noticing, idOf(record), record.version, fieldsOf(record));
      } catch (error) {
        if (taken) return 'taken';
        throw error;
      }
    },
    async remove(kind, id) {
      return (await attempt(() => people.deleteOne({ _id: keyOf(kind, id) }))).deletedCount > 0;
    },
    async removeOf(kind, of, but) {
      const others = but === undefined ? {} : { _id: { $ne: keyOf(kind, but) } };
      return (await attempt(() => people.deleteMany({ kind, of, ...others }))).deletedCount;
    },
    async removeEnded(before, limit) {
      const ended = await attempt(() =>
        people.find({ endsAt: { $lt: before } }, { projection: { _id: 1 }, sort: { endsAt: 1 }, limit }).toArray(),
      );
      if (ended.length === 0) return 0;
      const ids = ended.map(({ _id }) => _id);
      // One that was written again meanwhile has a later end.
      const some = { _id: { $in: ids }, endsAt: { $lt: before } };
      return (await attempt(() => people.deleteMany(some))).deletedCount;
    },
  };
}
