import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { expectAccessible, expectToFit, picture } from '../portal/accessible.ts';
import { testScreens } from './test-screens.ts';

const DRAFTS = 'GET /v1/workspaces/{workspace}/drafts';
const PLAN = 'POST /v1/workspaces/{workspace}/drafts/plan';
const RUNS = 'GET /v1/workspaces/{workspace}/runs';
const START = 'POST /v1/workspaces/{workspace}/runs';
const CANCEL = 'POST /v1/workspaces/{workspace}/jobs/{id}/cancel';
const AT = '/workspaces/shop/drafts';

const SENTENCE =
  'Over the last 30 days, this edit would have added messages for 37 people. 363 messages are unchanged. Of the 37 people, 4 were already notified.';
const NONE = { added: 0, removed: 0, changed: 0, new_unique_id: 0 };

testScreens('the comparison of drafts with what is published', ({ api, open }) => {
  const card = (page: Page) => page.getByRole('region', { name: 'Who would be notified' });

  /** Serves a draft that was saved at this time, and these runs of the workspace. */
  function serve(savedAt: string, ...runs: readonly object[]): void {
    const { items } = api.example(DRAFTS) as { readonly items: readonly object[] };
    const draft = { ...items[0], kind: 'notification', name: 'order-paid', revision: 'r1', at: savedAt };
    api.answer(DRAFTS, { items: [draft], next: null });
    api.answer(PLAN, {
      ...api.example(PLAN),
      drafts: [draft],
      changes: [],
      files: [],
      bodies: [],
      faults: [],
      conflicts: [],
    });
    serveRuns(...runs);
  }
  const serveRuns = (...runs: readonly object[]): void => api.answer(RUNS, { items: runs, next: null });
  function runWith(more: object): object {
    const [example] = (api.example(RUNS) as { readonly items: readonly object[] }).items;
    return {
      ...example,
      created_at: '2026-11-29T12:00:00.000Z',
      changes: [{ kind: 'notification', name: 'order-paid', action: 'update', revision: 'r1' }],
      warning: null,
      sentence: null,
      ...more,
    };
  }
  const running = () =>
    runWith({ state: 'running', ended_at: null, progress: { read: 200, total: 400 }, counts: null });
  const done = (more: object = {}) => {
    const { counts } = runWith({}) as { readonly counts: object };
    const days = [
      { day: '2026-11-26', ...NONE, added: 30 },
      { day: '2026-11-28', ...NONE, added: 7, removed: 2 },
    ];
    const ended = { state: 'done', ended_at: '2026-11-29T12:00:10.000Z', sentence: SENTENCE };
    return runWith({ ...ended, counts: { ...counts, by_day: days }, ...more });
  };
  const EARLIER = '2026-11-29T11:00:00.000Z';

  it('starts by a button, also by keyboard, shows its progress and then who would be notified', async () => {
    serve(EARLIER);
    const page = await open(AT);
    await card(page).getByText('Nothing is sent.').waitFor();
    api.answer(START, () => {
      serveRuns(running());
      return running();
    });
    await card(page).getByRole('button', { name: 'Compare with the last 30 days' }).focus();
    await page.keyboard.press('Enter');
    await card(page).getByText('200 of 400 records read').waitFor();
    expect(api.calls(START).map(({ body }) => body)).toEqual([{ kind: 'compare', drafts: true }]);
    await expectAccessible(page, 'a comparison under way');
    serveRuns(done());
    await card(page).getByText(SENTENCE).waitFor();
    await card(page).getByRole('img', { name: 'Messages that differ, by day' }).waitFor();
    await card(page).getByRole('list', { name: 'First messages that differ' }).getByText('never sent').waitFor();
    await expectAccessible(page, 'a comparison of drafts');
    await picture(page, 'compare-drafts');
    await expectToFit(page, 390);
  });

  it('shows the warning about unique_id before the numbers', async () => {
    const warning = 'This edit changes unique_id. 31 people who were already notified would be notified again.';
    serve(EARLIER, done({ warning }));
    const page = await open(AT);
    const text = await card(page).getByText(SENTENCE).locator('..').innerText();
    expect(text.indexOf(warning)).toBeGreaterThan(-1);
    expect(text.indexOf(warning)).toBeLessThan(text.indexOf(SENTENCE));
    await card(page).getByText('1 event needs a lookup').waitFor();
  });

  it('says that a draft changed since', async () => {
    serve('2026-11-29T13:00:00.000Z', done());
    const page = await open(AT);
    await card(page).getByText('The drafts changed since this comparison.').waitFor();
  });

  it('stops a comparison, and says why one failed', async () => {
    serve(EARLIER, running());
    const page = await open(AT);
    const reason = { code: 'no_room', detail: 'The disk is full. Free 2 GiB and compare again.' };
    api.answer(CANCEL, () => {
      serveRuns(runWith({ state: 'failed', ended_at: '2026-11-29T12:00:10.000Z', counts: null, reason }));
      return api.example(CANCEL);
    });
    await card(page).getByRole('button', { name: 'Stop comparing' }).click();
    await card(page).getByText(reason.detail).waitFor();
    expect(api.calls(CANCEL)).toHaveLength(1);
  });
});
