import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { guardPages } from './guard.ts';
import { openLab, startTrap, type Lab, type Trap } from './lab.ts';
import { sharedDemo } from './shared-demo.ts';
import { closeContexts, sharedBrowser, type SharedDemo } from './support.ts';

/** In milliseconds: an operator has an answer within it, and people are slower than a script. */
const MINUTE = 60_000;
/** Clicks from the start page to an answer, at most. */
const CLICKS = 5;

describeWith('chromium', 'an operator at night, in a browser', () => {
  let demo: SharedDemo;
  let trap: Trap;
  let lab: Lab;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let clicks = 0;
  const guard = guardPages(() => [demo.control]);
  const click = async (role: 'button' | 'link', name: string | RegExp): Promise<void> => {
    clicks += 1;
    await page.getByRole(role, { name }).first().click();
  };
  const openRow = async (words: string): Promise<void> => {
    clicks += 1;
    await page.locator('main [data-key]', { hasText: words }).first().click();
  };
  /** From the page that opens first to the deliveries of one address. */
  const find = async (address: string): Promise<void> => {
    await click('link', 'Deliveries');
    await page.getByRole('searchbox', { name: 'Recipient' }).fill(address);
    await page.waitForURL(/recipient=/);
  };
  const story = () => page.getByRole('region', { name: 'Story' });
  const send = (kind: string, email: string): Promise<string> =>
    demo.send('lab/orders', lab.key, { kind, email, subject: 'Paid', name: 'A' });

  beforeAll(async () => {
    [demo, trap, browser] = await Promise.all([sharedDemo(), startTrap(), sharedBrowser()]);
    lab = await openLab(demo, trap);
    await demo.ask('/v1/workspaces/lab/suppressions', {
      channel: 'email',
      address: 'bob@example.com',
      detail: 'wrote a letter',
    });
    await demo.ask('/v1/workspaces/lab/consents', { person: 'cleo@example.com', target: 'all', opted_out: true });
    await send('once', 'ada@example.com');
    await send('once', 'bob@example.com');
    await send('once', 'cleo@example.com');
    await send('other', 'dan@example.com');
    await lab.untilStates('SENT', 'SUPPRESSED', 'SUPPRESSED');
    context = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: 'de-DE' });
    await context.request.post(`${demo.control}/v1/session`, { data: { word: demo.ownerToken } });
    // Where the operator was last: the start page leads there.
    const first = await context.newPage();
    await first.goto(`${demo.control}/workspaces/lab`);
    await first.getByRole('heading', { name: 'Overview' }).waitFor();
    await first.close();
  });
  beforeEach(async () => {
    await page?.close();
    page = await guard.openPage(context);
    page.setDefaultTimeout(MINUTE / 2);
    await page.goto(demo.control);
    await page.waitForURL(/\/workspaces\/lab$/);
    clicks = 0;
  });
  afterAll(async () => {
    await closeContexts();
    await lab?.stop();
    await trap?.stop();
  });

  it(
    'shows why she got the message: the event, the rule with its values, and the acceptance',
    { timeout: MINUTE },
    async () => {
      await find('ada@example.com');
      await openRow('ada@example.com');
      await story().getByText('Journey').waitFor();
      const lines = await story().getByRole('list', { name: 'Story' }).innerText();
      expect(lines).toContain('once.r');
      expect(lines).toContain('Sent');
      // Which part of the condition decided, with its value, for this very event.
      await click('link', 'Show each part of the condition');
      await page.waitForURL(/rules\/r\?event=evt_/);
      await click('button', /^Run/);
      await page.getByRole('region', { name: 'Test bench' }).getByText('event.kind == "once"').first().waitFor();
      expect(clicks).toBeLessThanOrEqual(CLICKS);
    },
  );

  it('sees why he did not: his address is left out, by whom and since when', { timeout: MINUTE }, async () => {
    await find('bob@example.com');
    await openRow('bob@example.com');
    await story()
      .getByText(/suppressed address/)
      .first()
      .waitFor();
    await click('link', 'Why this address is suppressed');
    await page.getByRole('list', { name: 'Suppressions' }).waitFor();
    await openRow('bob@example.com');
    await page.getByRole('region', { name: 'Suppression' }).getByText('wrote a letter').waitFor();
    expect(clicks).toBeLessThanOrEqual(CLICKS);
  });

  it('sees why she did not: she does not want it, as she said herself', { timeout: MINUTE }, async () => {
    await find('cleo@example.com');
    await openRow('cleo@example.com');
    await click('link', 'Opt-outs of this person');
    await page.getByRole('list', { name: 'Opt-outs' }).waitFor();
    await openRow('cleo@example.com');
    await page.getByRole('region', { name: 'Opt-outs of one person' }).getByText('everything').waitFor();
    expect(clicks).toBeLessThanOrEqual(CLICKS);
  });

  it(
    'shows why no message was decided for him: the event fired no rule, with the false part of the condition',
    { timeout: MINUTE },
    async () => {
      await find('dan@example.com');
      await page.getByText('No delivery matches this filter').waitFor();
      await click('link', 'Events');
      clicks += 1;
      // The newest: nothing came after his.
      await page.locator('main [data-key]').first().click();
      const lines = page.getByRole('list', { name: 'Story' });
      await lines.waitFor();
      await expect.poll(() => lines.innerText(), { timeout: 60_000 }).toMatch(/once\.r[\s\S]*event\.kind == "once"/);
      clicks += 1;
      await page.getByText('What came in').click();
      await page.getByText('dan@example.com').first().waitFor();
      expect(clicks).toBeLessThanOrEqual(CLICKS);
    },
  );
});
