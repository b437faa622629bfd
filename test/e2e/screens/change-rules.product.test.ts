import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { expectAccessible, expectToFit } from '../portal/accessible.ts';
import type { Call } from './scripted-api.ts';
import { serveReadStream, serveSources, sourceWith } from './scripted-sources.ts';
import { testScreens } from './test-screens.ts';

const CHECK = 'POST /v1/workspaces/{workspace}/expressions/check';
const NOTIFICATION = 'GET /v1/workspaces/{workspace}/notifications/{name}';
const SAVE = 'PUT /v1/workspaces/{workspace}/{kind}/{name}/draft';
const DISCARD = 'DELETE /v1/workspaces/{workspace}/{kind}/{name}/draft';
const SAMPLE = 'GET /v1/workspaces/{workspace}/rules/{name}/sample';
const TEST = 'POST /v1/workspaces/{workspace}/rules/{name}/test';
const RULE = '/workspaces/shop/notifications/order-paid/rules/paid';
const SOURCE = 'event.status == "paid"';

type Change = { readonly kind: string; readonly condition: { readonly [field: string]: unknown } };

testScreens('A rule on a stream that reads a database', ({ api, open }) => {
  const main = (page: Page) => page.locator('main');
  const condition = { kind: 'compare', path: ['event', 'status'], op: '==', value: 'paid' };

  /** Serves the form of the rule. A change of it replaces its only condition. */
  function serveRule(): void {
    serveReadStream(api);
    serveSources(api, sourceWith(api, {}));
    const resource = api.example(NOTIFICATION) as { readonly body: { readonly rules: object } };
    const rules = {
      paid: {
        stream: 'orders',
        when: SOURCE,
        recipients: { from: 'event', to: { email: 'event.email' }, unique_id: 'event_id' },
      },
    };
    api.answer(NOTIFICATION, { ...resource, body: { ...resource.body, rules } });
    let shown: object = condition;
    api.answer(CHECK, ({ body }: Call) => {
      const { source, change } = body as { readonly source: string; readonly change?: Change };
      if (change) shown = change.condition;
      const written = change ? `changed by ${change.condition['kind'] as string}` : source;
      const form = { match: 'all', conditions: [{ ...shown, start: 0, end: written.length }] };
      return { ...api.example(CHECK), source: written, form, faults: [], warnings: [] };
    });
    api.answer(SAVE, ({ body }: Call) => ({ ...api.example(SAVE), body: (body as { body: object }).body }));
  }

  const changes = (): readonly Change[] =>
    api.calls(CHECK).flatMap(({ body }) => {
      const { change } = body as { readonly change?: Change };
      return change ? [change] : [];
    });
  const savedRule = (): { readonly changes?: readonly string[] } | undefined =>
    (api.calls(SAVE).at(-1)?.body as { body: { rules: { paid: { changes?: readonly string[] } } } } | undefined)?.body
      .rules.paid;

  it('compares a field with the row before by the form', async () => {
    serveRule();
    const page = await open(RULE);
    const compares = main(page).getByLabel('How condition 1 compares');
    await main(page).getByText('Created rows').waitFor();
    await compares.selectOption({ label: 'changed from … to' });
    await expect.poll(() => changes().at(-1)?.condition['kind']).toBe('changed_from_to');
    await main(page).getByLabel('Value before of condition 1').fill('open');
    await expect.poll(() => changes().at(-1)?.condition['from']).toBe('open');
    await main(page).getByLabel('Value of condition 1').fill('paid');
    await expect
      .poll(() => changes().at(-1)?.condition)
      .toEqual({ kind: 'changed_from_to', path: ['event', 'status'], from: 'open', value: 'paid', not: false });
    await expectAccessible(page, 'a condition on a change');
    await expectToFit(page, 390);
    await page.setViewportSize({ width: 1440, height: 900 });
    await compares.selectOption({ label: 'changed to' });
    await expect
      .poll(() => changes().at(-1)?.condition)
      .toEqual({ kind: 'changed_to', path: ['event', 'status'], value: 'paid', not: false });
    await compares.selectOption({ label: 'changed' });
    await expect
      .poll(() => changes().at(-1)?.condition)
      .toEqual({ kind: 'changed', path: ['event', 'status'], not: false });
    expect(await main(page).getByLabel('Value of condition 1').count()).toBe(0);
  });

  it('evaluates the changes that are checked, and creates and updates unless the user says otherwise', async () => {
    serveRule();
    const page = await open(RULE);
    const box = (name: string) => main(page).getByRole('checkbox', { name });
    await box('Created rows').waitFor();
    const checked = await Promise.all(['Created', 'Updated', 'Deleted'].map((name) => box(`${name} rows`).isChecked()));
    expect(checked).toEqual([true, true, false]);
    await box('Created rows').uncheck();
    await expect.poll(() => savedRule()?.changes).toEqual(['update']);
    await box('Deleted rows').check();
    await expect.poll(() => savedRule()?.changes).toEqual(['update', 'delete']);
    // The rule is as it was published, which names no changes.
    api.answer(DISCARD, api.example(DISCARD));
    await box('Deleted rows').uncheck();
    await box('Created rows').check();
    await expect.poll(() => api.calls(DISCARD).length).toBe(1);
    await expectAccessible(page, 'the changes of a rule');
  });

  it('is tried on a change with both rows', async () => {
    serveRule();
    api.answer(TEST, api.example(TEST));
    const page = await open(RULE);
    await main(page).getByRole('radio', { name: 'Pasted' }).click();
    const field = main(page).getByRole('textbox', { name: 'Change as JSON' });
    expect(JSON.parse((await field.innerText()) || '{}')).toEqual({ op: 'update', event: {}, previous: {} });
    const change = { op: 'update', event: { status: 'paid' }, previous: { status: 'open' } };
    await page.locator('[data-code-field="Change as JSON"] .cm-content').click();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.insertText(JSON.stringify(change));
    await main(page).getByRole('button', { name: /^Run/ }).click();
    await expect
      .poll(() => api.calls(TEST).map(({ body }) => JSON.parse((body as { event: string }).event) as object))
      .toEqual([change]);
  });

  it('is tried on the smallest change that fires it', async () => {
    serveRule();
    const change = '{"op":"update","event":{"status":"paid"},"previous":{"status":"open"}}';
    api.answer(SAMPLE, { ...api.example(SAMPLE), event: '{"status":"paid"}', change });
    api.answer(TEST, api.example(TEST));
    const page = await open(RULE);
    await main(page).getByRole('radio', { name: 'Minimum event' }).click();
    await main(page).getByRole('button', { name: /^Run/ }).click();
    await expect.poll(() => api.calls(TEST).map(({ body }) => (body as { event: string }).event)).toEqual([change]);
  });

  it('has neither an address nor an event to send', async () => {
    serveRule();
    const page = await open(RULE);
    const stream = main(page).getByRole('region', { name: 'Event stream' });
    await stream.getByText('reads public.orders of shop-db. Nobody sends events to it.').waitFor();
    expect(await stream.getByRole('heading', { name: 'URL' }).count()).toBe(0);
  });
});
