import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { expectAccessible, expectToFit, picture } from '../portal/accessible.ts';
import { problem, type Call } from './scripted-api.ts';
import { startJob } from './jobs.ts';
import { testScreens } from './test-screens.ts';

type Entry = { channel: string; address: string; source: string; detail: string; [field: string]: unknown };
type Named = Pick<Entry, 'channel' | 'address' | 'source'>;

const LIST = 'GET /v1/workspaces/{workspace}/suppressions';
const ADD = 'POST /v1/workspaces/{workspace}/suppressions';
const REMOVE = 'POST /v1/workspaces/{workspace}/suppressions/remove';
const REMOVE_MANY = 'POST /v1/workspaces/{workspace}/suppressions/remove-many';
const COUNT = 'POST /v1/workspaces/{workspace}/suppressions/count';
const RESTORE = 'POST /v1/workspaces/{workspace}/suppressions/restore';
const IMPORT = 'POST /v1/workspaces/{workspace}/suppressions/import';
const AT = '/workspaces/shop/suppressions';

const entry = (address: string, source: string, detail = ''): Entry => ({
  workspace: 'shop',
  channel: 'email',
  address,
  source,
  detail,
  by: null,
  delivery_id: null,
  at: '2026-11-22T10:42:00.180Z',
});
const isSame = (one: Named, other: Named): boolean =>
  one.channel === other.channel && one.address === other.address && one.source === other.source;

