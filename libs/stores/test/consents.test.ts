import type { Consents, ConsentEntry } from '@carillon/domain/consent';
import { describe, expect, it } from 'vitest';
import { allPages, freshName } from '@carillon/testing';
import { createMemoryStores } from '@carillon/testing/memory';

const word = (workspace: string, person: string, more: Partial<ConsentEntry> = {}): ConsentEntry => ({
  id: 'cns_1',
  workspace,
  person,
  target: { kind: 'category', name: 'orders' },
  channel: 'email',
  optedOut: true,
  way: 'page',
  at: 1,
  ...more,
});

const consents = (workspace: string, person: string, more: Partial<Consents> = {}): Consents => ({
  workspace,
  person,
  version: 1,
  words: [word(workspace, person)],
  unpublished: [],
  updatedAt: 1,
  ...more,
});

describe('Consents', () => {
  const store = createMemoryStores().connect().consents;

  it('finds documents by workspace and any of several names, in one query', async () => {
    const workspace = freshName('shop');
    const ada = consents(workspace, 'ada@example.com');
    const bob = consents(workspace, 'user 2');
    expect(await store.replace(ada)).toBe('done');
    expect(await store.replace(bob)).toBe('done');
    expect(await store.find(workspace, ['ada@example.com'])).toEqual([ada]);
    expect(await store.find(workspace, ['user 2', 'nobody', 'ada@example.com'])).toHaveLength(2);
    expect(await store.find(workspace, ['ada@example.com', 'ada@example.com'])).toEqual([ada]);
    expect(await store.find(workspace, ['ADA@example.com'])).toEqual([]);
    expect(await store.find(workspace, [])).toEqual([]);
    expect(await store.find(freshName('other'), ['ada@example.com'])).toEqual([]);
  });

  it('writes only over the expected version', async () => {
    const workspace = freshName('shop');
    const first = consents(workspace, 'ada');
    expect(await store.replace({ ...first, version: 2 })).toBe('stale');
    expect(await store.replace(first)).toBe('done');
    expect(await store.replace(first)).toBe('stale');
    const second = { ...first, version: 2, words: [word(workspace, 'ada', { optedOut: false, at: 2 })] };
    expect(await store.replace({ ...first, version: 3 })).toBe('stale');
    expect(await store.replace(second)).toBe('done');
    expect(await store.replace({ ...second, words: [] })).toBe('stale');
    expect(await store.find(workspace, ['ada'])).toEqual([second]);
  });

  it('lets one of many concurrent writers of a version win', async () => {
    const workspace = freshName('shop');
    const many = Array.from({ length: 8 }, (_, at) =>
      consents(workspace, 'ada', { words: [word(workspace, 'ada', { at })] }),
    );
    const answers = await Promise.all(many.map((one) => store.replace(one)));
    expect(answers.filter((answer) => answer === 'done')).toHaveLength(1);
    expect(await store.find(workspace, ['ada'])).toEqual([many[answers.indexOf('done')]]);
  });

  it('lists entries that may not be on the log, until they are removed', async () => {
    const workspace = freshName('shop');
    const said = word(workspace, 'ada');
    const waiting = consents(workspace, 'ada', { unpublished: [said], updatedAt: 10 });
    await store.replace(waiting);
    await store.replace(consents(workspace, 'bob', { updatedAt: 10 }));
    const ours = async (before: number) =>
      (await store.unpublished(before, 1000)).filter((one) => one.workspace === workspace);
    expect(await ours(10)).toEqual([]);
    expect(await ours(11)).toEqual([waiting]);
    await store.replace({ ...waiting, version: 2, unpublished: [] });
    expect(await ours(11)).toEqual([]);
  });

  it('lists pages that neither repeat nor skip while documents arrive and change', async () => {
    const workspace = freshName('shop');
    const made = Array.from({ length: 5 }, (_, at) => `person ${at}`);
    for (const person of made) await store.replace(consents(workspace, person));
    let version = 1;
    const seen = await allPages(
      (cursor) => store.list(workspace, 2, cursor),
      async () => {
        version += 1;
        await store.replace(consents(workspace, freshName('new')));
        await store.replace(consents(workspace, 'person 0', { version }));
      },
    );
    const persons = seen.map(({ person }) => person).filter((person) => made.includes(person));
    expect(persons.toSorted()).toEqual(made);
    expect((await store.list(undefined, 3)).items).toHaveLength(3);
  });
});
