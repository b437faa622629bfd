import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { guardPages } from './guard.ts';
import { violations } from './accessible.ts';
import { FORMS, fillWorkspaces, lookAtAll, openIn, SCREENS, STATES } from './screens.ts';
import { openBrowser, startDemo, type Demo } from './support.ts';

describeWith('chromium', 'every screen of the portal', () => {
  let demo: Demo;
  let browser: Browser;
  let event = '';
  const guard = guardPages(() => (demo ? [demo.control] : []));

  beforeAll(async () => {
    [demo, browser] = await Promise.all([startDemo(), openBrowser()]);
    event = await fillWorkspaces(demo);
  });
  afterAll(async () => {
    await browser?.close();
    await demo?.stop();
  });

  // Each screen with what it is for, and in one other state, each time in another form. screens.proof.test.ts crosses them all.
  it.each(STATES.map((state, at) => ({ state, at })))(
    'breaks nothing, is whole for everybody, and as wide as its window: $state',
    async ({ state, at }) => {
      const looks = SCREENS.map((screen, nth) => ({ screen, nth, forms: [FORMS[(nth + at) % FORMS.length]!] }));
      const chosen = looks.filter(({ nth }) => state === 'loaded' || nth % (STATES.length - 1) === at - 1);
      expect(await lookAtAll(chosen, state, { demo, browser, guard, event })).toEqual([]);
    },
  );

  it('is found wanting where one colour is too pale, or one button has lost its name', async () => {
    const context = await openIn('loaded', { demo, browser, guard });
    const page = await guard.openPage(context);
    await page.goto(`${demo.control}/workspaces/care/streams`);
    await page.getByRole('heading', { name: 'orders' }).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.evaluate("document.documentElement.style.setProperty('--quiet', '#bbb')");
    expect((await violations(page)).join()).toMatch(/^color-contrast/);
    await page.evaluate("document.documentElement.style.removeProperty('--quiet')");
    await page.evaluate("document.querySelector('main button').replaceChildren()");
    expect((await violations(page)).join()).toMatch(/^button-name/);
    await context.close();
  });
});
