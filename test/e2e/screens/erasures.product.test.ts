import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { expectAccessible, expectToFit, picture } from '../portal/accessible.ts';
import { startJob } from './jobs.ts';
import { problem, type Call } from './scripted-api.ts';
import { testScreens } from './test-screens.ts';

const ERASE = 'POST /v1/workspaces/{workspace}/erasures';
const LIST = 'GET /v1/workspaces/{workspace}/erasures';
const PERSON = 'bob@example.com';
const REASON = 'Letter of 2026-11-20';

type Certificate = { readonly erased_at: string | null; readonly [field: string]: unknown };

testScreens('erasing a person', ({ api, guard, open }) => {
  const dialog = (page: Page) => page.getByRole('dialog', { name: 'Erase a person' });
  const certificate = (): Certificate => (api.example(LIST) as { items: readonly [Certificate] }).items[0];
  const press = (page: Page, ...keys: readonly string[]): Promise<void> =>
    keys.reduce((before, key) => before.then(() => page.keyboard.press(key)), Promise.resolve());

  /** Serves a look, and an erasure for its checksum. */
  function serve(more: object = {}): void {
    const look = { ...api.example(ERASE), found: { log_records: 5, deliveries: 1, opt_outs: 1 }, ...more };
    api.answer(ERASE, ({ body }: Call) => {
      if ((body as { confirm?: string }).confirm === undefined) return look;
      const { id } = startJob(api, { action: 'erase_person', of: 1 }) as { id: string };
      return { ...look, erasure: { ...certificate(), job: id, erased_at: null, remains: [] } };
    });
  }

  it('is done from the page Why by the keyboard alone: look, confirm, progress', async () => {
    serve({ shared_addresses: 1 });
    const page = await open(`/workspaces/shop/why?who=${PERSON}`, { as: 'owner' });
    await page.getByRole('button', { name: 'Erase…' }).focus();
    await press(page, 'Enter');
    await dialog(page).waitFor();
    await page.keyboard.type(REASON);
    await picture(page, 'erase-person');
    await expectAccessible(page, 'the reason');
    await press(page, 'Enter');
    const found = dialog(page).getByRole('list', { name: 'Found' });
    await found.getByText('opt outs: 1').waitFor();
    expect(api.calls(ERASE).map(({ body }) => body)).toEqual([{ person: PERSON, reason: REASON }]);
    await dialog(page).getByText('Other people have them too, so Carillon keeps 1 address.').waitFor();
    await picture(page, 'erase-person-found');
    await expectAccessible(page, 'what is found');
    await expectToFit(page, 390, 320);
    // Enter does nothing before the person is typed.
    await page.getByLabel(`Type ${PERSON} to confirm`).focus();
    await press(page, 'Enter');
    await page.keyboard.type(PERSON);
    await press(page, 'Enter');
    await dialog(page).getByRole('status').filter({ hasText: 'Done: 1 of 1' }).waitFor();
    const { checksum } = api.example(ERASE) as { checksum: string };
    expect(api.calls(ERASE).map(({ body }) => body)).toEqual([
      { person: PERSON, reason: REASON },
      { person: PERSON, reason: REASON, confirm: checksum },
    ]);
    await page.getByRole('button', { name: 'Close', exact: true }).focus();
    await press(page, 'Enter');
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Erase…');
  });

  it('leads to the certificate once it is done', async () => {
    serve();
    const page = await open('/workspaces/shop/erasures', { as: 'owner' });
    await page.getByRole('button', { name: 'Erase a person' }).click();
    await dialog(page).getByRole('textbox', { name: 'Person' }).fill(PERSON);
    await page.getByLabel('Reason').fill(REASON);
    await press(page, 'Enter');
    await page.getByLabel(`Type ${PERSON} to confirm`).fill(PERSON);
    await press(page, 'Enter');
    await dialog(page).getByRole('link', { name: 'Show the certificate' }).click();
    await page.getByRole('region', { name: 'Certificate' }).getByText('log records: 5').waitFor();
    expect(await dialog(page).count()).toBe(0);
  });

  it('is refused at the field that is wrong, and looked at again after a conflict', async () => {
    guard.allowStatus(400, 409);
    api.answer(ERASE, problem(400, 'invalid_request', 'reason: leave the person out', { pointer: '/reason' }));
    const page = await open('/workspaces/shop/erasures', { as: 'owner' });
    await page.getByRole('button', { name: 'Erase a person' }).click();
    await dialog(page).getByRole('textbox', { name: 'Person' }).fill(PERSON);
    await page.getByLabel('Reason').fill(`for ${PERSON}`);
    await press(page, 'Enter');
    await dialog(page).getByText('leave the person out').waitFor();
    serve();
    await page.getByLabel('Reason').fill(REASON);
    await press(page, 'Enter');
    await dialog(page).getByRole('list', { name: 'Found' }).waitFor();
    api.answer(ERASE, problem(409, 'conflict', 'what is held of this person has changed since the look: look again'));
    await page.getByLabel(`Type ${PERSON} to confirm`).fill(PERSON);
    await press(page, 'Enter');
    await dialog(page).getByText('look again').first().waitFor();
    serve();
    await dialog(page).getByRole('button', { name: 'Look again' }).click();
    expect(await page.getByLabel('Reason').inputValue()).toBe(REASON);
  });

  it('says which messages have to be decided about first', async () => {
    const doubt = 'dlv_37G5398XK2YK0SPEA59673M7JP';
    serve({ undecided: [doubt] });
    const page = await open('/workspaces/shop/erasures', { as: 'owner' });
    await page.getByRole('button', { name: 'Erase a person' }).click();
    await dialog(page).getByRole('textbox', { name: 'Person' }).fill(PERSON);
    await page.getByLabel('Reason').fill(REASON);
    await press(page, 'Enter');
    await dialog(page).getByRole('alert').filter({ hasText: doubt }).waitFor();
  });

  it('is off for an editor, who sees no certificates either', async () => {
    const page = await open(`/workspaces/shop/why?who=${PERSON}`, { as: 'editor' });
    const button = page.getByRole('button', { name: 'Erase…' });
    await expect.poll(() => button.getAttribute('aria-disabled')).toBe('true');
    await page.goto(`${api.url}/workspaces/shop/erasures`);
    await page.getByText('You cannot see the erasures').waitFor();
    expect(api.calls(LIST)).toEqual([]);
  });

  it('leaves a certificate, which says what was emptied and what remains', async () => {
    const page = await open('/workspaces/shop/erasures', { as: 'owner' });
    await page.locator('main [data-key]').filter({ hasText: REASON }).click();
    const panel = page.getByRole('region', { name: 'Certificate' });
    await panel.getByText('log records: 5').waitFor();
    await panel.getByRole('list', { name: 'Data kept after the erasure' }).getByText('Backups').first().waitFor();
    await picture(page, 'erasures');
    await expectAccessible(page, 'the certificate');
    await expectToFit(page, 390, 320);
  });
});
