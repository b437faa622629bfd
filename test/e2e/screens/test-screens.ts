import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { guardPages, type Guard } from '../portal/guard.ts';
import { sharedBrowser } from '../portal/support.ts';
import { EMPTY_PAGE, sharedScriptedApi, type ScriptedApi, type ScriptedRole } from './scripted-api.ts';

export type ScreenTest = {
  /** The API of the test that runs. */
  readonly api: ScriptedApi;
  readonly guard: Guard;
  /**
   * Opens an address of the portal. The first call of a test that names no options of a browser context gets a page that the
   * tests of the file share one after the other, because its scripts are compiled already. It has the state of a new page.
   * Other calls get a context of their own, and so does `about:blank`, for tests that change the page's clock or scripts.
   */
  readonly open: (path: string, options?: OpenOptions) => Promise<Page>;
};
export type OpenOptions = BrowserContextOptions & {
  /** Who is signed in. Defaults to the owner of the deployment. */
  readonly as?: ScriptedRole;
};

const VIEWPORT = { width: 1440, height: 900 };

/**
 * Declares tests of screens against the scripted API, in the browser of this process. A test fails if the portal calls what
 * the API's document does not describe, if an answer of the test breaks the document, or if the page writes on its console.
 */
export function testScreens(name: string, body: (test: ScreenTest) => void): void {
  describeWith('chromium', name, () => {
    let api: ScriptedApi | undefined;
    let browser: Browser;
    let shared: Page | undefined;
    let isSharedOpen = false;
    let contexts: BrowserContext[] = [];
    const guard = guardPages(() => (api ? [api.url] : []));
    const running = (): ScriptedApi => {
      if (!api) throw new Error('the API runs inside of tests only');
      return api;
    };
    async function newPage(options: BrowserContextOptions): Promise<Page> {
      const context = await browser.newContext({ viewport: VIEWPORT, locale: 'de-DE', ...options });
      contexts.push(context);
      return guard.openPage(context);
    }
    async function sharedPage(): Promise<Page> {
      isSharedOpen = true;
      if (!shared) {
        shared = await newPage({});
        contexts.pop();
      }
      return shared;
    }
    beforeAll(async () => {
      [api, browser] = await Promise.all([sharedScriptedApi(), sharedBrowser()]);
    });
    beforeEach(() => running().signIn('deployment owner'));
    afterEach(async () => {
      if (shared && isSharedOpen) await clean(shared, running().url);
      isSharedOpen = false;
      await Promise.all(contexts.map((context) => context.close()));
      contexts = [];
      expect(running().reset(), 'calls and answers that break the document of the API').toEqual([]);
    });
    afterAll(() => shared?.context().close());
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
        const isOwn = isSharedOpen || path === 'about:blank' || Object.keys(options).length > 0;
        const page = isOwn ? await newPage(options) : await sharedPage();
        await page.goto(path === 'about:blank' ? path : `${running().url}${path}`);
        return page;
      },
    });
  });
}

/** Gives the page the state of a new one. Text that is not saved is lost. */
async function clean(page: Page, url: string): Promise<void> {
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  page.once('dialog', (dialog) => void dialog.accept());
  await page.goto(`${url}${EMPTY_PAGE}`);
  page.removeAllListeners('dialog');
  await page.evaluate('localStorage.clear(); sessionStorage.clear()');
  await page.context().clearCookies();
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize(VIEWPORT);
  // A pointer that rests on the next page opens its tooltips.
  await page.mouse.move(-1, -1);
}
