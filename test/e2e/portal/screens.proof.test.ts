import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { guardPages } from './guard.ts';
import { FORMS, fillWorkspaces, lookAtAll, SCREENS, STATES } from './screens.ts';
import { openBrowser, startDemo, type Demo } from './support.ts';

/** Of one state: some forty screens, each in six forms. */
const WITHIN = 20 * 60_000;

describeWith('chromium', 'the cross of all screens, states, themes and widths', () => {
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

  it.each(STATES)(
    'breaks nothing, is whole for everybody, and as wide as its window: %s',
    async (state) => {
      const looks = SCREENS.map((screen) => ({ screen, forms: FORMS }));
      expect(await lookAtAll(looks, state, { demo, browser, guard, event })).toEqual([]);
    },
    WITHIN,
  );
});
