import type { SentEntry, SentToPerson } from '@carillon/domain/cadence';
import type { DeliveryId, TriggerId } from '@carillon/kernel';
import { createDirectWire, createMemoryDocuments, createMemoryStores } from '@carillon/testing/memory';
import { allPages, freshName } from '@carillon/testing';
import { describe, expect, it } from 'vitest';
import { COLLECTIONS, createStores, MOVED_LINES, removeExpired } from '../src/index.ts';

const entry = (token: string, more: Partial<SentEntry> = {}): SentEntry => ({
  deliveryId: `dlv_${token}` as DeliveryId,
  token,
  triggerId: `trg_${token}` as TriggerId,
  notificationId: 'ntf_paid',
  category: null,
  channel: 'email',
  at: 1,
  sure: false,
  ...more,
});

const document = (
  workspace: string,
  person: string,
  revision: string,
  more: Partial<SentToPerson> = {},
): SentToPerson => ({ workspace, person, revision, entries: [entry('a')], keptUntil: 10, ...more });

describe('Limits', () => {
  const store = createMemoryStores().connect().limits;

  it('finds the document of a person by workspace and name, as it was written', async () => {
    const workspace = freshName('shop');
    const ada = document(workspace, 'ada@example.com', 'r1', {
      entries: [entry('a', { category: 'orders', sure: true }), entry('b', { channel: 'sms', at: 2 })],
    });
    expect(await store.find(workspace, 'ada@example.com')).toBeNull();
    expect(await store.replace(ada, null)).toBe('done');
    expect(await store.find(workspace, 'ada@example.com')).toEqual(ada);
    expect(await store.find(workspace, 'ADA@example.com')).toBeNull();
    expect(await store.find(freshName('other'), 'ada@example.com')).toBeNull();
  });

  it('writes over the expected revision only', async () => {
    const workspace = freshName('shop');
    const first = document(workspace, 'ada', 'r1');
    const second = document(workspace, 'ada', 'r2', { entries: [] });
    expect(await store.replace(second, 'r1')).toBe('stale');
    expect(await store.find(workspace, 'ada')).toBeNull();
    expect(await store.replace(first, null)).toBe('done');
    expect(await store.replace(second, null)).toBe('stale');
    expect(await store.replace(second, 'r0')).toBe('stale');
    expect(await store.find(workspace, 'ada')).toEqual(first);
    expect(await store.replace(second, 'r1')).toBe('done');
    expect(await store.replace(document(workspace, 'ada', 'r3'), 'r1')).toBe('stale');
    expect(await store.find(workspace, 'ada')).toEqual(second);
  });

  it('lets one of many concurrent writers win, of the first revision and of a later one', async () => {
    const workspace = freshName('shop');
    for (const before of [null, 'r0']) {
      const person = `person of ${before}`;
      if (before !== null) await store.replace(document(workspace, person, before), null);
      const many = Array.from({ length: 8 }, (_, at) => document(workspace, person, `r${at + 1}`));
      const answers = await Promise.all(many.map((one) => store.replace(one, before)));
      expect(answers.filter((answer) => answer === 'done')).toHaveLength(1);
      expect(await store.find(workspace, person)).toEqual(many[answers.indexOf('done')]);
    }
  });

  it('keeps a document of a thousand entries', async () => {
    const workspace = freshName('shop');
    const entries = Array.from({ length: 1000 }, (_, at) => entry(`t${at}`, { at }));
    const long = document(workspace, 'ada', 'r1', { entries });
    await store.replace(long, null);
    expect(await store.find(workspace, 'ada')).toEqual(long);
  });

  it('lists pages that neither repeat nor skip while documents come and change', async () => {
    const workspace = freshName('shop');
    const made = Array.from({ length: 5 }, (_, at) => `person ${at}`);
    for (const person of made) await store.replace(document(workspace, person, 'r0'), null);
    let revision = 0;
    const seen = await allPages(
      (cursor) => store.list(workspace, 2, cursor),
      async () => {
        await store.replace(document(workspace, freshName('new'), 'r0'), null);
        await store.replace(document(workspace, 'person 0', `r${revision + 1}`), `r${revision}`);
        revision += 1;
      },
    );
    const persons = seen.map(({ person }) => person).filter((person) => made.includes(person));
    expect(persons.toSorted()).toEqual(made);
    expect((await store.list(undefined, 3)).items).toHaveLength(3);
  });

  it('removes a document one day after no limit applies to its entries', async () => {
    const documents = createMemoryDocuments().connect(createDirectWire());
    const { limits } = createStores(documents);
    await limits.replace(document('shop', 'ada', 'r1', { keptUntil: 10 }), null);
    await limits.replace(document('shop', 'bob', 'r1', { keptUntil: 11 }), null);
    expect(await removeExpired(documents, 86_400_000 + 11)).toBe(1);
    expect(await limits.find('shop', 'ada')).toBeNull();
    expect(await limits.find('shop', 'bob')).not.toBeNull();
  });

  it('carries entries of a newer folder over at a restore', () => {
    const carryOver = COLLECTIONS.find(({ name }) => name === 'limit_entries')?.restore?.carryOver;
    if (typeof carryOver !== 'function') throw new Error('limits are not carried over');
    const ours = document('shop', 'ada', 'r1');
    const theirs = document('shop', 'ada', 'r2', { entries: [entry('a'), entry('b')] });
    expect(carryOver(theirs, null, 0)).toEqual(theirs);
    expect(carryOver(theirs, ours, 0)).toMatchObject({ entries: [entry('a'), entry('b')] });
    expect(carryOver(ours, theirs, 0)).toBeNull();
  });

  it('moves entries to another deployment once, beside those that are there', async () => {
    const [from, to] = [createMemoryStores().connect(), createMemoryStores().connect()];
    const line = MOVED_LINES.find(({ name }) => name === 'sent');
    await from.limits.replace(document('shop', 'ada', 'r1', { entries: [entry('a'), entry('b')] }), null);
    await to.limits.replace(document('shop', 'ada', 'r9', { entries: [entry('b'), entry('c')] }), null);
    const written: unknown[] = [];
    for (let round = 0; line && round < 2; round += 1) {
      for await (const item of line.read(from)) written.push(await line.write(to, item));
    }
    expect(written).toEqual([true, false]);
    const tokens = (await to.limits.find('shop', 'ada'))?.entries.map(({ token }) => token);
    expect(tokens?.toSorted()).toEqual(['a', 'b', 'c']);
  });
});
