import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { guardPages } from './guard.ts';
import { violations } from './accessible.ts';
import { FORMS, fillWorkspaces, lookAtAll, openIn, SCREENS, type Examples } from './screens.ts';
import { closeContexts, sharedBrowser, startDemo, type Demo } from './support.ts';

describeWith('chromium', 'every screen of the portal', () => {
  let demo: Demo;
  let browser: Browser;
  let examples: Examples;
  const guard = guardPages(() => (demo ? [demo.control] : []));

  beforeAll(async () => {
    [demo, browser] = await Promise.all([startDemo(), sharedBrowser()]);
    examples = await fillWorkspaces(demo);
  });
  afterAll(async () => {
    await closeContexts();
    await demo?.stop();
  });

  // Each with what it is for, and the next in another form. screens.proof.test.ts crosses them with all states and forms.
  it('breaks nothing, is whole for everybody, and as wide as its window', async () => {
    const looks = SCREENS.map((screen, nth) => ({ screen, forms: [FORMS[nth % FORMS.length]!] }));
    expect(await lookAtAll(looks, 'loaded', { demo, browser, guard, examples })).toEqual([]);
  });

  it('hides from a viewer what its permission covers', async () => {
    const looks = SCREENS.filter(({ hides }) => hides !== undefined).map((screen) => ({ screen, forms: [] }));
    expect(looks.length).toBeGreaterThan(7);
    expect(await lookAtAll(looks, 'viewer', { demo, browser, guard, examples })).toEqual([]);
  });

  it('fails the test on a colour with low contrast or a button without a name', async () => {
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

  it('fails the test if a page requests another host, with or without the content security policy', async () => {
    for (const [bypassCSP, asked] of [
      [false, []],
      [true, ['http://portal.example/image']],
    ] as const) {
      const context = await browser.newContext({ bypassCSP });
      const page = await guard.openPage(context);
      await page.goto(`${demo.control}/sign-in`);
      await page.getByRole('heading', { name: 'Sign in to Carillon' }).waitFor();
      const failed = page.waitForEvent('requestfailed');
      await page.evaluate(`new Image().src = 'http://portal.example/image'`);
      await failed;
      expect(guard.takeForeign()).toEqual(asked);
      await context.close();
    }
    // The breach of the policy, and the host that has no address.
    guard.allowStatus(401);
    guard.allowWords(/portal\.example|ERR_NAME_NOT_RESOLVED/);
  });
});
