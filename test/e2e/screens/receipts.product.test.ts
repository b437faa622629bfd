import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { expectAccessible, expectToFit, picture } from '../portal/accessible.ts';
import { startJob } from './jobs.ts';
import { problem, type Call } from './scripted-api.ts';
import { testScreens } from './test-screens.ts';

type Receipt = { readonly id: string; readonly dismissed_at: string | null; readonly [field: string]: unknown };

const LIST = 'GET /v1/workspaces/{workspace}/receipts';
const READ = 'GET /v1/workspaces/{workspace}/receipts/{id}';
const DISMISS = 'POST /v1/workspaces/{workspace}/receipts/{id}/dismiss';
const REOPEN = 'POST /v1/workspaces/{workspace}/receipts/{id}/reopen';
const DISMISS_MANY = 'POST /v1/workspaces/{workspace}/receipts/dismiss';
const AT = '/workspaces/shop/deliveries/receipts';

testScreens('the receipts that fit no delivery', ({ api, guard, open }) => {
  const rows = (page: Page) => page.locator('main [data-key]');

  const receipt = (at: number): Receipt => ({
    ...(api.example(READ) as Receipt),
    id: `ddl_${String(at).padStart(26, '0')}`,
    detail: `no such user ${at}`,
  });
  /** Serves these receipts, which the screen may dismiss. */
  function serve(...first: readonly Receipt[]): void {
    let receipts = first;
    const find = ({ params }: Call): object =>
      receipts.find(({ id }) => id === params['id']) ?? problem(404, 'not_found', 'there is no such receipt');
    const mark = (ids: readonly unknown[], isDismissed: boolean): void => {
      const now = isDismissed ? '2026-11-22T10:43:00.000Z' : null;
      receipts = receipts.map((one) =>
        ids.includes(one.id) ? { ...one, dismissed_at: now, dismissed_by: isDismissed ? 'owner' : null } : one,
      );
    };
    api.answer(LIST, ({ query }: Call) => ({
      items: receipts.filter((one) => [null, String(one.dismissed_at === null)].includes(query.get('parked'))),
      next: null,
    }));
    api.answer(READ, find);
    api.answer(DISMISS, (call: Call) => {
      mark([call.params['id']], true);
      return find(call);
    });
    api.answer(REOPEN, (call: Call) => {
      mark([call.params['id']], false);
      return find(call);
    });
    api.answer(DISMISS_MANY, ({ body }: Call) => {
      const { ids } = body as { readonly ids: readonly string[] };
      mark(ids, true);
      return startJob(api, { action: 'dismiss_receipts', of: ids.length });
    });
  }

  it('are reached from the deliveries, opened by the keyboard and dismissed, with a way back by a key', async () => {
    serve(receipt(1), receipt(2));
    const page = await open('/workspaces/shop/deliveries');
    await page.getByRole('navigation', { name: 'Lists' }).getByRole('link', { name: 'Receipts' }).click();
    await expect.poll(() => rows(page).count()).toBe(2);
    await expectAccessible(page, 'receipts');
    await rows(page).filter({ hasText: 'no such user 1' }).focus();
    await page.keyboard.press('Enter');
    const panel = page.getByRole('region', { name: 'Receipt' });
    await panel.getByText('shop/mail').waitFor();
    await expectAccessible(page, 'a receipt');
    await picture(page, 'receipt');
    await expectToFit(page, 390);
    await page.setViewportSize({ width: 1440, height: 900 });
    await panel.getByRole('button', { name: 'Dismiss' }).click();
    await page.getByText('Dismissed. No delivery changes.').waitFor();
    await expect.poll(() => rows(page).count()).toBe(1);
    await expectAccessible(page, 'a notice with its way back');
    await page.keyboard.press('z');
    await page.getByText('Undone.').waitFor();
    await expect.poll(() => rows(page).count()).toBe(2);
    expect(api.calls(REOPEN).map(({ params }) => params['id'])).toEqual([receipt(1).id]);
  });

  it('move to a list of dismissed receipts', async () => {
    serve(receipt(1), receipt(2));
    const page = await open(AT);
    await rows(page).filter({ hasText: 'no such user 1' }).click();
    const panel = page.getByRole('region', { name: 'Receipt' });
    await panel.getByRole('button', { name: 'Dismiss' }).click();
    await expect.poll(() => rows(page).count()).toBe(1);
    await panel
      .getByText(/Dismissed/)
      .first()
      .waitFor();
    await page.getByRole('button', { name: /^Shown:/ }).click();
    await page.getByRole('menuitemradio', { name: 'Dismissed', exact: true }).click();
    await page.waitForURL(/parked=false/);
    await expect.poll(() => rows(page).first().textContent()).toContain('no such user 1');
  });

  it('are dismissed together when they are chosen', async () => {
    serve(receipt(2));
    const page = await open(AT);
    await expect.poll(() => rows(page).count()).toBe(1);
    await page.getByRole('checkbox', { name: /^Choose / }).check();
    await page.getByRole('button', { name: 'Dismiss…' }).click();
    await page.getByRole('dialog').getByText('1 receipt. No delivery changes and nobody is notified.').waitFor();
    await expectAccessible(page, 'the question about chosen receipts');
    await page.getByRole('button', { name: 'Dismiss 1 receipt' }).click();
    await page.getByText('Done: 1 of 1.').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await page.getByRole('heading', { name: 'No open receipts' }).waitFor();
  });

  it('say what went wrong and ask again', async () => {
    guard.allowStatus(500);
    api.answer(LIST, problem(500, 'internal', 'The store is busy.'));
    const page = await open(AT);
    await page.getByText('The store is busy.').first().waitFor();
    await expectAccessible(page, 'receipts, failed');
    serve();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('The store is busy.').waitFor({ state: 'detached' });
  });

  it('are not asked for by a viewer, who reads which role sees receipts', async () => {
    const page = await open(AT, { as: 'viewer' });
    await page.getByText('You cannot see the receipts').waitFor();
    await page.getByText(/Only owners, editors and operators/).waitFor();
    await expectAccessible(page, 'receipts, of a viewer');
    expect(api.calls(LIST)).toEqual([]);
  });
});
