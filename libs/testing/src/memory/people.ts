import type { PeopleKind, PeopleRecord } from '@carillon/domain';
import type { PeopleStore } from '@carillon/ports';
import { pageOf } from './pages.ts';
import type { Wire } from './wire.ts';

/** Records about people, by kind and id. */
export function createMemoryPeople() {
  const stored = new Map<string, PeopleRecord>();
  const placeOf = (kind: PeopleKind, id: string): string => JSON.stringify([kind, id]);
  /** What is stored under a kind is a record of that kind. */
  const as = <Kind extends PeopleKind>(record: PeopleRecord | undefined): PeopleRecord<Kind> | null =>
    record === undefined ? null : (structuredClone(record) as PeopleRecord<Kind>);
  const holderOf = (kind: PeopleKind, key: string): PeopleRecord | undefined =>
    [...stored.values()].find((one) => one.kind === kind && one.key === key);

  function replace(record: PeopleRecord): 'done' | 'stale' | 'taken' {
    const { kind, id, key, version } = record;
    if ((stored.get(placeOf(kind, id))?.version ?? 0) !== version - 1) return 'stale';
    const holder = key === null ? undefined : holderOf(kind, key);
    if (holder && holder.id !== id) return 'taken';
    stored.set(placeOf(kind, id), structuredClone(record));
    return 'done';
  }

  /** Removes those that are meant; answers how many. */
  function removeWhere(isMeant: (record: PeopleRecord) => boolean, limit = Number.POSITIVE_INFINITY): number {
    const gone = [...stored.entries()].filter(([, record]) => isMeant(record)).slice(0, limit);
    for (const [place] of gone) stored.delete(place);
    return gone.length;
  }

  return {
    connect: (wire: Wire): PeopleStore => ({
      find: (kind, id) => wire.ask('people.find', () => as(stored.get(placeOf(kind, id)))),
      findByKey: (kind, key) => wire.ask('people.findByKey', () => as(holderOf(kind, key))),
      list: (kind, { of }, limit, cursor) =>
        wire.ask('people.list', () =>
          pageOf(
            [...stored.values()].filter((one) => one.kind === kind && (of === undefined || one.of === of)),
            ({ id }) => [0, id],
            (one) => structuredClone(one) as PeopleRecord<typeof kind>,
            limit,
            cursor,
          ),
        ),
      replace: (record) =>
        wire.ask('people.replace', () => replace(record), {
          writes: true,
          about: () => `${record.kind} ${record.id} v${record.version}`,
        }),
      remove: (kind, id) =>
        wire.ask('people.remove', () => removeWhere((one) => one.kind === kind && one.id === id) > 0, { writes: true }),
      removeOf: (kind, of, but) =>
        wire.ask('people.removeOf', () => removeWhere((one) => one.kind === kind && one.of === of && one.id !== but), {
          writes: true,
        }),
      removeEnded: (before, limit) =>
        wire.ask('people.removeEnded', () => removeWhere(({ endsAt }) => endsAt !== null && endsAt < before, limit), {
          writes: true,
        }),
    }),
  };
}
