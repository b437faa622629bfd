import type { BrowserContext, Page, Request } from 'playwright-core';
import { afterEach, expect } from 'vitest';
import { hinder } from './support.ts';

export type Guard = {
  /** A page of which everything is held against the test that runs: what it writes on the console, breaks, breaks in policy, or asks of others. */
  readonly openPage: (context: BrowserContext) => Promise<Page>;
  /** Until the end of this test the server may refuse with this status: Chromium writes each refused call on the console. */
  readonly allowStatus: (...statuses: readonly number[]) => void;
  /** Until the end of this test the console may say what fits this. */
  readonly allowWords: (words: RegExp) => void;
  /** What pages asked of others so far; it is forgiven. */
  readonly takeForeign: () => readonly string[];
  /** Until the end of this test the server may be away. */
  readonly allowAway: () => void;
};

/** What Chromium itself writes of a call that was refused. */
const REFUSED = /^Failed to load resource: the server responded with a status of (\d{3})/;
/** Another program of the machine added or took away a network: Chromium cuts every call then, to this machine itself too. */
const CUT_BY_THE_MACHINE = /^Failed to load resource: net::ERR_NETWORK_CHANGED/;
const AWAY = /^Failed to load resource: net::ERR_/;
/** What Chromium says of a mail that tries to leave its frame: that it was not let. */
const HELD_MAIL =
  /^Unsafe attempt to initiate navigation for frame .* from frame with URL '[^']*\/messages\/[^']*\/html'/;
/**
 * A mail's fonts are asked for as its text is drawn. By then its page may be gone, and Chromium names no place that it was. The
 * portal's own policy names fonts, so that what it refuses is told in other words.
 */
const REFUSED_FONT_OF_MAIL = /^Loading the font .*Note that 'font-src' was not explicitly set/s;
/** What stands in these frames is a tenant's mail: that the policy refuses most of it is what other tests ask for. */
const MAIL = /\/(?:inbox\/)?messages\/[^/]+\/html(?:[?#].*)?$/;

/** Why Chromium says a request failed that the policy refused: nobody was asked. */
const REFUSED_BY_POLICY = 'csp';

/** Words of the console that tell a breach of the policy from anything else that is said there. */
const BREACH = 'securitypolicyviolation';
const HEAR_BREACHES = `document.addEventListener('securitypolicyviolation', (event) => {
  if (window === window.top)
    console.error(${JSON.stringify(BREACH)}, event.violatedDirective, event.blockedURI, event.sourceFile, event.lineNumber);
});`;

/**
 * Fails each test of the file that calls it where one of its pages wrote anything on the console, met an error that nobody caught,
 * broke the policy, or asked another host for anything. `origins`: of the product, once it runs.
 */
export function guardPages(origins: () => readonly string[]): Guard {
  const found: string[] = [];
  const allowed = new Set<number>();
  const words: RegExp[] = [];
  const foreign = new Set<Request>();
  const isAllowed = (text: string): boolean => {
    const [, status] = REFUSED.exec(text) ?? [];
    return status === undefined ? words.some((one) => one.test(text)) : allowed.has(Number(status));
  };
  const takeForeign = (): string[] => {
    const urls = [...foreign].map((request) => request.url());
    foreign.clear();
    return urls;
  };
  afterEach(() => {
    const asked = takeForeign().map((url) => `foreign request: ${url}`);
    const wrong = [...found.splice(0).filter((text) => !isAllowed(text)), ...asked];
    allowed.clear();
    words.length = 0;
    expect(wrong, 'console, errors, breaches of the policy and foreign requests').toEqual([]);
  });
  return {
    allowStatus: (...statuses) => statuses.forEach((status) => allowed.add(status)),
    allowWords: (one) => void words.push(one),
    takeForeign,
    allowAway: () => void words.push(AWAY),
    async openPage(context) {
      const page = await context.newPage();
      page.setDefaultTimeout(60_000);
      page.on('pageerror', (error) => found.push(`error: ${error.message}`));
      page.on('console', (message) => {
        const { url } = message.location();
        const ofOthers = [HELD_MAIL, REFUSED_FONT_OF_MAIL, CUT_BY_THE_MACHINE];
        if (MAIL.test(url) || ofOthers.some((one) => one.test(message.text()))) return;
        // Whoever publishes or discards a draft takes it away under a page that shows it.
        if (REFUSED.exec(message.text())?.[1] === '404' && new URL(url).pathname.endsWith('/draft')) return;
        found.push(REFUSED.test(message.text()) ? `${message.text()} at ${url}` : message.text());
      });
      await page.addInitScript(HEAR_BREACHES);
      // Only heard, not routed: a page with a route has no cache, and then each visit compiles all of its scripts anew.
      page.on('request', (request) => {
        const { origin: asked, protocol } = new URL(request.url());
        if (!origins().includes(asked) && protocol.startsWith('http')) foreign.add(request);
      });
      page.on('requestfailed', (request) => {
        if (request.failure()?.errorText === REFUSED_BY_POLICY) foreign.delete(request);
      });
      await hinder(page);
      return page;
    },
  };
}
