import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { walkToFirstMessage } from './first-message.ts';
import { widthOf } from './accessible.ts';
import { guardPages } from './guard.ts';
import { openMember } from './member.ts';
import { moveTo } from './moves.ts';
import { listOutlivesRestart } from './restart.ts';
import { expression, RULE, total, write } from './rule-form.ts';
import { closeContexts, sharedBrowser, startDemo, type RestartedDemo } from './support.ts';

/** One of so many calls fails: more than 3 %, since a walk to a first message has but forty calls. */
const ONE_OF = 12;
const BUSY = { status: 503, code: 'unavailable', title: 'Busy', detail: 'The store is busy.', request_id: 'req_1' };

const BUSY_RESPONSE = { status: 503, contentType: 'application/problem+json', body: JSON.stringify(BUSY) };

/** Presses a button again whenever the screen says that it failed, until it has led to what it should. */
async function pressUntil(button: Locator, leadsTo: Locator): Promise<void> {
  const page = button.page();
  const refused = page.getByText(BUSY.detail).or(page.getByText('Carillon does not answer'));
  do {
    // The call that failed may not be the button's own: what it leads to is then there, and the button may be gone.
    await Promise.race([button.click().catch(() => undefined), leadsTo.waitFor()]);
    await leadsTo.or(refused).first().waitFor();
  } while (!(await leadsTo.isVisible()));
}

