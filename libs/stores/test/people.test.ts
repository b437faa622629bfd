import type { Guesses, PeopleRecord, Person, Session } from '@carillon/domain/people';
import { describe, expect, it } from 'vitest';
import { allPages, freshName } from '@carillon/testing';
import { createMemoryStores } from '@carillon/testing/memory';

const PERSON: Person = {
  name: 'Ada',
  email: 'Ada@example.com',
  state: 'active',
  memberships: [{ workspace: 'shop', role: 'editor' }],
  password: { hash: '$argon2id$…', setAt: 1 },
  totp: null,
  recoveryCodes: ['a', 'b'],
  epoch: 3,
  createdAt: 1,
};
const person = (id: string, more: Partial<PeopleRecord<'person'>> = {}): PeopleRecord<'person'> => ({
  kind: 'person',
  id,
  version: 1,
  key: null,
  of: null,
  endsAt: null,
  body: PERSON,
  ...more,
});

const SESSION: Session = {
  personId: 'per_1',
  epoch: 3,
  way: 'password',
  createdAt: 1,
  usedAt: 1,
  from: { address: '127.0.0.1', agent: 'a browser' },
};
const session = (id: string, of: string, more: Partial<PeopleRecord<'session'>> = {}): PeopleRecord<'session'> => ({
  kind: 'session',
  id,
  version: 1,
  key: `digest of ${id}`,
  of,
  endsAt: null,
  body: SESSION,
  ...more,
});

describe('People', () => {
  const store = createMemoryStores().connect().people;

  it('finds a record by its id and by its key, within its kind', async () => {
    const [id, key] = [freshName('per'), freshName('ada')];
    const ada = person(id, { key });
    expect(await store.replace(ada)).toBe('done');
    expect(await store.find('person', id)).toEqual(ada);
    expect(await store.findByKey('person', key)).toEqual(ada);
    expect(await store.find('session', id)).toBeNull();
    expect(await store.findByKey('session', key)).toBeNull();
    expect(await store.find('person', freshName('nobody'))).toBeNull();
    expect(await store.findByKey('person', freshName('nobody'))).toBeNull();
  });

  it('stores every character and number of a record', async () => {
    const id = freshName('per');
    const body: Person = { ...PERSON, name: '"ada"\n—\u{1f514} אדה', createdAt: 8_640_000_000_000_000 };
    await store.replace(person(id, { body }));
    expect((await store.find('person', id))?.body).toEqual(body);
  });

  it('writes by compare-and-set, so that one of two concurrent writers gets stale', async () => {
    const id = freshName('per');
    expect(await store.replace(person(id, { version: 2 }))).toBe('stale');
    const first = await Promise.all([store.replace(person(id)), store.replace(person(id))]);
    expect(first.toSorted()).toEqual(['done', 'stale']);
    const next = (epoch: number) => person(id, { version: 2, body: { ...PERSON, epoch } });
    const second = await Promise.all([store.replace(next(4)), store.replace(next(5))]);
    expect(second.toSorted()).toEqual(['done', 'stale']);
    expect((await store.find('person', id))?.body.epoch).toBe(second[0] === 'done' ? 4 : 5);
  });

  it('gives a key to one record of a kind, also if several claim it at once', async () => {
    const key = freshName('ada');
    const ids = [freshName('per'), freshName('per'), freshName('per')];
    const answers = await Promise.all(ids.map((id) => store.replace(person(id, { key }))));
    expect(answers.toSorted()).toEqual(['done', 'taken', 'taken']);
    expect(await store.replace(session(freshName('ses'), 'per_1', { key }))).toBe('done');
  });

  it('refuses a key of another record to an existing record, and frees the key that it gives up', async () => {
    const [one, two] = [freshName('per'), freshName('per')];
    const [ada, bob] = [freshName('ada'), freshName('bob')];
    await store.replace(person(one, { key: ada }));
    await store.replace(person(two, { key: bob }));
    expect(await store.replace(person(two, { key: ada, version: 2 }))).toBe('taken');
    expect((await store.find('person', two))?.key).toBe(bob);
    expect(await store.replace(person(one, { key: null, version: 2 }))).toBe('done');
    expect(await store.findByKey('person', ada)).toBeNull();
    expect(await store.replace(person(two, { key: ada, version: 2 }))).toBe('done');
    expect((await store.findByKey('person', ada))?.id).toBe(two);
  });

  it('lists the records of a person in pages, while others arrive and leave', async () => {
    const [ada, bob] = [freshName('per'), freshName('per')];
    const made = Array.from({ length: 5 }, () => freshName('ses'));
    for (const id of made) await store.replace(session(id, ada));
    const seen = await allPages(
      (cursor) => store.list('session', { of: ada }, 2, cursor),
      async () => store.replace(session(freshName('ses'), bob)),
    );
    expect(seen.map(({ id }) => id).toSorted()).toEqual(made.toSorted());
    expect((await store.list('session', {}, 3)).items).toHaveLength(3);
    await expect(store.list('session', { of: ada }, 2, 'forged')).rejects.toThrow('cursor');
  });

  it('removes one record, or all records of a kind and person except one', async () => {
    const [ada, bob] = [freshName('per'), freshName('per')];
    const [first, second, third, other] = [freshName('ses'), freshName('ses'), freshName('ses'), freshName('ses')];
    for (const id of [first, second, third]) await store.replace(session(id, ada));
    await store.replace(session(other, bob));
    expect(await store.remove('session', first)).toBe(true);
    expect(await store.remove('session', first)).toBe(false);
    expect(await store.removeOf('session', ada, second)).toBe(1);
    expect(await store.find('session', second)).not.toBeNull();
    expect(await store.removeOf('session', ada)).toBe(1);
    expect(await store.find('session', other)).not.toBeNull();
  });

  it('treats a removed record as missing: a write of its next version is stale, and its key is free', async () => {
    const [id, key] = [freshName('per'), freshName('ada')];
    await store.replace(person(id, { key }));
    await store.remove('person', id);
    expect(await store.replace(person(id, { version: 2, key }))).toBe('stale');
    expect(await store.replace(person(freshName('per'), { key }))).toBe('done');
  });

  it('removes expired records, and none without an expiry or with a later one', async () => {
    const body: Guesses = { count: 1, since: 1 };
    const ending = (id: string, endsAt: number | null): PeopleRecord<'guesses'> => ({
      kind: 'guesses',
      id,
      version: 1,
      key: null,
      of: null,
      endsAt,
      body,
    });
    const [old, later, never] = [freshName('g'), freshName('g'), freshName('g')];
    await store.replace(ending(old, 10));
    await store.replace(ending(later, 4_000_000_000_000));
    await store.replace(ending(never, null));
    expect(await store.removeEnded(11, 1000)).toBeGreaterThan(0);
    expect(await store.find('guesses', old)).toBeNull();
    expect(await store.find('guesses', later)).not.toBeNull();
    expect(await store.find('guesses', never)).not.toBeNull();
    expect(await store.removeEnded(11, 1000)).toBe(0);
  });
});
