import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { guardPages } from './guard.ts';
import { violations } from './accessible.ts';
import { FORMS, fillWorkspaces, lookAtAll, openIn, SCREENS, STATES, type Examples } from './screens.ts';
import { openBrowser, startDemo, type Demo } from './support.ts';

/** The time for one state: some forty screens, each in six forms. */
const WITHIN = 20 * 60_000;

describeWith('chromium', 'the cross of all screens, states, themes and widths', () => {
  let demo: Demo;
  let browser: Browser;
  let examples: Examples;
  const guard = guardPages(() => (demo ? [demo.control] : []));

  beforeAll(async () => {
    [demo, browser] = await Promise.all([startDemo(), openBrowser()]);
    examples = await fillWorkspaces(demo);
  });
  afterAll(async () => {
    await browser?.close();
    await demo?.stop();
  });

  it.each(STATES)(
    'breaks nothing, is whole for everybody, and as wide as its window: %s',
    async (state) => {
      const looks = SCREENS.map((screen) => ({ screen, forms: FORMS }));
      expect(await lookAtAll(looks, state, { demo, browser, guard, examples })).toEqual([]);
    },
    WITHIN,
  );

  it(
    'has a reference of the API that is whole for everybody, in both themes on a phone too',
    async () => {
      const page = await guard.openPage(await openIn('loaded', { demo, browser, guard }));
      await page.goto(`${demo.control}/docs/api`);
      await page.getByRole('heading', { name: 'Carillon management API' }).waitFor();
      for (const { theme, width } of FORMS) {
        await page.emulateMedia({ colorScheme: theme });
        await page.setViewportSize({ width, height: 900 });
        expect(await violations(page), `${theme}, ${width} px`).toEqual([]);
      }
      await page.context().close();
    },
    WITHIN,
  );
});
