import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { guardPages } from './guard.ts';
import { openLab, startTrap, type Lab, type Trap } from './lab.ts';
import { closeContexts, sharedBrowser, startDemo, type Demo } from './support.ts';

/** So often may somebody press Tab until what they look for has the focus: more, and nobody would use the page so. */
const MAX_TABS = 60;

type Focused = { readonly name: string; readonly isLost: boolean; readonly isSeen: boolean };
/** What has the focus, by the words that stand on it; lost: nothing has it; seen: a ring tells where it is. */
const FOCUSED = `(() => {
  const element = document.activeElement;
  const labels = [...(element.labels ?? [])].map((label) => label.textContent);
  const text = element.matches('a, button, li, [role], [data-key]') ? element.textContent : '';
  const name = element.getAttribute('aria-label') ?? (labels.join(' ') || text);
  const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
  return {
    name: name.replace(/\\s+/g, ' ').trim(),
    isLost: element === document.body,
    isSeen: (outlineStyle !== 'none' && outlineWidth !== '0px') || boxShadow !== 'none',
  };
})()`;

describeWith('chromium', 'the portal without a mouse', () => {
  let demo: Demo;
  let browser: Browser;
  let page: Page;
  let trap: Trap;
  let lab: Lab | undefined;
  const guard = guardPages(() => (demo ? [demo.control] : []));

  beforeAll(async () => {
    [demo, browser, trap] = await Promise.all([startDemo(), sharedBrowser(), startTrap()]);
    page = await guard.openPage(await browser.newContext({ viewport: { width: 1440, height: 900 } }));
  });
  afterAll(async () => {
    await closeContexts();
    await demo?.stop();
    await Promise.all([lab?.stop(), trap?.stop()]);
  });

  const focused = (): Promise<Focused> => page.evaluate<Focused>(FOCUSED);
  /** Whatever has come onto the page, something has the focus: who types goes on from there. */
  const expectFocus = (after: string): Promise<void> =>
    expect.poll(async () => (await focused()).isLost, { timeout: 60_000, message: `focus after ${after}` }).toBe(false);

  /** Presses Tab until what is called so has the focus, and then the key. */
  async function reach(name: RegExp, key = 'Enter'): Promise<void> {
    await page.locator(':is(a, button, [role="button"], [data-key])').filter({ hasText: name }).first().waitFor();
    const passed: string[] = [];
    for (let tabs = 0; tabs < MAX_TABS; tabs += 1) {
      const now = await focused();
      if (name.test(now.name)) {
        expect(now.isSeen, `a ring around ${now.name}`).toBe(true);
        await page.keyboard.press(key);
        return;
      }
      passed.push(now.name.slice(0, 40));
      await page.keyboard.press('Tab');
    }
    throw new Error(`${name.source} was not reached; passed: ${passed.join(' | ')}`);
  }

  /** Opens a row of the list that is shown, wherever in it that stands: j leads into the list, and from row to row. */
  async function openRow(name: RegExp): Promise<void> {
    const row = page.locator('main [data-key]').filter({ hasText: name }).first();
    await row.waitFor();
    await page.keyboard.press('j');
    await page.locator('main [data-key]:focus').waitFor();
    await page.keyboard.press('Home');
    for (let rows = 0; rows < MAX_TABS && !name.test((await focused()).name); rows += 1) {
      const before = (await focused()).name;
      await page.keyboard.press('j');
      await expect.poll(async () => (await focused()).name, { message: `the row after ${before}` }).not.toBe(before);
    }
    expect((await focused()).isSeen, `a ring around ${name.source}`).toBe(true);
    await page.keyboard.press('Enter');
  }

  it('leads from the printed link to a message of an own notification, by Tab and Enter', async () => {
    guard.allowStatus(400, 404);
    await page.goto(`${demo.control}/welcome#${demo.welcome}`);
    await reach(/^Notifications$/);
    await reach(/^New notification$/);
    await page.getByRole('dialog', { name: 'New notification' }).waitFor();
    await expectFocus('the dialog opened');
    await reach(/Invoice overdue/);
    await reach(/^Create the draft$/);
    await page.waitForURL('**/notifications/invoice-overdue/rules/first*');
    await page.getByRole('button', { name: 'Review and publish' }).waitFor();
    await expectFocus('the draft is made');
    await reach(/^Review and publish$/);
    await page.getByRole('button', { name: 'Publish 2 changes' }).waitFor();
    await expectFocus('the review opened');
    await reach(/^Publish 2 changes$/);
    await page.getByText(/Published as configuration \d+/).waitFor();
    await expectFocus('it is published');
    await reach(/^Event streams$/);
    await reach(/^invoice-overdue\.first$/);
    await page.getByRole('button', { name: 'Send this event now' }).waitFor();
    await expectFocus('the stream opened');
    await reach(/^Send this event now$/);
    await page.locator('main').getByText('Sent as evt_').waitFor();
    await expectFocus('the event is sent');
    await reach(/^Inbox$/);
    // The demo's own messages may come before it or after it.
    await openRow(/Invoice/);
    await page
      .getByRole('heading', { name: /Invoice/ })
      .first()
      .waitFor();
    await expectFocus('the message opened');
  });

  it('sends a message again, by the keys of the list', async () => {
    lab = await openLab(demo, trap);
    await demo.send('lab/orders', lab.key, { kind: 'doubt', email: 'ada@example.com', subject: 'Hello', name: 'Ada' });
    await lab.untilStates('IN_DOUBT');
    await page.goto(`${demo.control}/workspaces/lab`);
    await reach(/^Deliveries$/);
    await page.locator('main [data-key]').first().waitFor();
    await expectFocus('the list opened');
    await reach(/@/);
    await page.getByRole('button', { name: 'Send again' }).waitFor();
    await expectFocus('the delivery opened');
    await reach(/^Send again$/);
    await page.getByRole('group', { name: 'Confirmation' }).locator('button:focus').waitFor();
    await page.keyboard.press('Enter');
    await page.locator('[data-step="attempt"]').nth(1).waitFor();
    await expectFocus('it is sent again');
  });
});
