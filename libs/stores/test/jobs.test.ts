import { cancelled, newJob, reported, taken, type Job, type JobWork } from '@carillon/domain/jobs';
import type { JobId } from '@carillon/kernel';
import type { JobStore } from '@carillon/ports';
import { describe, expect, it } from 'vitest';
import { allPages } from '@carillon/testing';
import { freshName } from '@carillon/testing';
import { createMemoryStores } from '@carillon/testing/memory';

const freshId = (): JobId => freshName('job') as JobId;
const RESEND: JobWork = { action: 'resend_deliveries' };

const jobOf = (workspace: string | null, at: number, of = 3, work = RESEND): Job =>
  newJob(
    {
      id: freshId(),
      workspace,
      work,
      by: { kind: 'person', id: 'per_ada' },
      byName: 'per_ada',
      from: { address: '192.0.2.7', userAgent: null },
      requestId: 'req_1',
      of,
    },
    at,
  );

describe('Jobs', () => {
  const store = createMemoryStores().connect().jobs;

  it('stores a job with its items in order, and finds both by its id', async () => {
    const job = jobOf(freshName('shop'), 10);
    const items = ['dlv_3', 'dlv_1', 'Grüße ✓', 'dlv_2'];
    expect(await store.get(job.id)).toBeNull();
    expect(await store.items(job.id)).toEqual([]);
    expect(await store.insert(job, items)).toBe('done');
    expect(await store.get(job.id)).toEqual(job);
    expect(await store.items(job.id)).toEqual(items);
  });

  it('keeps an existing job and its items if another one has its id', async () => {
    const job = jobOf(freshName('shop'), 10);
    await store.insert(job, ['one']);
    expect(await store.insert({ ...job, workspace: 'other' }, ['two'])).toBe('taken');
    expect(await store.get(job.id)).toEqual(job);
    expect(await store.items(job.id)).toEqual(['one']);
  });

  it('writes only over the expected version, for one of many concurrent writers', async () => {
    const job = jobOf(freshName('shop'), 10);
    expect(await store.replace(taken(job, 'a', 20, 30))).toBe('stale');
    await store.insert(job, ['one', 'two', 'three']);
    const runners = Array.from({ length: 8 }, (_, at) => taken(job, `runner-${at}`, 20, 30));
    const answers = await Promise.all(runners.map((one) => store.replace(one)));
    expect(answers.filter((answer) => answer === 'done')).toHaveLength(1);
    const held = runners[answers.indexOf('done')];
    expect(await store.get(job.id)).toEqual(held);
    if (!held) throw new Error('nobody holds it');
    const further = reported(held, [null, { item: 'two', code: 'not_found', detail: 'gone' }], 25, 40);
    expect(await store.replace(further)).toBe('done');
    expect(await store.replace(further)).toBe('stale');
    expect(await store.get(job.id)).toEqual(further);
    expect(await store.items(job.id)).toEqual(['one', 'two', 'three']);
  });

  it('lists unfinished jobs, the oldest first', async () => {
    const workspace = freshName('shop');
    const [late, early, over] = [jobOf(workspace, 30), jobOf(workspace, 10), jobOf(workspace, 5)];
    for (const job of [late, early, over]) await store.insert(job, ['one']);
    const gone = cancelled(over, { kind: 'person', id: 'per_ada' }, 20);
    if (!gone) throw new Error('it could not be cancelled');
    expect(await store.replace(gone)).toBe('done');
    const unfinished = (await store.unfinished(10_000)).filter((job) => job.workspace === workspace);
    expect(unfinished.map(({ id }) => id)).toEqual([early.id, late.id]);
    expect(await store.unfinished(1)).toHaveLength(1);
    const promotion = jobOf(workspace, 5, 1, { action: 'promote' });
    await store.insert(promotion, ['one']);
    const ofActions = async (...actions: string[]) =>
      (await store.unfinished(10_000, actions)).filter((job) => job.workspace === workspace).map(({ id }) => id);
    expect(await ofActions('resend_deliveries')).toEqual([early.id, late.id]);
    expect(await ofActions('promote')).toEqual([promotion.id]);
  });

  it('lists by workspace, state and action, the newest first, in pages that neither repeat nor skip', async () => {
    const workspace = freshName('shop');
    const made: Job[] = [];
    for (const at of [1, 2, 2, 4, 5]) {
      const job = jobOf(workspace, at);
      await store.insert(job, ['one']);
      made.push(job);
    }
    await store.insert(jobOf(freshName('other'), 3), ['one']);
    await store.insert(jobOf(null, 3), ['one']);
    const seen = await allPages(
      (cursor) => store.list({ workspace }, 2, cursor),
      async () => {
        await store.insert(jobOf(workspace, 9), ['one']);
        const first = made[0] ? await store.get(made[0].id) : null;
        if (first) await store.replace(taken(first, 'a', 20, 30));
      },
    );
    expect(seen.map(({ createdAt }) => createdAt)).toEqual([5, 4, 2, 2, 1]);
    expect(new Set(seen.map(({ id }) => id)).size).toBe(5);
    const of = async (filter: Parameters<JobStore['list']>[0]) =>
      (await store.list({ workspace, ...filter }, 100)).items.length;
    expect(await of({ states: ['running'] })).toBe(1);
    expect(await of({ states: ['running', 'waiting'] })).toBeGreaterThan(5);
    expect(await of({ states: [] })).toBe(0);
    expect(await of({ actions: ['promote'] })).toBe(0);
    expect(await of({ actions: ['promote', 'resend_deliveries'], states: ['running'] })).toBe(1);
  });

  it('removes jobs that ended before a time with their items, and never unfinished ones', async () => {
    const workspace = freshName('shop');
    const [over, open] = [jobOf(workspace, 10, 1), jobOf(workspace, 10)];
    for (const job of [over, open]) await store.insert(job, ['one']);
    await store.replace(reported(over, [null], 20, null));
    await store.removeEnded(20, 1000);
    expect(await store.get(over.id)).not.toBeNull();
    expect(await store.removeEnded(21, 1000)).toBeGreaterThanOrEqual(1);
    expect(await store.get(over.id)).toBeNull();
    expect(await store.items(over.id)).toEqual([]);
    expect(await store.get(open.id)).toEqual(open);
  });

  it('stores ten thousand items', async () => {
    const items = Array.from({ length: 10_000 }, (_, at) => `dlv_37G5398XK2YK0SPEA596${at}`);
    const job = jobOf(freshName('shop'), 10, items.length);
    await store.insert(job, items);
    expect(await store.items(job.id)).toEqual(items);
    expect((await store.list({ workspace: job.workspace ?? '' }, 1)).items).toEqual([job]);
  });
});
