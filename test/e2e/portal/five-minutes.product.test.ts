import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { MAX_CLICKS, walkToFirstMessage } from './first-message.ts';
import { guardPages } from './guard.ts';
import { closeContexts, sharedBrowser, startDemo, type Demo } from './support.ts';

describeWith('chromium', 'the first five minutes', () => {
  let demo: Demo;
  let browser: Browser;
  let page: Page;
  const guard = guardPages(() => (demo ? [demo.control] : []));

  beforeAll(async () => {
    [demo, browser] = await Promise.all([startDemo(), sharedBrowser()]);
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    page = await guard.openPage(context);
    page.setDefaultTimeout(30_000);
    // Nothing that the portal has read grows old by itself: what a change makes old, the portal has to know.
    await page.clock.setFixedTime(new Date());
  });
  afterAll(async () => {
    await closeContexts();
    await demo?.stop();
  });

  it('lead from the printed link to a message of a notification of their own, in at most twelve clicks', async () => {
    // Its own stream is not there before it is published, and its sample not before its template is.
    guard.allowStatus(400, 404);
    const { clicks, seconds } = await walkToFirstMessage(page, demo);
    console.log(`from the link to the message: ${clicks} clicks, ${seconds} s`);
    expect(clicks).toBeLessThanOrEqual(MAX_CLICKS);
    // The deployment has measured the same, for its owners.
    type Numbers = { people: number; steps: { step: string; reached: number; clicks: number | null }[] };
    const message = async () =>
      (await demo.ask<Numbers>('/v1/onboarding')).steps.find(({ step }) => step === 'message');
    await expect.poll(message).toMatchObject({ reached: 1, clicks });
    // The guide reports the first message also if its event was sent outside the portal.
    await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('heading', { name: 'Your first message was sent' }).waitFor();
    await page.goto(`${demo.control}/settings/workspaces`);
    await page.getByText('1 person started from a link; 1 read a first message').waitFor();
  });
});
