import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { expectAccessible, expectToFit, picture } from './accessible.ts';
import { guardPages } from './guard.ts';
import { openLab, startTrap, type Lab, type Trap } from './lab.ts';
import { openBrowser, startDemo, type Demo } from './support.ts';

const DOUBTS = 12;
/** One of them is ended as sent. */
const FAILED = DOUBTS - 1;

describeWith('chromium', 'many deliveries at once in a browser', () => {
  let demo: Demo;
  let trap: Trap;
  let lab: Lab;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  const guard = guardPages(() => [demo.control]);
  const rows = () => page.locator('main [data-key]');
  const search = (name: string) => page.getByRole('searchbox', { name });

  beforeAll(async () => {
    [demo, trap, browser] = await Promise.all([startDemo(), startTrap(), openBrowser()]);
    lab = await openLab(demo, trap);
    await demo.send('lab/orders', lab.key, { kind: 'once', email: 'ada@example.com', subject: 'one', name: 'Ada' });
    for (let at = 0; at < DOUBTS; at += 1) {
      const email = `doubt-${at}@example.com`;
      await demo.send('lab/orders', lab.key, { kind: 'doubt', email, subject: `${at}`, name: 'Bob' });
    }
    await lab.untilStates(...Array.from({ length: DOUBTS }, () => 'IN_DOUBT'), 'SENT');
    context = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: 'de-DE' });
    await context.request.post(`${demo.control}/v1/session`, { data: { word: demo.ownerToken } });
    page = await guard.openPage(context);
  });
  beforeEach(async () => {
    await page.goto(`${demo.control}/workspaces/lab/deliveries`);
    await rows().first().waitFor();
  });
  afterAll(async () => {
    await browser?.close();
    await lab?.stop();
    await trap?.stop();
    await demo?.stop();
  });

  it('lets somebody type in the middle of what they look for, and writes it into the address once they pause', async () => {
    await search('Recipient').pressSequentially('da@example.com');
    await page.keyboard.press('Home');
    await search('Recipient').pressSequentially('a');
    await page.waitForURL(/recipient=ada%40example.com/);
    await page.keyboard.type('x');
    expect(await search('Recipient').inputValue()).toBe('axda@example.com');
    await page.getByText('No delivery fits this filter').waitFor();
    await search('Recipient').fill('ada@');
    await expect.poll(() => rows().count()).toBe(1);
    await expectAccessible(page, 'a search');
    await page.getByRole('button', { name: /Search by/ }).click();
    await page.getByRole('option', { name: 'unique_id' }).click();
    await search('unique_id').fill('ada@example.com');
    await page.waitForURL(/unique_id=ada%40example.com/);
    expect(page.url()).not.toContain('recipient=');
    await expect.poll(() => rows().count()).toBe(1);
    // The address alone shows the same.
    await page.reload();
    await expect.poll(() => rows().count()).toBe(1);
    expect(await search('unique_id').inputValue()).toBe('ada@example.com');
    await page.getByRole('button', { name: 'Clear' }).click();
    await expect.poll(() => rows().count()).toBe(DOUBTS + 1);
    expect(await page.getByRole('searchbox').inputValue()).toBe('');
  });

  it('narrows the list down to a part of the bars, by the mouse and by the keyboard, and keeps it in the address', async () => {
    const bars = page.getByRole('img', { name: /13 deliveries by state/ });
    await bars.waitFor();
    const box = (await bars.boundingBox())!;
    await page.mouse.move(box.x + box.width * 0.1, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.3, box.y + 20);
    await page.mouse.up();
    await page.waitForURL(/from=.*to=/);
    // Nothing happened that long ago.
    await page.getByText('No delivery fits this filter').waitFor();
    await page.getByRole('button', { name: 'Any time' }).last().click();
    await expect.poll(() => rows().count()).toBe(DOUBTS + 1);
    await page.getByText('Show as table').focus();
    await page.keyboard.press('Enter');
    await page
      .getByRole('button', { name: /^Only / })
      .last()
      .focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(/from=.*to=/);
    await expect.poll(() => rows().count()).toBeGreaterThan(0);
    await expectAccessible(page, 'a range');
    await expectToFit(page, 390);
  });

  it('closes what is open by Escape from the list, and keeps its place', async () => {
    await rows().nth(2).click();
    await page.getByRole('region', { name: 'Story' }).getByRole('button', { name: 'Close' }).waitFor();
    await rows().nth(2).focus();
    await page.keyboard.press('Escape');
    await page.getByRole('region', { name: 'Story' }).waitFor({ state: 'detached' });
  });

  it('chooses rows by x, by a range and by the box, and says first how many people are touched', async () => {
    await page.goto(`${demo.control}/workspaces/lab/deliveries/in-doubt`);
    await expect.poll(() => rows().count()).toBe(DOUBTS);
    const bar = page.getByRole('region', { name: 'Chosen rows' });
    await rows().first().focus();
    await page.keyboard.press('x');
    await bar.getByText('1 chosen').waitFor();
    await page.keyboard.press('j');
    await page.locator('main li[aria-posinset="2"] [data-key]:focus').waitFor();
    await page.keyboard.press('j');
    await page.locator('main li[aria-posinset="3"] [data-key]:focus').waitFor();
    await page.keyboard.press('Shift+X');
    await bar.getByText('3 chosen').waitFor();
    // Behind the rows in the order of the keyboard.
    await page.keyboard.press('Tab');
    await page.locator('button:focus', { hasText: 'They were sent…' }).waitFor();
    await expectAccessible(page, 'chosen rows');
    await picture(page, 'chosen');
    await expectToFit(page, 390);
    await page.setViewportSize({ width: 1440, height: 900 });
    const box = (at: number) =>
      page.locator(`main li[aria-posinset="${at}"]`).getByRole('checkbox', { name: /^Choose / });
    await box(2).click();
    await bar.getByText('2 chosen').waitFor();
    // Letters count where the box has the focus too.
    await page.keyboard.press('R');
    await page.getByText('2 messages to 2 people: 2 in doubt.').waitFor();
    await page.getByRole('button', { name: 'Leave it' }).click();
    await box(5).click();
    await box(6).click({ modifiers: ['Shift'] });
    await bar.getByText('4 chosen').waitFor();
    await bar.getByRole('button', { name: 'Send again…' }).click();
    await page.getByText('4 messages to 4 people: 4 in doubt.').waitFor();
    await page.getByText('may be told twice').waitFor();
    await expectAccessible(page, 'the question about chosen rows');
    await page.getByRole('dialog').getByText('As curl').click();
    await page.getByRole('dialog').getByText('/deliveries/resend').waitFor();
    await page.getByRole('button', { name: 'Leave it' }).click();
    await bar.getByRole('button', { name: 'Choose none' }).click();
    await bar.waitFor({ state: 'detached' });
    await page.locator('main [data-key]:focus').waitFor();
    // Another list is another choice, and what allows nothing together says so.
    await page.goto(`${demo.control}/workspaces/lab/deliveries`);
    await expect.poll(() => rows().count()).toBe(DOUBTS + 1);
    await box(1).click();
    await box(DOUBTS + 1).click({ modifiers: ['Shift'] });
    await bar.getByText('Nothing can be done with all of these').waitFor();
    // The same works in the list of all workspaces. The letter for states counts where a row has the focus.
    await page.goto(`${demo.control}/workspaces/-/deliveries/in-doubt`);
    await expect.poll(() => rows().count()).toBe(DOUBTS);
    await box(1).click();
    await bar.getByText('1 chosen').waitFor();
    await page.keyboard.press('R');
    await page.getByText('1 message to 1 person: 1 in doubt.').waitFor();
    await page.getByRole('button', { name: 'Leave it' }).click();
    await page.goto(`${demo.control}/workspaces/lab/deliveries`);
    await rows().first().focus();
    await page.keyboard.press('s');
    await page.getByRole('menuitemradio', { name: 'In doubt' }).waitFor();
    await page.keyboard.press('Escape');
    await page.locator('main [data-key]:focus').waitFor();
  });

  it('ends doubts by a key, and all that are left with what is known of them', async () => {
    await page.goto(`${demo.control}/workspaces/lab/deliveries/in-doubt`);
    await expect.poll(() => rows().count()).toBe(DOUBTS);
    await page.getByRole('button', { name: 'All of them' }).click();
    await page.getByRole('menuitem', { name: 'Send all again…' }).click();
    await page.getByText('may be told twice').waitFor();
    await page.getByRole('button', { name: 'Leave it' }).click();
    await rows().first().focus();
    await page.keyboard.press('Enter');
    const story = page.getByRole('region', { name: 'Story' });
    await story.getByText('it ends as sent, and nobody is told again').waitFor();
    await expectAccessible(page, 'a doubt');
    await picture(page, 'in-doubt');
    // A key asks first; Escape leaves the doubt and what is open, Enter ends it.
    const question = story.getByRole('group', { name: 'Before it is done' });
    await page.keyboard.press('1');
    await question.getByText('It ends as sent: 1 person is not told again').waitFor();
    await question.locator('button:focus', { hasText: 'It was sent' }).waitFor();
    await expectAccessible(page, 'the question of one key');
    await page.keyboard.press('Escape');
    await question.waitFor({ state: 'detached' });
    await page.locator('main [data-key]:focus').waitFor();
    await page.keyboard.press('1');
    await question.locator('button:focus').waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('The doubt is ended.').waitFor();
    await story.locator('h2 [data-state="SENT"]').waitFor();
    // The row stays while it is read, and says what became of it.
    await expect.poll(() => rows().first().textContent()).toContain('Sent');
    await page.getByRole('button', { name: 'All of them' }).click();
    await page.getByRole('menuitem', { name: 'They were not sent…' }).click();
    const left = FAILED;
    await page.getByText(`${left} messages to ${left} people: ${left} in doubt.`).waitFor();
    await page.getByText('They end as failed, and can be sent again later.').waitFor();
    await page.getByLabel('How you know').fill('its log of tonight');
    await page.getByLabel(`Type ${left} to go on`).fill(`${left}`);
    await expectAccessible(page, 'the question about doubts');
    await page.getByRole('button', { name: `They were not sent: ${left} messages` }).click();
    await page.getByText(`Done: ${left} of ${left}.`).waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await page.getByText('Nothing is in doubt').waitFor();
    const { items } = await demo.ask<{ items: { action: string; parameters: object }[] }>('/v1/workspaces/lab/jobs');
    expect(items[0]).toMatchObject({
      action: 'dismiss_deliveries',
      parameters: { as: 'failed', reason: 'its log of tonight' },
    });
  });

  it('sends all again that match: with the number of people first, typed where they are many, and with progress', async () => {
    await page.goto(`${demo.control}/workspaces/lab/deliveries?state=FAILED`);
    await expect.poll(() => rows().count()).toBe(FAILED);
    await picture(page, 'deliveries');
    await page.getByRole('button', { name: 'All that match' }).click();
    await page.getByRole('menuitem', { name: 'Call all off…' }).click();
    await page.getByText('None of what matches can be called off').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: 'All that match' }).click();
    await page.getByRole('menuitem', { name: 'Send all again…' }).click();
    await page.getByText(`${FAILED} messages to ${FAILED} people: ${FAILED} failed.`).waitFor();
    const go = page.getByRole('button', { name: `Send again: ${FAILED} messages` });
    expect(await go.isDisabled()).toBe(true);
    await expectAccessible(page, 'the question');
    await page.getByLabel(`Type ${FAILED} to go on`).fill(`${FAILED}`);
    await picture(page, 'bulk');
    await go.click();
    await page.getByText(`Done: ${FAILED} of ${FAILED}.`).waitFor();
    await expectAccessible(page, 'the end of the job');
    const { items } = await demo.ask<{ items: { action: string; done: number }[] }>('/v1/workspaces/lab/jobs');
    expect(items[0]).toMatchObject({ action: 'resend_deliveries', done: FAILED });
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
  });
});
