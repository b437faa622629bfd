import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { expectAccessible, expectToFit } from '../portal/accessible.ts';
import { problem, type Call } from './scripted-api.ts';
import { serveDatabase, serveSources, sourceWith } from './scripted-sources.ts';
import { testScreens } from './test-screens.ts';

const RESET = 'POST /v1/workspaces/{workspace}/sources/{name}/reset';
const SENTENCE =
  'Changes since 09:12:04 UTC were not read: the slot was dropped. `carillon sources reset shop-db --reason "…"` begins again now.';

testScreens('Sources', ({ api, guard, open }) => {
  const main = (page: Page) => page.locator('main');
  const region = (page: Page, name: string) => main(page).getByRole('region', { name, exact: true });
  const dialog = (page: Page) => page.getByRole('dialog');
  const press = (page: Page, name: string) => dialog(page).getByRole('button', { name, exact: true }).click();

  /** Serves a source whose slot was dropped. */
  function serveStopped(readUntil = '2026-11-28T09:12:04.000Z'): void {
    serveSources(
      api,
      sourceWith(api, {
        state: 'stopped',
        reason: 'slot_gone',
        sentence: SENTENCE,
        fix: 'npx carillon sources reset shop-db --workspace shop --reason TEXT',
        read_until: readUntil,
        continues_at: 'now',
        span: `Changes from ${readUntil.slice(11, 19)} UTC to the moment of the reset will never be read.`,
      }),
    );
  }

  it('stand in the overview while they wait or are stopped, with the sentence of their state', async () => {
    serveSources(
      api,
      sourceWith(api, { state: 'waiting', reason: 'unreachable', sentence: 'The database does not answer.' }),
      sourceWith(api, { name: 'crm-db', state: 'stopped', sentence: SENTENCE, continues_at: 'now', span: 'All.' }),
      sourceWith(api, { name: 'well-db' }),
    );
    const page = await open('/workspaces/shop');
    const waits = region(page, 'Needs your attention');
    await waits.getByRole('link', { name: /^crm-db: Changes since .+ were not read/ }).waitFor();
    await waits.getByRole('link', { name: 'shop-db: The database does not answer.' }).waitFor();
    expect(await waits.getByRole('button', { name: 'Reset the source' }).count()).toBe(1);
    expect(await waits.textContent()).not.toContain('well-db');
    await expectAccessible(page, 'the overview with sources that are not read');
    await expectToFit(page, 390);
  });

  it('are reset with a reason and the span that was shown', async () => {
    serveDatabase(api);
    serveStopped();
    let body: unknown;
    api.answer(RESET, (call: Call) => {
      ({ body } = call);
      serveSources(api, sourceWith(api, {}));
      return sourceWith(api, {});
    });
    const page = await open('/workspaces/shop/integrations', { as: 'operator' });
    await main(page).getByRole('button', { name: 'Reset the source' }).click();
    await dialog(page).getByText('Changes from 09:12:04 UTC to the moment of the reset will never be read.').waitFor();
    await dialog(page).getByText('Now, at a new publication and replication slot').waitFor();
    expect(await dialog(page).getByRole('button', { name: 'Reset the source' }).isDisabled()).toBe(true);
    await dialog(page).getByLabel('Reason').fill('The slot was dropped by mistake');
    await expectAccessible(page, 'the reset of a source');
    await expectToFit(page, 390);
    await press(page, 'Reset the source');
    await dialog(page).waitFor({ state: 'detached' });
    await main(page).getByRole('button', { name: 'Reset the source' }).waitFor({ state: 'detached' });
    expect(body).toEqual({ reason: 'The slot was dropped by mistake', from: '2026-11-28T09:12:04.000Z' });
  });

  it('show the new span if it has changed before the reset was confirmed', async () => {
    guard.allowStatus(409);
    serveDatabase(api);
    serveStopped();
    api.answer(RESET, () => {
      serveStopped('2026-11-28T10:30:00.000Z');
      return problem(409, 'conflict', 'The span has changed.');
    });
    const page = await open('/workspaces/shop/integrations');
    await main(page).getByRole('button', { name: 'Reset the source' }).click();
    await dialog(page).getByLabel('Reason').fill('Slot dropped');
    await press(page, 'Reset the source');
    await dialog(page).getByText('Changes from 10:30:00 UTC to the moment of the reset will never be read.').waitFor();
    await dialog(page).getByRole('alert').getByText('More changes were lost since you opened this dialog').waitFor();
    await press(page, 'Reset the source');
    await expect
      .poll(() => api.calls(RESET).map(({ body }) => (body as { from: string }).from))
      .toEqual(['2026-11-28T09:12:04.000Z', '2026-11-28T10:30:00.000Z']);
  });

  it('that leave ask whether the slot is dropped or the database gone', async () => {
    serveDatabase(api);
    serveSources(
      api,
      sourceWith(api, {
        state: 'leaving',
        sentence: 'The database is no longer in the configuration, but its replication slot could not be dropped.',
        fix: "SELECT pg_drop_replication_slot('carillon_shop_db');",
        read_until: '2026-11-28T09:12:04.000Z',
        span: 'Carillon forgets this source.',
        streams: [],
      }),
    );
    api.answer(RESET, () => {
      serveSources(api);
      return sourceWith(api, { state: 'leaving' });
    });
    const page = await open('/workspaces/shop/integrations');
    await main(page).getByRole('button', { name: 'Remove the source' }).click();
    await dialog(page).getByRole('group', { name: 'the SQL that drops the slot' }).getByText('pg_drop_rep').waitFor();
    await dialog(page).getByLabel('Reason').fill('The server is gone');
    expect(await dialog(page).getByRole('button', { name: 'Remove the source' }).isDisabled()).toBe(true);
    await dialog(page).getByText('The replication slot is dropped, or the database no longer exists').click();
    await expectAccessible(page, 'the removal of a source');
    await press(page, 'Remove the source');
    await dialog(page).waitFor({ state: 'detached' });
    expect(api.calls(RESET).map(({ body }) => body)).toEqual([
      { reason: 'The server is gone', from: '2026-11-28T09:12:04.000Z', gone: true },
    ]);
  });

  it('of topics are reset at their oldest record or at their end, with what each passes over', async () => {
    serveDatabase(api);
    const span = 'The records before the oldest are gone.';
    const atEnd = '340 records will never be read.';
    const stopped = { kind: 'kafka', state: 'stopped', sentence: SENTENCE, continues_at: 'oldest', lag_records: 340 };
    serveSources(api, sourceWith(api, { ...stopped, span, span_at_end: atEnd, read_until: null }));
    api.answer(RESET, () => {
      serveSources(api, sourceWith(api, {}));
      return sourceWith(api, {});
    });
    const page = await open('/workspaces/shop/integrations');
    await main(page).getByText('340 records in the topics when it stopped').waitFor();
    await main(page).getByRole('button', { name: 'Reset the source' }).click();
    await dialog(page).getByText(span).waitFor();
    await dialog(page).getByText('At the end of the topics').click();
    await dialog(page).getByText(atEnd).waitFor();
    await dialog(page).getByLabel('Reason').fill('Old orders');
    await expectAccessible(page, 'the reset of topics');
    await press(page, 'Reset the source');
    await dialog(page).waitFor({ state: 'detached' });
    expect(api.calls(RESET).map(({ body }) => body)).toEqual([{ reason: 'Old orders', from: null, at: 'end' }]);
  });

  it('that wait for a schema are reset at the end of their topics only', async () => {
    serveDatabase(api);
    const atEnd = 'The topics have 2 records that Carillon has not read.';
    const waiting = { kind: 'kafka', state: 'waiting', reason: 'schema_unknown', span: null, span_at_end: atEnd };
    serveSources(api, sourceWith(api, { ...waiting, sentence: 'The registry lacks schema 7.', read_until: null }));
    api.answer(RESET, () => {
      serveSources(api, sourceWith(api, {}));
      return sourceWith(api, {});
    });
    const page = await open('/workspaces/shop/integrations');
    await main(page).getByRole('button', { name: 'Reset the source' }).click();
    await dialog(page).getByText(atEnd).waitFor();
    await dialog(page).getByText('At the oldest record of the topics').waitFor({ state: 'detached' });
    await dialog(page).getByLabel('Reason').fill('Schema 7 was deleted');
    await press(page, 'Reset the source');
    await dialog(page).waitFor({ state: 'detached' });
    expect(api.calls(RESET).map(({ body }) => body)).toEqual([
      { reason: 'Schema 7 was deleted', from: null, at: 'end' },
    ]);
  });

  it('say how many records of each topic are not read', async () => {
    serveDatabase(api);
    const topic = (table: string, lag: number) => ({
      table,
      since: '2026-11-28T09:00:00.000Z',
      problem: null,
      lag_records: lag,
      gap: null,
    });
    serveSources(api, sourceWith(api, { kind: 'kafka', tables: [topic('orders', 340), topic('refunds', 0)] }));
    const page = await open('/workspaces/shop/integrations/shop-db');
    const topics = main(page).getByRole('list', { name: 'Tables of the source' }).getByRole('listitem');
    await topics.filter({ hasText: 'orders' }).getByText('340 records not read yet').waitFor();
    expect(await topics.filter({ hasText: 'refunds' }).textContent()).not.toContain('not read yet');
  });

  it('keep the reset from a viewer, with the reason', async () => {
    serveDatabase(api);
    serveStopped();
    const page = await open('/workspaces/shop/integrations', { as: 'viewer' });
    const reset = main(page).getByRole('button', { name: 'Reset the source' });
    await reset.waitFor();
    expect(await reset.getAttribute('aria-disabled')).toBe('true');
  });
});
