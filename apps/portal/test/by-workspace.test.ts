import { describe, expect, it } from 'vitest';
import {
  beginEach,
  groupsOf,
  inWords,
  peopleInWords,
  sumOfCounts,
  sumOfJobs,
} from '../src/screens/jobs/by-workspace.ts';

describe('rows that were chosen in several workspaces', () => {
  it('are grouped by workspace, without rows of no workspace', () => {
    const rows = [
      { workspace: 'shop', id: 'a' },
      { workspace: 'care', id: 'b' },
      { workspace: null, id: 'c' },
      { workspace: 'shop', id: 'd' },
    ];
    expect(groupsOf(rows)).toEqual([
      { workspace: 'shop', ids: ['a', 'd'] },
      { workspace: 'care', ids: ['b'] },
    ]);
  });

  it('are counted as one', () => {
    const counts = [
      { count: 2, people: 1, by_state: { FAILED: 2 }, more: false, ceiling: 10 },
      { count: 3, people: 3, by_state: { FAILED: 1, EXPIRED: 2 }, more: true, ceiling: 10 },
    ];
    expect(sumOfCounts(counts)).toEqual({
      count: 5,
      people: 4,
      by_state: { FAILED: 3, EXPIRED: 2 },
      more: true,
      ceiling: 10,
    });
    expect([inWords(1), inWords(2)]).toEqual(['', ' in 2 workspaces']);
    expect([peopleInWords(1, 1), peopleInWords(4, 2)]).toEqual([
      '1 person',
      '4 people in 2 workspaces, counted in each',
    ]);
  });

  it('start one job per workspace; a refused one does not stop the others, and only if all are refused it fails', async () => {
    const groups = [{ workspace: 'shop' }, { workspace: 'care' }];
    const refusing = (...names: readonly string[]) =>
      beginEach(groups, ({ workspace }) =>
        names.includes(workspace) ? Promise.reject(new Error(`no ${workspace}`)) : Promise.resolve({ id: workspace }),
      );
    expect(await refusing()).toEqual({
      jobs: groups.map(({ workspace }) => ({ workspace, id: workspace })),
      refused: [],
    });
    expect(await refusing('shop')).toEqual({
      jobs: [{ workspace: 'care', id: 'care' }],
      refused: [{ workspace: 'shop', why: 'no shop' }],
    });
    await expect(refusing('shop', 'care')).rejects.toThrow('no shop');
  });
});

describe('jobs that run side by side', () => {
  const job = (state: 'waiting' | 'running' | 'done' | 'cancelled' | 'failed', done = 0, failed = 0) => ({
    state,
    of: 2,
    done,
    failed,
    ended_at: state === 'waiting' || state === 'running' ? null : '2026-11-26T07:00:00Z',
  });
  it.each([
    [[job('waiting'), job('waiting')], 'waiting', false],
    [[job('waiting'), job('done', 2)], 'running', false],
    [[job('done', 2), job('done', 2)], 'done', true],
    [[job('done', 2), job('failed', 0, 2)], 'done', true],
    [[job('failed', 0, 2), job('failed', 0, 2)], 'failed', true],
    [[job('done', 2), job('cancelled', 1)], 'cancelled', true],
  ])('%j are together %s', (jobs, state, isOver) => {
    expect(sumOfJobs(jobs)).toMatchObject({ state, isOver, of: 4 });
  });
});
