import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { expectAccessible, expectToFit, picture } from '../portal/accessible.ts';
import { startJob } from './jobs.ts';
import { problem, type Call } from './scripted-api.ts';
import { testScreens } from './test-screens.ts';

type Letter = { readonly id: string; readonly redriven_at: string | null; readonly [field: string]: unknown };

const LIST = 'GET /v1/workspaces/{workspace}/dead-letters';
const COUNT = 'GET /v1/workspaces/{workspace}/dead-letters/count';
const REDRIVE = 'POST /v1/dead-letters/{id}/redrive';
const REDRIVE_MANY = 'POST /v1/workspaces/{workspace}/dead-letters/redrive';
const DISMISS = 'POST /v1/workspaces/{workspace}/receipts/{id}/dismiss';
const REOPEN = 'POST /v1/workspaces/{workspace}/receipts/{id}/reopen';
const AT = '/workspaces/shop/deliveries/dead-letters';
const LOST = {
  item: 'ddl_00000000000000000000000003',
  code: 'gone',
  detail: 'retention has removed the report from the log',
};

testScreens('the dead letters of a workspace', ({ api, guard, open }) => {
  const rows = (page: Page) => page.locator('main [data-key]');
  const bar = (page: Page) => page.getByRole('region', { name: 'Chosen rows' });

  const letter = (at: number, redriven: string | null = null): Letter => ({
    ...(api.example(LIST)['items'] as Letter[])[0],
    id: `ddl_${String(at).padStart(26, '0')}`,
    reason: 'invalid_json: it ends in the middle of a text',
    redriven_at: redriven,
    redriven_by: redriven === null ? null : 'owner',
  });
  /** Serves these records, of which the screen may redrive each. */
  function serve(...first: readonly Letter[]): void {
    let letters = first;
    const isAsked = ({ redriven_at: at }: Letter, redriven: string | null): boolean =>
      redriven === null || redriven === String(at !== null);
    api.answer(LIST, ({ query }: Call) => ({
      items: letters.filter((one) => isAsked(one, query.get('redriven'))),
      next: null,
    }));
    api.answer(REDRIVE, ({ params }: Call) => {
      const redriven = { redriven_at: '2026-11-22T10:43:00.000Z', redriven_by: 'owner' };
      letters = letters.map((one) => (one.id === params['id'] ? { ...one, ...redriven } : one));
      return letters.find(({ id }) => id === params['id']) ?? problem(404, 'not_found', 'there is no such record');
    });
  }

  it('are listed beside the deliveries, and redriven one by one by the keyboard', async () => {
    serve(letter(1), letter(2), letter(3));
    const page = await open('/workspaces/shop/deliveries');
    await page.getByRole('navigation', { name: 'Lists' }).getByRole('link', { name: 'Dead letters' }).click();
    await expect.poll(() => rows(page).count()).toBe(3);
    await picture(page, 'dead-letters');
    await expectAccessible(page, 'dead letters');
    await rows(page).filter({ hasText: 'invalid_json' }).first().focus();
    await page.keyboard.press('Enter');
    const panel = page.getByRole('region', { name: 'Dead letter' });
    await panel.getByText('invalid_json').first().waitFor();
    await expectAccessible(page, 'a dead letter');
    await picture(page, 'dead-letter');
    await expectToFit(page, 390);
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.keyboard.press('R');
    await panel.getByText('Nobody is notified twice.').waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('The record is processed again.').waitFor();
    await panel.getByText('Redriven', { exact: true }).waitFor();
    expect(api.calls(REDRIVE).map(({ params }) => params['id'])).toEqual([letter(1).id]);
  });

  it('of records that were not appended are dismissed, opened again, and never redriven', async () => {
    let change: Letter = { ...letter(1), stage: 'append', redrive: null, dismissed_at: null, dismissed_by: null };
    api.answer(LIST, () => ({ items: [change], next: null }));
    for (const [operation, by] of [
      [DISMISS, 'owner'],
      [REOPEN, null],
    ] as const) {
      api.answer(operation, () => {
        change = { ...change, dismissed_at: by && '2026-11-22T10:43:00.000Z', dismissed_by: by };
        return { ...api.example(operation), id: change.id };
      });
    }
    const page = await open(`${AT}?open=${change.id}`);
    const panel = page.getByRole('region', { name: 'Dead letter' });
    await panel.getByText('A redrive would fail again').waitFor();
    expect(await panel.getByRole('button', { name: 'Redrive' }).count()).toBe(0);
    await panel.getByRole('button', { name: 'Dismiss' }).click();
    await panel.getByText('Dismissed', { exact: true }).waitFor();
    await expectAccessible(page, 'a dismissed record');
    await page.keyboard.press('z');
    await page.getByText('Undone.').waitFor();
    await panel.getByText('Dismissed', { exact: true }).waitFor({ state: 'detached' });
    await panel.getByRole('button', { name: 'Dismiss' }).click();
    await panel.getByRole('button', { name: 'Reopen' }).click();
    await panel.getByRole('button', { name: 'Dismiss' }).waitFor();
    const path = { workspace: 'shop', id: change.id };
    expect(api.calls(DISMISS).map(({ params }) => params)).toEqual([path, path]);
    expect(api.calls(REOPEN).map(({ params }) => params)).toEqual([path, path]);
  });

  it('show a new record as soon as the server sends it', async () => {
    serve(letter(1));
    const page = await open(AT);
    await expect.poll(() => rows(page).count()).toBe(1);
    await page.getByText('Live: changes show as they come').waitFor();
    serve(letter(2), letter(1));
    api.push('dead-letters', { ...letter(2), at: '2026-11-22T10:44:00.000Z' });
    await expect.poll(() => rows(page).count()).toBe(2);
  });

  it('that retention removes soon are named on Overview', async () => {
    const count = { count: 500, receipts: 0, more: false, ceiling: 10_000 };
    const from = '2026-11-25T10:43:00.000Z';
    api.answer(COUNT, { ...count, leaving: { count: 3, from } });
    const page = await open('/workspaces/shop');
    await page.getByText('3 open dead letters expire from').waitFor();
    api.answer(COUNT, { ...count, leaving: { count: 500, from } });
    await page.reload();
    await page.getByText('At least 500 open dead letters expire within seven days').waitFor();
  });

  it('are all redriven as a job, with their number first', async () => {
    serve(letter(1));
    api.answer(COUNT, { count: 15, receipts: 2, more: false, ceiling: 10_000, leaving: null });
    api.answer(REDRIVE_MANY, () => startJob(api, { action: 'redrive_dead_letters', of: 15, failures: [LOST] }));
    const page = await open(`${AT}?redriven=false`);
    await rows(page).first().waitFor();
    await page.getByRole('button', { name: 'Redrive all open records…' }).click();
    await page.getByText('15 records, neither redriven nor dismissed yet').waitFor();
    await page.getByText('2 parked receipts are not redriven').waitFor();
    await expectAccessible(page, 'the question');
    await picture(page, 'redrive-all');
    await page.getByRole('button', { name: 'Redrive 15 records' }).click();
    await page.getByText('Done: 14 of 15, 1 failed.').waitFor();
    await page.getByRole('list', { name: 'Failures' }).getByText(LOST.detail).waitFor();
    await expectAccessible(page, 'the end');
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    expect(api.calls(REDRIVE_MANY).map(({ body }) => body)).toEqual([{ filter: {}, expected: 15 }]);
  });

  it('are redriven where they were chosen, and no other', async () => {
    serve(...[1, 2, 3].map((at) => letter(at, '2026-11-22T10:43:00.000Z')));
    api.answer(REDRIVE_MANY, () => startJob(api, { action: 'redrive_dead_letters', of: 2 }));
    const page = await open(`${AT}?redriven=true`);
    await rows(page).nth(1).waitFor();
    await rows(page).first().focus();
    await page.keyboard.press('x');
    await page.keyboard.press('j');
    await page.locator('main li[aria-posinset="2"] [data-key]:focus').waitFor();
    await page.keyboard.press('X');
    await bar(page).getByText('2 chosen').waitFor();
    await page.keyboard.press('R');
    await page
      .getByRole('dialog')
      .getByText('2 records. The people are known once the records are processed')
      .waitFor();
    await expectAccessible(page, 'the question about chosen letters');
    await page.getByRole('button', { name: 'Redrive 2 records' }).click();
    await page.getByText('Done: 2 of 2.').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await bar(page).waitFor({ state: 'detached' });
    // The focus goes to the list, because its button went with the bar.
    await page.locator('main [data-key]:focus').waitFor();
    expect(api.calls(REDRIVE_MANY).map(({ body }) => body)).toEqual([{ ids: [letter(1).id, letter(2).id] }]);
  });

  it('are chosen no longer once another list is shown', async () => {
    serve(letter(1), letter(2, '2026-11-22T10:43:00.000Z'));
    const page = await open(AT);
    const show = async (name: string): Promise<void> => {
      await page.getByRole('button', { name: /^Shown:/ }).click();
      await page.getByRole('menuitemradio', { name, exact: true }).click();
      await page.getByRole('button', { name: `Shown: ${name}` }).waitFor();
    };
    await rows(page).first().focus();
    await page.keyboard.press('x');
    await bar(page).getByText('1 chosen').waitFor();
    await show('Not redriven');
    await bar(page).waitFor({ state: 'detached' });
    await show('All of them');
    await rows(page).first().waitFor();
    expect(await bar(page).count()).toBe(0);
  });

  it.each([
    ['in-doubt', 'GET /v1/workspaces/{workspace}/deliveries', 'Nothing is in doubt'],
    ['dead-letters', LIST, 'No dead letters'],
    ['receipts', 'GET /v1/workspaces/{workspace}/receipts', 'No open receipts'],
  ] as const)('have a word for the list %s if it is empty', async (tab, operation, empty) => {
    api.answer(operation, { items: [], next: null });
    const page = await open(`/workspaces/shop/deliveries/${tab}`);
    await page.getByRole('heading', { name: empty, exact: true }).waitFor();
    await expectAccessible(page, `${tab}, empty`);
    await expectToFit(page, 390, 320);
  });

  it('say what went wrong and ask again', async () => {
    guard.allowStatus(500);
    api.answer(LIST, problem(500, 'internal', 'The store is busy.'));
    const page = await open(AT);
    await page.getByText('The store is busy.').first().waitFor();
    await expectAccessible(page, 'dead letters, failed');
    serve();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('The store is busy.').waitFor({ state: 'detached' });
  });

  it('are shown to a viewer, who may redrive none', async () => {
    serve(letter(1));
    const page = await open(AT, { as: 'viewer' });
    await rows(page).first().click();
    for (const name of ['Redrive', 'Redrive all open records…']) {
      const off = page.getByRole('button', { name, exact: true });
      await expect.poll(() => off.getAttribute('aria-disabled')).toBe('true');
    }
    await expectAccessible(page, 'dead letters of a viewer');
  });
});
