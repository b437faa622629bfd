import { COLLECTIONS, createStores } from '@carillon/stores';
import { expect, it } from 'vitest';
import { describeWith } from '../../../../test/support/requirements.ts';
import { usePlayground } from './open-mongo.ts';

describeWith('mongodb', 'rows of read models and tasks in MongoDB', () => {
  const playground = usePlayground();

  it('are removed when their retention ends, in more than one step, and no others are', async () => {
    const stores = await playground.open({ clock: { now: () => 50 } });
    const event = (offset: number, at: number) => ({
      id: `evt-${offset}`,
      workspace: 'shop',
      stream: 'shop/orders',
      partition: 0,
      offset,
      at,
      bytes: 1,
      configNumber: 1,
      reused: false,
      traceId: null,
    });
    await stores.readModels.put({ events: Array.from({ length: 2100 }, (_, at) => event(at, at < 2099 ? 10 : 100)) });
    const evaluation = { partition: 0, from: 0, to: 1, configNumber: 1, workspace: 'shop', rule: 'r', fired: 1 };
    await stores.readModels.put({
      evaluations: [{ ...evaluation, failed: 0, sampleEventId: null, sampleError: null }],
    });
    const buyers = { workspace: 'shop', integration: 'crm', cohort: 'buyers' };
    const newest = { time: 10, offset: 1 };
    await stores.cohorts.saveMembers(buyers, [
      { user: 'ada', inside: true, since: 10, newest, offset: 1 },
      { user: 'bob', inside: false, since: null, newest, offset: 1 },
    ]);
    const seen = { workspace: 'shop', stream: 'shop/orders', partition: 0, offset: 0, count: 1, sample: null };
    const field = { ...seen, types: ['null'], tables: [], firstAt: 1 } as const;
    await stores.readModels.put({
      fields: [
        { ...field, path: 'gone', lastAt: 10 },
        { ...field, path: 'still', lastAt: 100 },
      ],
    });
    const policy = { events: 100, evaluations: 100, leftCohorts: 100, tasks: null, claims: null };
    expect(await stores.applyRetention(200, policy)).toBe(2102);
    expect((await stores.readModels.fields('shop/orders')).map(({ path }) => path)).toEqual(['still']);
    expect((await stores.cohorts.members(buyers, ['ada', 'bob'])).map(({ user }) => user)).toEqual(['ada']);
    expect((await stores.readModels.events({}, 10)).items.map(({ id }) => id)).toEqual(['evt-2099']);
    expect(await stores.readModels.evaluations('shop', 'r', 10)).toEqual([]);
    expect(await stores.applyRetention(200, policy)).toBe(0);
  });

  it('of partner questions are removed together with their log records: finished tasks, and used answers', async () => {
    const stores = await playground.open();
    const queue = { job: 'ask', workspace: 'shop', name: 'crm' } as const;
    const task = { queue, deadline: null, version: 1, leaseUntil: null, data: '{}' };
    await stores.tasks.insert([
      { ...task, id: 'done', nextAt: 10, done: true },
      { ...task, id: 'done-later', nextAt: 100, done: true },
      { ...task, id: 'open', nextAt: 10, done: false },
    ]);
    await stores.claims.claim([
      { triggerId: 'old', position: 'p', at: 10 },
      { triggerId: 'new', position: 'p', at: 100 },
    ]);
    expect(
      await stores.applyRetention(150, {
        events: null,
        evaluations: null,
        leftCohorts: null,
        tasks: 100,
        claims: 100,
      }),
    ).toBe(2);
    expect(
      await Promise.all(['done', 'done-later', 'open'].map(async (id) => (await stores.tasks.get(id)) !== null)),
    ).toEqual([false, true, true]);
    expect(await stores.claims.get('old')).toBeNull();
    expect(await stores.claims.get('new')).not.toBeNull();
  });

  it('are not listed from a forged list cursor', async () => {
    const { documents, ledger } = await playground.open({ collections: COLLECTIONS });
    const { inbox } = createStores(documents);
    for (const cursor of [
      '',
      'x',
      Buffer.from('[1,{"$gt":""}]').toString('base64url'),
      Buffer.from('[1]').toString('base64url'),
    ]) {
      await expect(inbox.list({}, 1, cursor)).rejects.toMatchObject({ code: 'invalid_request' });
      await expect(ledger.list({}, 1, cursor)).rejects.toMatchObject({ code: 'invalid_request' });
    }
  });

  it('are found by plain values, never by database operators inside a value', async () => {
    const { ledger, readModels } = await playground.open();
    const operator = { $ne: null } as unknown as string;
    expect((await ledger.list({ uniqueId: operator }, 1)).items).toEqual([]);
    expect((await readModels.events({ workspace: operator }, 1)).items).toEqual([]);
    expect(await readModels.event(operator)).toEqual([]);
    expect(await readModels.fields(operator)).toEqual([]);
  });
});
