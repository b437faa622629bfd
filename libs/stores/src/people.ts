import { ROSTER_ID, type PeopleKind, type PeopleRecord } from '@carillon/domain/people';
import { parseJson } from '@carillon/kernel';
import { integer, text, type Collection, type Documents, type PeopleStore } from '@carillon/ports';
import { readAll, writeNext } from './documents.ts';
import { pagesOf, type Move } from './move.ts';

const ENDED: ReadonlySet<PeopleKind> = new Set(['session', 'guesses', 'mailed_link']);

const PEOPLE: Collection<PeopleRecord> = {
  name: 'people',
  key: ['kind', 'id'],
  version: { field: 'version', kind: 'counter' },
  fields: {
    kind: text(({ kind }) => kind),
    id: text(({ id }) => id),
    version: integer(({ version }) => version),
    key: text(({ key }) => key ?? undefined, 'lookup_key'),
    of: text((record) => record.of ?? undefined, 'belongs_to'),
    endsAt: integer(({ endsAt }) => endsAt ?? undefined),
  },
  unique: { key: ['kind', 'key'] },
  indexes: {
    kind: { by: ['kind', '_id'] },
    of: { by: ['of', 'kind', '_id'], present: ['of'] },
    ends: { by: ['endsAt'], present: ['endsAt'] },
  },
  expiry: { field: 'endsAt', kept: 0 },
  restore: {
    // People removed since the backup stay removed.
    carryOver: 'all',
    // Sessions that ended after the backup would become valid again, and used mailed links would work twice. Both are
    // removed, and people sign in again.
    settle(record) {
      if (ENDED.has(record.kind)) return null;
      return record.kind === 'roster' ? { ...record, body: { ...record.body, link: null } } : record;
    },
  },
  read: ({ body }) => parseJson(body as string) as unknown as PeopleRecord,
};

/** What is stored under a kind is a record of that kind. */
const as = <Kind extends PeopleKind>(record: PeopleRecord | null) => record as PeopleRecord<Kind> | null;

function create(documents: Documents): PeopleStore {
  const people = documents.collection(PEOPLE);
  return {
    find: async <Kind extends PeopleKind>(kind: Kind, id: string) => as<Kind>(await people.get([kind, id])),
    findByKey: async <Kind extends PeopleKind>(kind: Kind, key: string) =>
      as<Kind>(await people.findUnique('key', [kind, key])),
    async list<Kind extends PeopleKind>(kind: Kind, { of }: { readonly of?: string }, limit: number, cursor?: string) {
      const page = await people.page({ index: 'kind', where: { kind, of }, order: 'ascending' }, limit, cursor);
      return { ...page, items: page.items as readonly PeopleRecord<Kind>[] };
    },
    replace: (record) => writeNext(people, record),
    async remove(kind, id) {
      return (await people.remove([kind, id])) === 'done';
    },
    async removeOf(kind, of, but) {
      const found = await readAll(people, { index: 'kind', where: { kind, of } });
      const others = found.filter(({ id }) => id !== but);
      const answers = await Promise.all(others.map(({ id }) => people.remove([kind, id])));
      return answers.filter((answer) => answer === 'done').length;
    },
    removeEnded: (before, limit) => people.removeExpired(before, limit),
  };
}

/** Sessions are not moved, so people sign in again. Owners are moved last, after their people. */
async function* moved(store: PeopleStore): AsyncGenerator<PeopleRecord> {
  for (const kind of ['person', 'identity', 'token', 'invitation'] as const)
    yield* pagesOf((limit, cursor) => store.list(kind, {}, limit, cursor));
  const roster = await store.find('roster', ROSTER_ID);
  if (roster) yield { ...roster, body: { ...roster.body, link: null } };
}

/** People who exist in the target stay unchanged. Owners of either deployment become owners. */
async function writeMoved(store: PeopleStore, record: PeopleRecord): Promise<boolean> {
  if (record.kind !== 'roster') return (await store.replace({ ...record, version: 1 })) === 'done';
  const { owners: theirs } = (record as PeopleRecord<'roster'>).body;
  for (;;) {
    const before = await store.find('roster', record.id);
    const owners = [...(before?.body.owners ?? [])];
    for (const id of theirs) if (!owners.includes(id) && (await store.find('person', id))) owners.push(id);
    if (before && owners.length === before.body.owners.length) return false;
    const body = { owners, link: before?.body.link ?? null };
    const next = { ...record, version: (before?.version ?? 0) + 1, body };
    if ((await store.replace(next)) === 'done') return true;
  }
}

const move: Move<PeopleStore, PeopleRecord> = { read: moved, write: writeMoved };

export const people = { collections: [PEOPLE], create, moves: { people: move } };
