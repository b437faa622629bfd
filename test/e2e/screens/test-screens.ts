import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { guardPages, type Guard } from '../portal/guard.ts';
import { sharedBrowser } from '../portal/support.ts';
import { sharedScriptedApi, type ScriptedApi, type ScriptedRole } from './scripted-api.ts';

export type ScreenTest = {
  /** The API of the test that runs. */
  readonly api: ScriptedApi;
  readonly guard: Guard;
  /** Opens an address of the portal, or `about:blank`, in a browser context of its own, which the end of the test closes. */
  readonly open: (path: string, options?: OpenOptions) => Promise<Page>;
};
export type OpenOptions = BrowserContextOptions & {
  /** Who is signed in. Defaults to the owner of the deployment. */
  readonly as?: ScriptedRole;
};

/**
 * Declares tests of screens against the scripted API, in the browser of this process. A test fails if the portal calls what
 * the API's document does not describe, if an answer of the test breaks the document, or if the page writes on its console.
 */
export function testScreens(name: string, body: (test: ScreenTest) => void): void {
  describeWith('chromium', name, () => {
    let api: ScriptedApi | undefined;
    let browser: Browser;
    let contexts: BrowserContext[] = [];
    const guard = guardPages(() => (api ? [api.url] : []));
    const running = (): ScriptedApi => {
      if (!api) throw new Error('the API runs inside of tests only');
      return api;
    };
    beforeAll(async () => {
      [api, browser] = await Promise.all([sharedScriptedApi(), sharedBrowser()]);
    });
    beforeEach(() => running().signIn('deployment owner'));
    afterEach(async () => {
      await Promise.all(contexts.map((context) => context.close()));
      contexts = [];
      expect(running().reset(), 'calls and answers that break the document of the API').toEqual([]);
    });
    body({
      guard,
      api: {
        get url() {
          return running().url;
        },
        answer: (...given) => running().answer(...given),
        forget: (operation) => running().forget(operation),
        example: (operation) => running().example(operation),
        hold: (operation) => running().hold(operation),
        calls: (operation) => running().calls(operation),
        push: (...given) => running().push(...given),
        signIn: (...given) => running().signIn(...given),
        reset: () => running().reset(),
      },
      async open(path, { as, ...options } = {}) {
        if (as !== undefined) running().signIn(as);
        const context = await browser.newContext({
          viewport: { width: 1440, height: 900 },
          locale: 'de-DE',
          ...options,
        });
        contexts.push(context);
        const page = await guard.openPage(context);
        await page.goto(path === 'about:blank' ? path : `${running().url}${path}`);
        return page;
      },
    });
  });
}
