import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { startClusterDemo } from './cluster-demo.ts';
import { MAX_CLICKS, walkToFirstMessage } from './first-message.ts';
import { guardPages } from './guard.ts';
import { listOutlivesRestart } from './restart.ts';
import { FORMS, fillWorkspaces, lookAtAll, SCREENS } from './screens.ts';
import { openBrowser, type RestartedDemo } from './support.ts';

const START = 600_000;
const SCREENS_WITHIN = 20 * 60_000;

describeWith(['chromium', 'kafka', 'mongodb', 'registry'], 'the portal on Kafka and MongoDB', () => {
  let demo: RestartedDemo;
  let browser: Browser;
  const guard = guardPages(() => (demo ? [demo.control] : []));

  beforeAll(async () => {
    [demo, browser] = await Promise.all([startClusterDemo(), openBrowser()]);
  }, START);
  afterAll(async () => {
    await browser?.close();
    await demo?.stop();
  }, START);

  it(
    'leads from the printed link to a message of an own notification, in at most twelve clicks',
    async () => {
      // Its own stream is not there before it is published, and its sample not before its template is.
      guard.allowStatus(400, 404);
      const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
      const { clicks, seconds } = await walkToFirstMessage(await guard.openPage(context), demo);
      console.log(`from the link to the message, on a cluster: ${clicks} clicks, ${seconds} s`);
      expect(clicks).toBeLessThanOrEqual(MAX_CLICKS);
      await context.close();
    },
    START,
  );

  it(
    'shows every screen with data and empty, accessible and without horizontal scrolling',
    async () => {
      const examples = await fillWorkspaces(demo, false);
      // Comparisons run on the embedded backend only.
      const looks = SCREENS.filter(({ path }) => !path.includes('{run}')).map((screen, nth) => ({
        screen,
        forms: [FORMS[nth % FORMS.length]!],
      }));
      expect(await lookAtAll(looks, 'loaded', { demo, browser, guard, examples })).toEqual([]);
      expect(await lookAtAll(looks, 'empty', { demo, browser, guard, examples })).toEqual([]);
    },
    SCREENS_WITHIN,
  );

  it(
    'keeps an open list while its role is killed and restarts, and then updates again',
    () => listOutlivesRestart({ demo, browser, guard }),
    START,
  );
});
