import { expect, it } from 'vitest';
import { expectAccessible, expectToFit, picture } from '../portal/accessible.ts';
import { problem } from './scripted-api.ts';
import { testScreens } from './test-screens.ts';

const LIST = 'GET /v1/workspaces/{workspace}/runs';
const READ = 'GET /v1/workspaces/{workspace}/runs/{id}';
const ROWS = 'GET /v1/workspaces/{workspace}/runs/{id}/rows';
const FINDINGS = 'GET /v1/workspaces/{workspace}/runs/{id}/findings';
const CONTENT = 'GET /v1/workspaces/{workspace}/runs/{id}/rows/{slot}';
const START = 'POST /v1/workspaces/{workspace}/runs';
const VERSIONS = 'GET /v1/workspaces/{workspace}/versions';
const CANCEL = 'POST /v1/workspaces/{workspace}/jobs/{id}/cancel';
const AT = '/workspaces/shop/runs/run_1';
const DEADLINE = { timeout: 30_000 };
const NO_FINDINGS = {
  missing: 0,
  no_cause: 0,
  different: 0,
  unknown_configuration: 0,
  other_semantics: 0,
  not_evaluated: 0,
  unreadable: 0,
  past_retention: 0,
  not_from_events: 0,
  would_wait: 0,
  cold: 0,
};
const NONE = { added: 0, removed: 0, changed: 0, new_unique_id: 0 };