testScreens('the suppressions of a workspace', ({ api, guard, open }) => {
  const rows = (page: Page) => page.locator('main [data-key]');
  const dialog = (page: Page) => page.getByRole('dialog');

  /** Serves a list of suppressions that the calls of the screen change. */
  function serve(...first: readonly Entry[]): void {
    let entries = first;
    let removed: readonly Entry[] = [];
    const remove = (wanted: readonly Named[]): void => {
      removed = entries.filter((one) => wanted.some((other) => isSame(one, other)));
      entries = entries.filter((one) => !removed.includes(one));
    };
    const others = (of: Pick<Entry, 'address'>) => entries.filter(({ address }) => address === of.address);
    const chosenBy = ({ body }: Call): readonly Named[] => {
      const { entries: named, filter } = body as { entries?: readonly Named[]; filter?: Partial<Named> };
      return named ?? entries.filter(({ source }) => filter?.source === undefined || source === filter.source);
    };
    api.answer(LIST, ({ query }: Call) => ({
      items: entries.filter(
        ({ address, source }) =>
          [null, address].includes(query.get('address')?.toLowerCase() ?? null) &&
          [null, source].includes(query.get('source')),
      ),
      next: null,
    }));
    api.answer(ADD, (call: Call) => {
      const { address, detail } = call.body as Entry;
      if (!address.includes('@')) {
        return problem(400, 'invalid_request', 'address: it is no email address', { pointer: '/address' });
      }
      entries = [entry(address.toLowerCase(), 'operator', detail), ...entries];
      return { added: true, items: others({ address: address.toLowerCase() }) };
    });
    api.answer(REMOVE, (call: Call) => {
      const wanted = call.body as Named;
      remove([wanted]);
      return { removed: true, still: others(wanted), undo: 'undo-1' };
    });
    api.answer(COUNT, (call: Call) => ({
      removed: chosenBy(call).length,
      addresses: 1,
      still: 0,
      more: false,
      ceiling: 10_000,
    }));
    api.answer(REMOVE_MANY, (call: Call) => {
      const before = entries;
      remove(chosenBy(call));
      const undo = () => void (entries = before);
      return startJob(api, { action: 'remove_suppressions', of: removed.length, undo });
    });
    api.answer(RESTORE, () => {
      entries = [...entries, ...removed];
      return { restored: removed.length };
    });
  }

  it('are empty at first, and reached from the navigation', async () => {
    serve();
    const page = await open('/workspaces/shop');
    await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Suppressions' }).click();
    await page.getByText('No suppressed addresses').waitFor();
    await expectAccessible(page, 'no suppression');
    await expectToFit(page, 390, 320);
  });

  it('take an address by hand, and say what is wrong with one', async () => {
    serve();
    guard.allowStatus(400);
    const page = await open(AT);
    await page.getByRole('button', { name: 'Add an address' }).first().click();
    await dialog(page).getByLabel('Address', { exact: true }).fill('nonsense');
    await dialog(page).getByLabel('Reason').fill('asked by phone');
    await page.keyboard.press('Enter');
    await dialog(page)
      .getByText(/email address/)
      .first()
      .waitFor();
    await expectAccessible(page, 'a wrong address');
    await picture(page, 'add-suppression');
    await dialog(page).getByLabel('Address', { exact: true }).fill('Bob@Example.com');
    await dialog(page).getByRole('button', { name: 'Add the address' }).click();
    await page.getByText('Nothing is sent to Bob@Example.com any more.').waitFor();
    await expect.poll(() => rows(page).count()).toBe(1);
    expect(api.calls(ADD).at(-1)?.body).toEqual({
      channel: 'email',
      address: 'Bob@Example.com',
      detail: 'asked by phone',
    });
  });

  it('are searched by address, sent to the server unchanged', async () => {
    serve(entry('bob@example.com', 'operator'));
    const page = await open(AT);
    await page.getByRole('searchbox').fill('BOB@example.COM');
    await page.keyboard.press('Enter');
    await page.waitForURL(/address=BOB/);
    await expect.poll(() => api.calls(LIST).at(-1)?.query.get('address')).toBe('BOB@example.COM');
    await expect.poll(() => rows(page).count()).toBe(1);
    await page.getByRole('searchbox').fill('eve@example.com');
    await page.keyboard.press('Enter');
    await page.getByText('No address matches this filter').waitFor();
    await page.getByRole('button', { name: 'Clear the filter' }).click();
    await expect.poll(() => rows(page).count()).toBe(1);
  });

  it('open by the keyboard, and are taken back with a way to undo', async () => {
    serve(entry('bob@example.com', 'operator', 'asked by phone'));
    const page = await open(AT);
    await rows(page).first().focus();
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'Suppression' }).getByText('asked by phone').waitFor();
    await expectAccessible(page, 'a suppression');
    await picture(page, 'suppression');
    await expectToFit(page, 390);
    await page.getByRole('button', { name: 'Remove…' }).click();
    await dialog(page).getByText('No other source suppresses this address').waitFor();
    await expectAccessible(page, 'taking back');
    await dialog(page)
      .getByRole('button', { name: /^Remove “/ })
      .click();
    await page.getByText('Messages are sent to bob@example.com again.').waitFor();
    await page.getByText('No suppressed addresses').waitFor();
    // The notice stays while its button has the focus.
    await page.getByRole('status').getByRole('button', { name: 'Undo' }).last().focus();
    await page.keyboard.press('Enter');
    await page.getByText('Undone.').waitFor();
    await expect.poll(() => rows(page).count()).toBe(1);
    expect(api.calls(RESTORE).map(({ body }) => body)).toEqual([{ undo: 'undo-1' }]);
  });

  it('are taken back together when they are chosen, with their number first', async () => {
    serve(entry('bob@example.com', 'operator'));
    const page = await open(AT);
    await page.getByRole('checkbox', { name: /^Choose / }).check();
    await page.getByRole('button', { name: 'Remove…' }).click();
    await dialog(page).getByText('From now on messages are sent again to 1 address').waitFor();
    await expectAccessible(page, 'taking back what is chosen');
    await dialog(page).getByRole('button', { name: 'Remove 1' }).click();
    await dialog(page).getByText('Done: 1 of 1.').waitFor();
    await expectAccessible(page, 'a job that ended and can be undone');
    expect(api.calls(REMOVE_MANY).map(({ body }) => body)).toEqual([
      { entries: [{ channel: 'email', address: 'bob@example.com', source: 'operator' }] },
    ]);
    await dialog(page).getByRole('button', { name: 'Close' }).click();
    await page.getByText('No suppressed addresses').waitFor();
  });

  it('come back when the job that took them back is undone', async () => {
    serve(entry('bob@example.com', 'operator'));
    const page = await open(AT);
    await page.getByRole('checkbox', { name: /^Choose / }).check();
    await page.getByRole('button', { name: 'Remove…' }).click();
    await dialog(page).getByRole('button', { name: 'Remove 1' }).click();
    await dialog(page).getByRole('button', { name: 'Undo' }).click();
    await dialog(page).getByText('Undone: 1 of 1.').waitFor();
    expect(await dialog(page).getByRole('button', { name: 'Undo' }).count()).toBe(0);
    await dialog(page).getByRole('button', { name: 'Close' }).click();
    await expect.poll(() => rows(page).count()).toBe(1);
  });

  it('are removed together by filter after their number is shown', async () => {
    serve(entry('ada@example.com', 'import'), entry('bob@example.com', 'operator'));
    const page = await open(AT);
    await page.getByRole('button', { name: 'Source: Any source' }).click();
    await page.getByRole('menuitemradio', { name: 'Import' }).click();
    await page.getByRole('button', { name: 'Remove all matching addresses…' }).click();
    await dialog(page).getByText('From now on messages are sent again to 1 address').waitFor();
    await expectAccessible(page, 'taking back all that match');
    await dialog(page).getByRole('button', { name: 'Remove 1' }).click();
    await dialog(page).getByText('Done: 1 of 1.').waitFor();
    expect(api.calls(REMOVE_MANY).map(({ body }) => body)).toEqual([{ filter: { source: 'import' }, expected: 1 }]);
    await dialog(page).getByRole('button', { name: 'Close' }).click();
    await page.getByText('No address matches this filter').waitFor();
  });

  it('take a file in, and name each refused line', async () => {
    serve();
    api.answer(IMPORT, api.example(IMPORT));
    const page = await open(AT);
    const text = 'address,channel\nada@example.com,email\nno phone,sms\n';
    await page.getByRole('button', { name: 'Import…' }).click();
    await page
      .getByLabel('CSV file in UTF-8')
      .setInputFiles({ name: 'left.csv', mimeType: 'text/csv', buffer: Buffer.from(text) });
    await page.getByRole('button', { name: 'Import the file' }).click();
    await page.getByText('2 rows: 1 imported, 1 of them new, 1 refused.').waitFor();
    await page.getByText(/^Line 3: address/).waitFor();
    await expectAccessible(page, 'an import');
    await picture(page, 'import');
    expect(api.calls(IMPORT).map(({ body }) => body)).toEqual([text]);
    await dialog(page).getByRole('button', { name: 'Close' }).click();
  });

  it('say which other source still holds an address', async () => {
    serve(entry('ada@example.com', 'import'), entry('ada@example.com', 'operator'));
    const page = await open(AT);
    await expect.poll(() => rows(page).count()).toBe(2);
    await rows(page).filter({ hasText: 'Import' }).click();
    await page.getByText('Other sources').waitFor();
    await page.getByRole('button', { name: 'Remove…' }).click();
    await dialog(page).getByText('It stays suppressed by Operator.').waitFor();
    await dialog(page)
      .getByRole('button', { name: /^Remove “/ })
      .click();
    await page.getByText('Removed. Still suppressed by: Operator.').waitFor();
    await expect.poll(() => rows(page).count()).toBe(1);
  });

  it('say what went wrong and ask again', async () => {
    api.answer(LIST, problem(500, 'internal', 'The store is busy.'));
    guard.allowStatus(500);
    const page = await open(AT);
    await page.getByText('The store is busy.').waitFor();
    await page.getByText('name the request req_1').waitFor();
    await expectAccessible(page, 'suppressions, failed');
    serve();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('No suppressed addresses').waitFor();
  });

  it('are not asked for by a viewer, who reads which role sees addresses', async () => {
    const page = await open(AT, { as: 'viewer' });
    await page.getByText('You cannot see the addresses').waitFor();
    await page.getByText(/Only owners, editors and operators/).waitFor();
    await expectAccessible(page, 'suppressions, of a viewer');
    expect(api.calls(LIST)).toEqual([]);
  });

  it('are seen by an editor, who may not take one back', async () => {
    serve(entry('ada@example.com', 'operator'));
    const page = await open(AT, { as: 'editor' });
    await rows(page).first().click();
    const off = page.getByRole('button', { name: 'Remove…' });
    await expect.poll(() => off.getAttribute('aria-disabled')).toBe('true');
    await expectAccessible(page, 'suppressions of an editor');
  });
});
