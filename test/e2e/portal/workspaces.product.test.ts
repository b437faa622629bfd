import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { sentencesInForm, type ApiFault } from '../../../apps/portal/src/faults/form-sentences.ts';
import { expectAccessible, expectToFit, picture } from './accessible.ts';
import { guardPages } from './guard.ts';
import { moveTo } from './moves.ts';
import { closeContexts, sharedBrowser, startDemo, type Demo } from './support.ts';

type Body = Readonly<Record<string, unknown>>;

describeWith('chromium', 'workspaces in the portal', () => {
  let demo: Demo;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  const guard = guardPages(() => (demo ? [demo.control] : []));

  const main = () => page.locator('main');
  const dialog = () => page.getByRole('dialog');
  const card = (name: string) => main().getByRole('region', { name, exact: true });
  const bodyOf = async (workspace: string) => (await demo.ask<{ body: Body }>(`/v1/workspaces/${workspace}`)).body;
  /** The portal's words for a mistake in the body of a workspace, which have to stand at the field. */
  const faultOf = async (workspace: string, body: Body) => {
    const { faults } = await demo.ask<{ faults: readonly ApiFault[] }>(
      `/v1/workspaces/${workspace}/settings/check`,
      body,
    );
    return faults[0] ? sentencesInForm(faults[0]).message : '';
  };
  async function openWorkspaces(): Promise<void> {
    await page.goto(demo.control);
    await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Workspaces' }).click();
    await main().getByRole('heading', { name: 'Workspaces', level: 1 }).waitFor();
  }
  async function publish(): Promise<void> {
    await page.locator('[data-draft="saved"]').waitFor();
    await page.getByRole('button', { name: 'Review and publish' }).click();
    await main().getByRole('button', { name: 'Publish 1 change' }).click();
    await page.getByText(/Published as configuration \d+/).waitFor();
  }

  beforeAll(async () => {
    [demo, browser] = await Promise.all([startDemo(), sharedBrowser()]);
    context = await browser.newContext({ viewport: { width: 1440, height: 900 }, timezoneId: 'Europe/Berlin' });
    await context.request.post(`${demo.control}/v1/session`, { data: { word: demo.ownerToken } });
    page = await guard.openPage(context);
    page.setDefaultTimeout(30_000);
  });
  afterAll(async () => {
    await closeContexts();
    await demo?.stop();
  });

  it('refuses a name while it is typed: taken, upper case, or malformed', async () => {
    guard.allowStatus(400, 422);
    await openWorkspaces();
    await main().getByRole('button', { name: 'New workspace' }).click();
    const name = dialog().getByLabel('Name', { exact: true });
    const make = dialog().getByRole('button', { name: 'Make the workspace' });
    await name.fill('shop');
    await dialog().getByText('There is a workspace shop already. Give another name.').waitFor();
    expect(await make.isDisabled()).toBe(true);
    await name.fill('..');
    await dialog().getByText('The name ".." cannot be used.').waitFor();
    expect(await make.isDisabled()).toBe(true);
    await name.fill('Care');
    await make.click();
    const words = await faultOf('Care', {});
    expect(words).toContain('cannot be used');
    await dialog().getByText(words).waitFor();
    expect(await name.getAttribute('aria-invalid')).toBe('true');
    await expectAccessible(page, 'a name that is refused');
    await name.fill('care');
    await dialog().getByText(words).waitFor({ state: 'detached' });
    await dialog().getByLabel('Language').fill('the language of birds');
    await make.click();
    await dialog()
      .getByText(await faultOf('care', { locale: 'the language of birds' }))
      .waitFor();
    // Nothing of it was made.
    expect((await demo.ask<{ workspaces: string[] }>('/v1/status')).workspaces).toEqual(['shop']);
  });

  it('makes a workspace that counts at once, and leads to its overview with the guide', async () => {
    await openWorkspaces();
    await main().getByRole('button', { name: 'New workspace' }).click();
    await dialog().getByLabel('Name', { exact: true }).fill('care');
    await dialog().getByLabel('Name for people').fill('Care');
    // The clock of whoever makes it is offered.
    expect(await dialog().getByLabel('Time zone').inputValue()).toBe('Europe/Berlin');
    await dialog().getByText('As curl').click();
    await dialog()
      .getByText(/if-none-match: \*/)
      .waitFor();
    await expectAccessible(page, 'a new workspace');
    await picture(page, 'new-workspace');
    await expectToFit(page, 390);
    await dialog().getByRole('button', { name: 'Make the workspace' }).click();
    await page.waitForURL('**/workspaces/care');
    await main().getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    // The guide's next step works: what one may do in the new workspace is known.
    await main().getByRole('link', { name: 'Create a notification' }).click();
    await main().getByRole('button', { name: 'Start from an example' }).click();
    await dialog().getByRole('button', { name: 'Create the draft' }).waitFor();
    expect(await dialog().getByRole('button', { name: 'Create the draft' }).getAttribute('aria-disabled')).toBeNull();
    expect(await bodyOf('care')).toEqual({ name: 'Care', time_zone: 'Europe/Berlin' });
  });

  it('creates a test environment with the settings of its workspace, which sends to nobody', async () => {
    await openWorkspaces();
    await picture(page, 'workspaces');
    await main().getByRole('button', { name: 'New test environment of care' }).click();
    expect(await dialog().getByLabel('Name', { exact: true }).inputValue()).toBe('care-test');
    await dialog().getByText('Messages stay in the inbox of Carillon').waitFor();
    await dialog().getByText('until somebody allows real accounts in its settings').waitFor();
    await expectAccessible(page, 'a new test environment');
    await picture(page, 'new-test-environment');
    await dialog().getByRole('button', { name: 'Make the test environment' }).click();
    await page.waitForURL('**/workspaces/care-test/copy');
    await main().getByRole('heading', { name: 'Start with a copy of care', level: 1 }).waitFor();
    await page.getByText('Test environment of care: its messages stay in the inbox.').waitFor();
    expect(await bodyOf('care-test')).toEqual({
      name: 'Care (test)',
      time_zone: 'Europe/Berlin',
      environment: 'test',
      of: 'care',
    });
    await openWorkspaces();
    await main().getByText('Care (test) · Test environment of care').waitFor();
    expect(await main().getByRole('button', { name: 'New test environment of care-test' }).count()).toBe(0);
  });

  it('edits workspace settings as a draft that shows mistakes at their fields, and takes effect when published', async () => {
    await openWorkspaces();
    await main().getByRole('link', { name: 'Settings of care', exact: true }).click();
    const language = card('Name, time zone and language').getByLabel('Language');
    await language.fill('the language of birds');
    await page.locator('[data-draft="saved"]').waitFor();
    expect(await language.getAttribute('aria-invalid')).toBeNull();
    await language.blur();
    await main()
      .getByText(await faultOf('care', { locale: 'the language of birds' }))
      .waitFor();
    await expectAccessible(page, 'settings with a mistake');
    await language.fill('de');
    await card('Name, time zone and language').getByLabel('Time zone').selectOption('Europe/Vienna');
    await card('Categories').getByLabel('New category').fill('orders');
    await card('Categories').getByRole('button', { name: 'Add the category' }).click();
    await card('Categories')
      .getByRole('group', { name: 'Category orders' })
      .getByLabel('Name for people')
      .fill('Orders');
    await page.locator('[data-draft="saved"]').waitFor();
    await expectAccessible(page, 'settings with a draft');
    await picture(page, 'workspace-settings');
    await expectToFit(page, 390);
    await page.setViewportSize({ width: 1440, height: 900 });
    expect(await bodyOf('care')).toEqual({ name: 'Care', time_zone: 'Europe/Berlin' });
    await publish();
    expect(await bodyOf('care')).toEqual({
      name: 'Care',
      time_zone: 'Europe/Vienna',
      locale: 'de',
      categories: { orders: { name: 'Orders' } },
    });
    await moveTo(page, `${demo.control}/workspaces/care/settings`);
    await main().getByText('As YAML').click();
    await main().getByRole('group', { name: 'the file' }).getByText('time_zone: Europe/Vienna').waitFor();
  });

  it('warns before a test environment may use real accounts, and undoes that completely', async () => {
    await moveTo(page, `${demo.control}/workspaces/care-test/settings`);
    await card('Environment').getByText('Send real messages anyway').click();
    await card('Environment').getByText('messages of this test environment reach real people').waitFor();
    await page.locator('[data-draft="saved"]').waitFor();
    await expectAccessible(page, 'a test environment that would reach people');
    await picture(page, 'workspace-environment');
    await card('Environment').getByText('Send real messages anyway').click();
    await page.locator('[data-draft]').waitFor({ state: 'detached' });
    expect((await demo.ask<{ items: object[] }>('/v1/workspaces/care-test/drafts')).items).toEqual([]);
  });

  it('removes a workspace after showing counts and remaining references, and after its name is typed', async () => {
    await moveTo(page, `${demo.control}/workspaces/care/settings`);
    await main().getByRole('button', { name: 'Remove care…' }).click();
    await dialog().getByText('Other resources still need this workspace').waitFor();
    await dialog()
      .getByText(/care-test/)
      .first()
      .waitFor();
    await expectAccessible(page, 'a workspace that is needed');
    await dialog().getByRole('button', { name: 'Close' }).click();
    await moveTo(page, `${demo.control}/workspaces/care-test/settings`);
    await main().getByRole('button', { name: 'Remove care-test…' }).click();
    await dialog().getByText('0 people were notified by it').waitFor();
    const go = dialog().getByRole('button', { name: 'Remove care-test', exact: true });
    expect(await go.isDisabled()).toBe(true);
    await expectAccessible(page, 'the question before a removal');
    await picture(page, 'remove-workspace');
    await expectToFit(page, 390);
    await page.setViewportSize({ width: 1440, height: 900 });
    await dialog().getByLabel('Type care-test to confirm').fill('care-test');
    await go.click();
    await page.waitForURL(`${demo.control}/workspaces`);
    await page.getByText('care-test and everything in it are deleted').waitFor();
    await main().getByRole('link', { name: 'care-test', exact: true }).waitFor({ state: 'detached' });
    const { items } = await demo.ask<{ items: { target: string }[] }>('/v1/audit?action=resource.remove');
    expect(items[0]).toMatchObject({ target: 'workspace:care-test/', workspace: 'care-test', outcome: 'done' });
  });
});