testScreens('the page of a comparison', ({ api, guard, open }) => {
  const run = (more: object = {}): object => ({ ...api.example(READ), id: 'run_1', ...more });
  function done(more: object = {}): object {
    const { counts } = run() as { readonly counts: object };
    const days = [
      { day: '2026-11-05', ...NONE, added: 12, removed: 2 },
      { day: '2026-11-26', ...NONE, added: 18, changed: 3 },
      { day: '2026-11-28', ...NONE, added: 7, removed: 10, new_unique_id: 4 },
    ];
    const differences = { ...NONE, added: 37, removed: 12, changed: 3, new_unique_id: 4, unchanged: 363 };
    const rules = [
      { rule: 'order-paid.paid', ...differences },
      { rule: 'order-paid.same', ...NONE, unchanged: 4 },
    ];
    return run({ counts: { ...counts, differences, by_day: days, by_rule: rules }, ...more });
  }
  function row(name: string, more: object): object {
    const [example] = (api.example(ROWS) as { readonly items: readonly object[] }).items;
    return { ...example, slot: `dlv_${name}`, person: `${name}@example.com`, ...more };
  }
  const bob = () => row('bob', { difference: 'added', before: null, after: 'bob@example.com' });
  const eve = () => row('eve', { difference: 'removed', before: 'eve@example.com', after: null });

  it('shows the sentence, the days, the rules and the messages, which filters narrow', async () => {
    api.answer(READ, done());
    api.answer(ROWS, ({ query }) => ({
      items: [bob(), eve()].filter((item) => {
        const { difference } = item as { readonly difference: string };
        return (query.get('difference') ?? difference) === difference;
      }),
      next: null,
    }));
    const page = await open(AT);
    await page.getByRole('heading', { name: 'Comparison of order-paid', level: 1 }).waitFor();
    await page.getByText('this edit would have added messages for 37 people').waitFor();
    await page.getByRole('img', { name: 'Messages that differ, by day' }).waitFor();
    await page.getByText('Show as table').click();
    await page.getByRole('row', { name: '2026-11-28 7 0 10 4' }).waitFor();
    await page.getByText('Show as table').click();
    await page.getByRole('row', { name: 'order-paid.paid 37 12 3 4 363' }).waitFor();
    const messages = page.getByRole('list', { name: 'Messages', exact: true });
    await messages.getByText('eve@example.com').first().waitFor();
    await expectAccessible(page, 'a comparison');
    await picture(page, 'run');
    await page.getByLabel('Difference', { exact: true }).selectOption('added');
    await messages.getByText('eve@example.com').first().waitFor({ state: 'detached' });
    await page.getByLabel('Delivery').selectOption('none');
    await page.getByLabel('Rule', { exact: true }).selectOption('order-paid.paid');
    await page.getByLabel('Day (UTC)').selectOption('2026-11-28');
    const words = 'difference=added&slot=none&rule=order-paid.paid&day=2026-11-28';
    await page.waitForURL(`**/runs/run_1?${words}`);
    expect(await page.getByRole('link', { name: 'Export as CSV' }).getAttribute('href')).toBe(
      `/v1/workspaces/shop/runs/run_1/rows/export?${words}`,
    );
    await messages.getByText('bob@example.com').first().waitFor();
    expect(Object.fromEntries(api.calls(ROWS).at(-1)?.query ?? [])).toMatchObject({ rule: 'order-paid.paid' });
    await expectToFit(page, 390);
  });

  it('offers filters by rule and day with messages only, and shows more pages of rows', async () => {
    api.answer(READ, done());
    api.answer(ROWS, ({ query }) =>
      query.get('cursor') === null ? { items: [bob()], next: '1' } : { items: [eve()], next: null },
    );
    const page = await open(AT);
    await page.getByRole('button', { name: 'More messages' }).click();
    await page.getByText('eve@example.com').first().waitFor();
    await page.getByRole('button', { name: 'More messages' }).waitFor({ state: 'detached' });
    expect(await page.getByLabel('Rule', { exact: true }).locator('option').allInnerTexts()).toEqual([
      'Any rule',
      'order-paid.paid',
    ]);
  });

  it('opens one message with both sides and why, by keyboard, and reads it once', async () => {
    api.answer(READ, done());
    api.answer(ROWS, { items: [bob(), eve()], next: null });
    const page = await open(AT);
    const opener = page.getByRole('button', { name: /^Added bob@example\.com/ });
    await opener.focus();
    expect(api.calls(CONTENT)).toEqual([]);
    await page.keyboard.press('Enter');
    const before = page.getByRole('region', { name: 'Before' });
    await before.getByText('event.total > 100  →  false').waitFor();
    await before.getByText('No message.').waitFor();
    const after = page.getByRole('region', { name: 'After' });
    await after.getByText('event.total > 80  →  true').waitFor();
    await after.getByText('Thank you for your order A-1001.').waitFor();
    await expectAccessible(page, 'an opened message of a comparison');
    await after.scrollIntoViewIfNeeded();
    await picture(page, 'run-message');
    await expectToFit(page, 390);
    await page.keyboard.press('Enter');
    await before.waitFor({ state: 'detached' });
    await page.keyboard.press('Enter');
    await before.getByText('event.total > 100  →  false').waitFor();
    expect(api.calls(CONTENT).map(({ params }) => params['slot'])).toEqual(['dlv_bob']);
  });

  it('says that the event of a message was deleted, and that its person is unknown', async () => {
    const gone = row('bob', { person: null, before: null, after: null });
    api.answer(READ, done());
    api.answer(ROWS, { items: [gone], next: null });
    api.answer(CONTENT, { row: gone, before: null, after: null, note: null });
    const page = await open(`${AT}?open=dlv_bob`);
    await page.getByText('The event is no longer on the log').waitFor();
    await page.getByText('Not known any more').waitFor();
  });

  it('says which gates differ, and why two sides look alike', async () => {
    const note = 'Several events want this message.';
    api.answer(READ, done());
    api.answer(ROWS, { items: [bob()], next: null });
    api.answer(CONTENT, { ...api.example(CONTENT), note });
    const page = await open(`${AT}?open=dlv_bob`);
    await page.getByRole('note').getByText(note).waitFor();
    const before = page.getByRole('region', { name: 'Before' });
    await before.getByRole('listitem').filter({ hasText: 'Stopped, differs' }).getByText('The rule fired').waitFor();
  });

  it('reads its messages once, also if the window gets the focus again', async () => {
    api.answer(READ, done());
    api.answer(ROWS, { items: [bob()], next: null });
    const page = await open(AT);
    await page.getByText('bob@example.com').first().waitFor();
    const read = api.calls(READ).length;
    const refocus = "document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))";
    // The run is read again, at most once in two seconds, and so would be the messages.
    await expect
      .poll(async () => {
        await page.evaluate(refocus);
        return api.calls(READ).length;
      }, DEADLINE)
      .toBeGreaterThan(read + 1);
    expect(api.calls(ROWS)).toHaveLength(1);
  });

  it('shows a viewer the numbers and no messages', async () => {
    api.answer(READ, done());
    const page = await open(AT, { as: 'viewer' });
    await page.getByText('this edit would have added messages for 37 people').waitFor();
    await page.getByText('Only owners, editors and operators of the workspace shop can do this.').first().waitFor();
    expect(api.calls(ROWS)).toEqual([]);
  });

  it('lists the findings of a verification page by page, and none to a viewer', async () => {
    const verified = { ...NO_FINDINGS, events: 400, same: 363, missing: 1, different: 1 };
    const [example] = (api.example(FINDINGS) as { readonly items: readonly object[] }).items;
    const sentence = 'Over the last 30 days, 400 events evaluated again do not give what the log has.';
    api.answer(READ, run({ kind: 'verify', counts: null, warning: null, verified, sentence, notifications: [] }));
    const missing = { ...example, id: 'int_1', problem: 'missing', field: null, position: null };
    const different = { ...example, id: 'int_2', problem: 'different', field: 'send_at' };
    api.answer(FINDINGS, ({ query }) =>
      query.get('cursor') === null ? { items: [missing], next: '1' } : { items: [different], next: null },
    );
    const page = await open(AT);
    await page.getByRole('row', { name: /^Missing – .* int_1/ }).waitFor();
    await page.getByRole('button', { name: 'More findings' }).click();
    await page.getByRole('row', { name: /^Different send_at .* int_2/ }).waitFor();
    await page.getByRole('button', { name: 'More findings' }).waitFor({ state: 'detached' });
    await expectAccessible(page, 'a verification');
    await expectToFit(page, 390);
    const read = api.calls(FINDINGS).length;
    const viewed = await open(AT, { as: 'viewer' });
    await viewed.getByText('Only owners, editors and operators of the workspace shop can do this.').first().waitFor();
    expect(api.calls(FINDINGS)).toHaveLength(read);
  });

  it('shows the progress of a run, and the reason after it is cancelled', async () => {
    const unfinished = { ended_at: null, sentence: null, counts: null, checksum: null, kept_until: null };
    api.answer(READ, run({ ...unfinished, state: 'running', progress: { read: 200, total: 400 } }));
    const page = await open(AT);
    await page.getByText('200 of 400 records read').waitFor();
    await expectAccessible(page, 'a comparison under way');
    api.answer(CANCEL, () => {
      const reason = { code: 'cancelled', detail: 'somebody cancelled the comparison: start it again for a result' };
      api.answer(READ, run({ state: 'cancelled', sentence: null, counts: null, checksum: null, reason }));
      return api.example(CANCEL);
    });
    await page.getByRole('button', { name: 'Stop comparing' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('Somebody cancelled the comparison: start it again for a result.').waitFor();
    expect(api.calls(ROWS)).toEqual([]);
  });

  it('says why a run failed, and that there is no such run', async () => {
    const reason = { code: 'no_room', detail: 'The disk is full. Free 2 GiB and compare again.' };
    api.answer(READ, run({ state: 'failed', sentence: null, counts: null, checksum: null, reason }));
    const page = await open(AT);
    await page.getByText('The disk is full. Free 2 GiB and compare again.').waitFor();
    await page.getByText('Failed').waitFor();
    guard.allowStatus(404);
    api.answer(READ, problem(404, 'not_found', 'There is no run run_1 in workspace shop.'));
    await page.reload();
    await page.getByText('There is no run run_1 in workspace shop.').waitFor();
  });

  it('compares a version with the previous one from *Versions*', async () => {
    const { items } = api.example(VERSIONS) as { readonly items: readonly object[] };
    api.answer(VERSIONS, { items: [{ ...items[0], number: 7 }], next: null });
    api.answer(START, run());
    api.answer(READ, done());
    const page = await open('/workspaces/shop/versions?open=7');
    await page.getByRole('button', { name: 'Compare with the previous version' }).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/workspaces/shop/runs/run_1');
    expect(api.calls(START).map(({ body }) => body)).toEqual([{ kind: 'compare', before: 6, after: 7 }]);
  });

  it('opens from the list of comparisons by keyboard', async () => {
    api.answer(LIST, { items: [done()], next: null });
    api.answer(READ, done());
    const page = await open('/workspaces/shop/runs');
    await page.getByRole('button', { name: /^Done order-paid/ }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Comparison of order-paid', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Comparisons' }).click();
    await page.waitForURL('**/workspaces/shop/runs');
  });
});