describeWith('chromium', 'the portal in trouble', () => {
  let demo: RestartedDemo;
  let browser: Browser;
  const guard = guardPages(() => (demo ? [demo.control] : []));

  beforeAll(async () => {
    [demo, browser] = await Promise.all([startDemo(), sharedBrowser()]);
  });
  afterAll(async () => {
    await closeContexts();
    await demo?.stop();
  });

  const signedIn = async (): Promise<Page> => {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    await context.request.post(`${demo.control}/v1/session`, { data: { word: demo.ownerToken } });
    return guard.openPage(context);
  };
  const link = async (): Promise<{ control: string; welcome: string }> => ({
    control: demo.control,
    welcome: (await demo.ask<{ word: string }>('/v1/owner-links', {})).word,
  });

  it('fits a phone and a tablet on every page of a notification', async () => {
    const page = await signedIn();
    const notification = RULE.replace('/rules/paid', '');
    for (const [path, ready] of [
      ['/workspaces/shop/notifications', 'Order paid'],
      [notification, 'Last 24 hours'],
      [`${notification}/rules`, 'Add a rule'],
      [RULE, 'Required fields'],
      [`${notification}/channels`, 'Send by email'],
      [`${notification}/secure`, 'Senders sign in with'],
      [`${notification}/versions`, 'Current'],
      ['/workspaces/shop/drafts', 'No drafts to publish'],
    ] as const) {
      await page.setViewportSize({ width: 390, height: 844 });
      await moveTo(page, `${demo.control}${path}`);
      await page.locator('main').getByText(ready).first().waitFor();
      for (const width of [390, 768]) {
        await page.setViewportSize({ width, height: 844 });
        await expect.poll(() => widthOf(page), { message: `${path} at ${width} px` }).toBeLessThanOrEqual(width);
      }
    }
    await page.context().close();
  });

  it('lets two people edit one rule: the later one gets a conflict to resolve, and no text is lost silently', async () => {
    // The later one saves over a revision that is no more; a draft is gone once it is discarded.
    guard.allowStatus(412, 404);
    const ada = await signedIn();
    const bob = await guard.openPage(await openMember(demo, browser, { workspace: 'shop', role: 'editor' }));
    for (const page of [ada, bob]) {
      await page.goto(`${demo.control}${RULE}`);
      await total(page).waitFor();
    }
    await write(ada, '70');
    await ada.locator('[data-draft="saved"]').waitFor();
    await write(bob, '80');
    const told = bob.getByText('Another person changed, published or discarded this draft while you typed.');
    await told.waitFor();
    // Both are there: one on the server, the other on the screen.
    await expression(bob).getByText('event.total > 80').waitFor();
    await expression(ada).getByText('event.total > 70').waitFor();
    await bob.getByRole('button', { name: 'Take theirs' }).click();
    await expression(bob).getByText('event.total > 70').waitFor();
    // The form follows once the server has read the expression.
    await expect.poll(() => total(bob).inputValue()).toBe('70');

    await write(bob, '90');
    await bob.locator('[data-draft="saved"]').waitFor();
    await write(ada, '60');
    await ada.getByText('Another person changed, published or discarded this draft').waitFor();
    await ada.getByRole('button', { name: 'Keep mine' }).click();
    await ada.locator('[data-draft="saved"]').waitFor();
    await bob.reload();
    await expression(bob).getByText('event.total > 60').waitFor();
    await bob.getByRole('button', { name: 'Discard', exact: true }).click();
    await bob.getByRole('button', { name: 'Discard the draft' }).click();
    await bob.getByText('The draft is discarded.').waitFor();
    await ada.context().close();
    await bob.context().close();
  });

  it('keeps an open list while the server is killed and comes back, and then goes on by itself', () =>
    listOutlivesRestart({ demo, browser, guard }));

  it('leads to a first message though 3 % of all calls fail: reading heals by itself, writing is pressed again', async () => {
    // A second press meets drafts that the first one made.
    guard.allowStatus(400, 404, 412, 503);
    guard.allowAway();
    const page = await guard.openPage(await browser.newContext({ viewport: { width: 1440, height: 900 } }));
    let calls = 0;
    let failed = 0;
    await page.route('**/v1/**', (route) => {
      calls += 1;
      // The link is used up by its first call: nobody could press it again.
      if (calls % ONE_OF !== 0 || route.request().url().endsWith('/v1/session')) return route.fallback();
      failed += 1;
      // One time the server refuses the call, the next time nobody responds to it.
      return failed % 2 === 0 ? route.abort('connectionreset') : route.fulfill(BUSY_RESPONSE);
    });
    await walkToFirstMessage(page, await link(), { press: pressUntil });
    console.log(`${failed} of ${calls} calls failed`);
    expect(failed).toBeGreaterThan(1);
    await page.context().close();
  });

  it('makes a notification that a key may send to, although the keys load after the button is pressed', async () => {
    const page = await signedIn();
    const main = page.locator('main');
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    await page.route('**/api-keys', (route) => held.then(() => route.fallback()));
    await page.goto(`${demo.control}/workspaces/shop/notifications`);
    await main.getByRole('button', { name: 'New notification' }).click();
    const dialog = page.getByRole('dialog', { name: 'New notification' });
    await dialog.getByRole('button', { name: /Parcel on its way/ }).click();
    await dialog.getByRole('button', { name: 'Create the draft' }).click();
    release();
    await main.getByRole('button', { name: 'Review and publish' }).click();
    await main.getByText('Notification parcel-on-its-way').waitFor();
    await main.getByRole('button', { name: 'Publish 2 changes' }).click();
    await page.getByText(/Published as configuration/).waitFor();
    await page.context().close();
  });

  it('makes the drafts of a notification with a second press after the first one failed half-way', async () => {
    guard.allowStatus(412, 503);
    const page = await signedIn();
    const main = page.locator('main');
    let writes = 0;
    await page.route('**/draft', (route) => {
      if (route.request().method() === 'PUT') writes += 1;
      return writes === 2 ? route.fulfill(BUSY_RESPONSE) : route.fallback();
    });
    await page.goto(`${demo.control}/workspaces/shop/notifications`);
    await main.getByRole('button', { name: 'New notification' }).click();
    const dialog = page.getByRole('dialog', { name: 'New notification' });
    await dialog.getByLabel('Name', { exact: true }).fill('Half way');
    await dialog.getByRole('button', { name: 'Create the draft' }).click();
    await dialog.getByText(BUSY.detail).waitFor();
    await dialog.getByRole('button', { name: 'Create the draft' }).click();
    await page.waitForURL('**/notifications/half-way/rules/first*');
    const { items } = await demo.ask<{ items: readonly { name: string }[] }>('/v1/workspaces/shop/drafts');
    expect(items.filter(({ name }) => name === 'half-way')).toHaveLength(2);
    await page.context().close();
  });

  it('asks before text is left that is not saved', async () => {
    guard.allowStatus(404);
    const page = await signedIn();
    await page.goto(`${demo.control}${RULE}`);
    const field = page.locator('main').getByLabel('Field of condition 2');
    await field.fill('');
    expect(await page.getByText('Name a field, such as').count()).toBe(0);
    await page.keyboard.press('Control+Enter');
    await page.getByText('Name a field, such as event.status.').waitFor();
    await page.getByText('Not run, because the rule on the screen is not saved.').waitFor();
    await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Templates' }).click();
    const question = page.getByRole('dialog', { name: 'Leave this page?' });
    await question.getByRole('button', { name: 'Stay' }).click();
    await question.waitFor({ state: 'detached' });
    expect(await field.inputValue()).toBe('');
    await field.fill('event.total');

    // The browser asks while the draft is not on the server, and not once it is.
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    await page.route('**/draft', async (route) => {
      if (route.request().method() === 'PUT') await held;
      await route.fallback();
    });
    const asked = page.waitForEvent('dialog');
    await total(page).fill('51');
    await page.close({ runBeforeUnload: true });
    expect((await asked).type()).toBe('beforeunload');
    await (await asked).dismiss();
    release();
    await page.locator('[data-draft="saved"]').waitFor();
    const closed = page.waitForEvent('close');
    await page.close({ runBeforeUnload: true });
    await closed;
    await page.context().close();
  });

  it('saves by Ctrl and S, without waiting for a pause', async () => {
    guard.allowStatus(404);
    const own = await signedIn();
    // The pause after which a draft saves itself never ends here.
    await own.addInitScript(`{
      const later = window.setTimeout;
      window.setTimeout = (act, time, ...more) => later(act, time === 600 ? 3_600_000 : time, ...more);
    }`);
    await own.goto(`${demo.control}${RULE}`);
    for (const value of ['71', '72']) {
      await total(own).fill(value);
      await own.keyboard.press('Control+s');
      await expect
        .poll(
          () =>
            demo
              .ask<object>('/v1/workspaces/shop/notifications/order-paid/draft')
              .then((draft) => JSON.stringify(draft), String),
          { timeout: 30_000 },
        )
        .toContain(`event.total > ${value}`);
    }
    await own.context().close();
  });

  it('saves text typed just before signing out, and leaves nothing in the tab', async () => {
    guard.allowStatus(401, 404);
    const page = await signedIn();
    await page.goto(`${demo.control}${RULE}`);
    await total(page).waitFor();
    await page.evaluate('window.isSamePage = true');
    await write(page, '45');
    await page.getByRole('button', { name: 'Appearance, shortcuts and sign out' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.waitForURL(`${demo.control}/sign-in`);
    await page.getByRole('heading', { name: 'Sign in to Carillon' }).waitFor();
    expect(await page.evaluate('[window.isSamePage ?? false, sessionStorage.length]')).toEqual([false, 0]);
    const draft = await demo.ask<{ body: object }>('/v1/workspaces/shop/notifications/order-paid/draft');
    expect(JSON.stringify(draft.body)).toContain('event.total > 45');
    await page.context().close();
  });

  it('asks before signing out while a draft cannot be saved, and loses only the text that the person gives up', async () => {
    guard.allowStatus(401, 404, 503);
    const page = await signedIn();
    await page.goto(`${demo.control}${RULE}`);
    await total(page).waitFor();
    await page.route('**/draft', (route) =>
      route.request().method() === 'PUT' ? route.fulfill(BUSY_RESPONSE) : route.fallback(),
    );
    await write(page, '46');
    const signOut = async (): Promise<void> => {
      await page.getByRole('button', { name: 'Appearance, shortcuts and sign out' }).click();
      await page.getByRole('menuitem', { name: 'Sign out' }).click();
      await page.getByRole('dialog', { name: 'Sign out without saving?' }).waitFor();
    };
    await signOut();
    await page.getByRole('button', { name: 'Stay' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await total(page).inputValue()).toBe('46');
    await signOut();
    await page.getByRole('button', { name: 'Sign out without saving' }).click();
    await page.waitForURL(`${demo.control}/sign-in`);
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
    await page.context().close();
  });
});
