import { OWNER_ACTOR } from '@carillon/domain/people';
import type { Row, CompareRun, RunLookup } from '@carillon/domain/runs';
import type { DeliveryId, EventId, JobId, LogId, RunId } from '@carillon/kernel';
import { allPages, freshName } from '@carillon/testing';
import { createMemoryStores } from '@carillon/testing/memory';
import { describe, expect, it } from 'vitest';

const runOf = (workspace: string, createdAt: number): CompareRun => ({
  id: freshName('run') as RunId,
  workspace,
  kind: 'compare',
  by: OWNER_ACTOR,
  from: 0,
  to: 100,
  logStartsAt: null,
  logId: 'log_1' as LogId,
  offsets: [{ partition: 0, first: 0, end: 9 }],
  before: 3,
  published: 3,
  changes: [],
  notifications: ['order-paid'],
  notCompared: [],
  leftOut: [],
  progress: { read: 0, total: 9 },
  counts: null,
  checksum: null,
  job: freshName('job') as JobId,
  createdAt,
  version: 1,
});

const rowOf = (run: RunId, facts: Partial<Row> = {}): Row => ({
  run,
  slot: freshName('dlv') as DeliveryId,
  difference: 'added',
  oldSlot: null,
  ruleId: 'rul_1',
  rule: 'order-paid.paid',
  channel: 'email',
  eventId: 'evt_1' as EventId,
  position: 'carillon.events/0@1',
  at: 50,
  day: '2026-11-29',
  person: 'hash',
  slotState: 'none',
  slotReason: null,
  ...facts,
});

const lookupOf = (run: RunId, event: number, rule = 'order-paid.paid'): RunLookup => ({
  run,
  eventId: `evt_${event}` as EventId,
  position: `carillon.events/0@${event}`,
  at: event,
  rule,
  userIds: 2,
});

const nothing = async (): Promise<void> => undefined;

describe('Runs', () => {
  const store = createMemoryStores().connect().runs;

  it('stores a run, and replaces only the version that was read', async () => {
    const run = runOf(freshName('shop'), 10);
    expect(await store.get(run.id)).toBeNull();
    expect(await store.insert(run, [])).toBe('done');
    expect(await store.insert({ ...run, workspace: 'other' }, [])).toBe('taken');
    const next: CompareRun = { ...run, version: 2, progress: { read: 4, total: 9 } };
    expect(await store.replace({ ...next, version: 3 })).toBe('stale');
    expect(await store.replace(next)).toBe('done');
    expect(await store.get(run.id)).toEqual(next);
  });

  it('keeps the edit of a run beside it, through every replacement', async () => {
    const run = runOf(freshName('shop'), 10);
    const ref = { kind: 'notification', workspace: run.workspace, name: 'order-paid' } as const;
    const edit = [{ ref, based_on: 3, body: null }];
    await store.insert(run, edit);
    await store.replace({ ...run, version: 2, progress: { read: 4, total: 9 } });
    expect(await store.edit(run.id)).toEqual(edit);
    expect(await store.edit(freshName('run') as RunId)).toEqual([]);
  });

  it('lists the runs of a workspace newest first, and of all workspaces those created before an instant', async () => {
    const workspace = freshName('shop');
    const made = [runOf(workspace, -30), runOf(workspace, -20), runOf(workspace, -10)];
    for (const run of made) await store.insert(run, []);
    await store.insert(runOf(freshName('club'), -25), []);
    const listed = await allPages((cursor) => store.list(workspace, 2, cursor), nothing);
    expect(listed).toEqual(made.toReversed());
    const old = await store.createdBefore(-15, 10);
    expect(old.map(({ createdAt }) => createdAt)).toEqual([-30, -25, -20]);
    expect(await store.createdBefore(-15, 1)).toHaveLength(1);
  });

  it('finds rows by run, difference, slot state, rule and day, in pages that neither repeat nor skip', async () => {
    const [run, other] = [freshName('run') as RunId, freshName('run') as RunId];
    const added = rowOf(run);
    const notified = rowOf(run, { slotState: 'notified', day: '2026-11-28' });
    const removed = rowOf(run, { difference: 'removed', rule: 'order-paid.late' });
    await store.addRows([added, removed, notified, rowOf(other)]);
    await store.addRows([added]);
    const all = await allPages((cursor) => store.rows({ run }, 1, cursor), nothing);
    expect(all).toEqual([added, notified, removed]);
    const found = async (filter: object) => (await store.rows({ run, ...filter }, 10)).items;
    expect(await found({ difference: 'added' })).toEqual([added, notified]);
    expect(await found({ slotState: 'none' })).toEqual([added, removed]);
    expect(await found({ rule: 'order-paid.late' })).toEqual([removed]);
    expect(await found({ day: '2026-11-28' })).toEqual([notified]);
    expect(await store.row(run, removed.slot)).toEqual(removed);
    expect(await store.row(other, removed.slot)).toBeNull();
  });

  it('lists the rows of an event next to each other', async () => {
    const run = freshName('run') as RunId;
    const rows = Array.from({ length: 12 }, (_, index) => rowOf(run, { eventId: `evt_${index % 3}` as EventId }));
    await store.addRows(rows);
    const { items } = await store.rows({ run }, 20);
    expect(items.map(({ eventId }) => eventId)).toEqual(rows.map(({ eventId }) => eventId).toSorted());
  });

  it('keeps each lookup of an event and rule once, in the order of event ids', async () => {
    const run = freshName('run') as RunId;
    const made = [lookupOf(run, 2), lookupOf(run, 1), lookupOf(run, 2, 'order-paid.late')];
    await store.addLookups(made);
    await store.addLookups(made);
    await store.addLookups([lookupOf(freshName('run') as RunId, 1)]);
    const all = await allPages((cursor) => store.lookups(run, 1, cursor), nothing);
    expect(all.map(({ eventId }) => eventId)).toEqual(['evt_1', 'evt_2', 'evt_2']);
    expect(all).toEqual(expect.arrayContaining(made));
  });

  it('removes rows and lookups up to a limit, and says how many', async () => {
    const run = freshName('run') as RunId;
    await store.addRows([rowOf(run), rowOf(run)]);
    await store.addLookups([lookupOf(run, 1), lookupOf(run, 2)]);
    expect(await store.removeSomeRows(run, 3)).toBe(3);
    expect((await store.rows({ run }, 10)).items).toEqual([]);
    expect((await store.lookups(run, 10)).items).toHaveLength(1);
    expect(await store.removeSomeRows(run, 3)).toBe(1);
    expect(await store.removeSomeRows(run, 3)).toBe(0);
    expect((await store.lookups(run, 10)).items).toEqual([]);
  });

  it('removes a run with all of its rows', async () => {
    const [run, other] = [runOf(freshName('shop'), 10), freshName('run') as RunId];
    await store.insert(run, []);
    await store.addRows(Array.from({ length: 501 }, () => rowOf(run.id)));
    const kept = rowOf(other);
    await store.addRows([kept]);
    await store.remove(run.id);
    await store.remove(run.id);
    expect(await store.get(run.id)).toBeNull();
    expect((await store.rows({ run: run.id }, 10)).items).toEqual([]);
    expect((await store.rows({ run: other }, 10)).items).toEqual([kept]);
  });
});
