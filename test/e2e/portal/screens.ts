import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { untilFound } from '@carillon/testing';
import { violations, widthOf } from './accessible.ts';
import type { Guard } from './guard.ts';
import { openMember } from './member.ts';
import { moveTo } from './moves.ts';
import type { Demo } from './support.ts';

/** What tests read of a screen that the portal declares (`apps/portal/src/screen.ts`). */
type DeclaredScreen = {
  readonly path: string;
  readonly permission?: { readonly what: string };
  readonly isBare?: boolean;
};

/** The portal's list, loaded by name: its types need those of a browser. */
const LIST = join(import.meta.dirname, '../../../apps/portal/src/screens/list.ts');
const { SCREENS: DECLARED } = (await import(LIST)) as { readonly SCREENS: readonly DeclaredScreen[] };

export type Screen = {
  /** Its address; `{w}` is the workspace, `{event}` an event of it, and `{run}` a comparison. */
  readonly path: string;
  /** It asks the server for nothing when it opens, so that nothing can fail or be waited for. */
  readonly isStill?: boolean;
  /** What somebody without permission does not see there. */
  readonly hides?: string;
};

/** In the workspace that has one of everything: the name that stands in an address behind the name of its kind. */
const NAMES: Readonly<Record<string, string>> = {
  workspaces: '{w}',
  events: '{event}',
  runs: '{run}',
  notifications: 'paid',
  rules: 'r',
  templates: 'plain',
  layouts: 'frame',
  partials: 'foot',
  streams: 'orders',
  integrations: 'feed',
  accounts: 'own',
};
/** Screens that read the workspace from the end of their address. */
const QUERIES: Readonly<Record<string, string>> = {
  '/settings/identity/api-keys': '?workspace={w}',
  '/settings/identity/jwt-providers': '?workspace={w}',
  '/settings/secrets': '?workspace={w}',
};
/** `/workspaces/$w/why` opens with a question that nobody has asked yet. */
const STILL = new Set(['/settings', '/settings/profile', '/workspaces/$w/why']);

const exampleOf = (path: string): string =>
  path.replaceAll(/([^/]+)\/\$\w+/g, (_, kind: string) => {
    const name = NAMES[kind];
    if (name === undefined) throw new Error(`${path}: NAMES has no example for ${kind}`);
    return `${kind}/${name}`;
  });

/** Every screen of somebody who is signed in. */
export const SCREENS: readonly Screen[] = [
  ...DECLARED.filter(({ isBare }) => isBare !== true).map(({ path, permission }) => ({
    path: exampleOf(path) + (QUERIES[path] ?? ''),
    isStill: STILL.has(path),
    ...(permission && { hides: permission.what }),
  })),
  { path: '/workspaces/{w}/notifications?new=yes' },
  { path: '/workspaces/{w}/templates/plain?locale=de' },
  { path: '/settings/workspaces' },
];

/** As in section 2 of the design, and with the rights of a viewer. */
export const STATES = ['loaded', 'loading', 'empty', 'failed', 'viewer'] as const;
export type ScreenState = (typeof STATES)[number];

export type Form = { readonly theme: 'light' | 'dark'; readonly width: number };
export const FORMS: readonly Form[] = [1440, 768, 390].flatMap((width) => [
  { theme: 'light' as const, width },
  { theme: 'dark' as const, width },
]);

const FULL = 'care';
const BARE = 'quiet';
const WAITS = 60_000;
/** What the server says when it fails: what a screen shows of it is what somebody reads then. */
const FAILED = 'The store is busy.';
const PROBLEM = { status: 500, code: 'internal', title: 'Failed', detail: FAILED, request_id: 'req_1' };
/** The frame of every screen asks for these; who is signed in is known, whatever fails beside it. */
const OF_THE_FRAME = /^\/v1\/(?:me|sign-in|session)$|\/live$/;
/** What a program writes where a person should read something. */
const NOT_FOR_PEOPLE = /\bundefined\b|\bNaN\b|\[object |something went wrong|\bnull\b/i;

/** Ids that stand in addresses of screens. */
export type Examples = { readonly event: string; readonly run: string };

/** Makes a workspace that has one of everything, and one that has nothing. On a cluster there is no comparison. */
export async function fillWorkspaces(demo: Demo, hasRuns = true): Promise<Examples> {
  const key = await demo.makeKey(FULL, 'backend');
  const at = `workspaces/${FULL}`;
  await demo.apply({
    'carillon.yaml': 'backend: embedded\n',
    [`workspaces/${BARE}/workspace.yaml`]: 'name: Quiet\n',
    [`${at}/workspace.yaml`]: 'name: Care\ncadence:\n  limits:\n    - { max: 20, per: 1d, then: drop }\n',
    [`${at}/streams/orders.yaml`]: 'security: { api_keys: [backend] }\n',
    [`${at}/accounts/own.yaml`]: 'kind: smtp\nhost: 127.0.0.1\nport: 9\ntls: none\nfrom: care@example.com\n',
    [`${at}/integrations/feed.yaml`]: 'kind: generic\nauthorization: { key: { secret: FEED } }\n',
    [`${at}/jwt-providers/auth.yaml`]:
      'jwks_url: http://127.0.0.1:9/jwks.json\nissuer: https://auth.example.com/\naudience: care\n',
    [`${at}/layouts/frame.html`]: '<!doctype html><html lang="en"><body>{{{body}}}{{> foot}}</body></html>\n',
    [`${at}/partials/foot.hbs`]: '<p>Care</p>\n',
    [`${at}/templates/plain/email.yaml`]: 'subject: Hello {{ name }}\nfrom: care@example.com\n',
    [`${at}/templates/plain/email.html`]: '<p>Hello {{ name }}</p>\n',
    [`${at}/templates/plain/email.txt`]: 'Hello {{ name }}\n',
    [`${at}/templates/plain/email.de.yaml`]: 'subject: Hallo {{ name }}\nfrom: care@example.com\n',
    [`${at}/templates/plain/email.de.html`]: '<p>Hallo {{ name }}</p>\n',
    [`${at}/templates/plain/email.de.txt`]: 'Hallo {{ name }} {{ anrede }}\n',
    [`${at}/notifications/paid.yaml`]: `name: paid
channels:
  email: { template: plain }
cadence:
  limits:
    - { max: 3, per: 1d, then: drop }
rules:
  r:
    stream: orders
    when: event.kind == "paid" && event.total > 100
    recipients: { from: event, to: { email: event.email }, unique_id: event_id }
`,
  });
  const event = await demo.send(`${FULL}/orders`, key, {
    kind: 'paid',
    email: 'ada@example.com',
    total: 120,
    name: 'Ada',
  });
  await demo.ask(`/v1/workspaces/${FULL}/suppressions`, {
    channel: 'email',
    address: 'bob@example.com',
    detail: 'a letter',
  });
  await demo.ask(`/v1/workspaces/${FULL}/consents`, { person: 'cleo@example.com', target: 'all', opted_out: true });
  await untilFound('the message is sent', async () => {
    const { items } = await demo.ask<{ items: { state: string }[] }>(`/v1/workspaces/${FULL}/deliveries`);
    return items.some(({ state }) => state === 'SENT') || undefined;
  });
  return { event, run: hasRuns ? await compareHistory(demo) : 'run_none' };
}

/** Compares what is published with itself, and returns the run once it is done. */
async function compareHistory(demo: Demo): Promise<string> {
  type Run = { readonly id: string; readonly state: string };
  const path = `/v1/workspaces/${FULL}/runs`;
  const { id } = await demo.ask<Run>(path, { last: '1d', notifications: ['paid'] });
  return untilFound('the comparison is done', async () => {
    const { state } = await demo.ask<Run>(`${path}/${id}`);
    return state === 'done' ? id : undefined;
  });
}

/** A page of somebody for whom the screens are in a state. */
export async function openIn(
  state: ScreenState,
  { demo, browser, guard }: { readonly demo: Demo; readonly browser: Browser; readonly guard: Guard },
): Promise<BrowserContext> {
  if (state === 'viewer') return openMember(demo, browser, { workspace: FULL, role: 'viewer' });
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  await context.request.post(`${demo.control}/v1/session`, { data: { word: demo.ownerToken } });
  if (state !== 'failed' && state !== 'loading') return context;
  guard.allowStatus(500);
  await context.route(
    ({ origin, pathname }) => origin === demo.control && pathname.startsWith('/v1/') && !OF_THE_FRAME.test(pathname),
    (route) => {
      if (state === 'failed') {
        return route.fulfill({ status: 500, contentType: 'application/problem+json', body: JSON.stringify(PROBLEM) });
      }
      // Nothing is answered: the page waits until it is closed.
      return undefined;
    },
  );
  return context;
}

const stateShown = (state: ScreenState, { isStill = false }: Screen): string => {
  if (isStill || state === 'loaded' || state === 'empty' || state === 'viewer')
    return 'main:not(:has([role="status"][aria-label^="Loading"])) h1';
  return state === 'failed' ? 'main [role="alert"]' : 'main [role="status"][aria-label^="Loading"]';
};

/** Visits a screen in a state, and looks at it in these forms. Answers what is wrong with it. */
export async function lookAt(
  page: Page,
  control: string,
  {
    screen,
    state,
    examples,
    forms,
  }: {
    readonly screen: Screen;
    readonly state: ScreenState;
    readonly examples: Examples;
    readonly forms: readonly Form[];
  },
): Promise<string[]> {
  const path = screen.path
    .replace('{w}', state === 'empty' ? BARE : FULL)
    .replace('{event}', examples.event)
    .replace('{run}', examples.run);
  const found: string[] = [];
  // The daily test of viewers names no forms. The proof loads each screen in all other states.
  const isMove = state === 'loaded' || forms.length === 0;
  await (isMove ? moveTo(page, `${control}${path}`) : page.goto(`${control}${path}`));
  try {
    await page.locator(stateShown(state, screen)).first().waitFor({ timeout: WAITS });
  } catch {
    found.push(`${state} ${path}: is not seen; it shows ${(await page.locator('body').innerText()).slice(0, 300)}`);
  }
  for (const { theme, width } of forms) {
    await page.emulateMedia({ colorScheme: theme });
    await page.setViewportSize({ width, height: 900 });
    const where = `${state} ${path}, ${theme}, ${width} px`;
    found.push(...(await violations(page)).map((one) => `${where}: ${one}`));
    const wide = await widthOf(page);
    if (wide > width) found.push(`${where}: is ${wide} px wide`);
  }
  const said = await page.locator('main').innerText();
  // Who may not see something reads that in its place: what the server refuses to them was never asked for.
  if (state === 'viewer') {
    for (const alarm of await page.locator('main [role="alert"]').allInnerTexts()) {
      found.push(`${state} ${path}: warns of ${alarm}`);
    }
    const { hides } = screen;
    if (hides !== undefined && !said.includes(`You cannot see ${hides}`)) {
      found.push(`${state} ${path}: shows ${hides} to a viewer`);
    }
  }
  const word = NOT_FOR_PEOPLE.exec(said);
  if (word) found.push(`${state} ${path}: says ${said.slice(Math.max(0, word.index - 40), word.index + 40)}`);
  return found;
}

/** Pages that are looked at side by side: much of a visit is waiting. */
const SIDE_BY_SIDE = 3;

export type Look = { readonly screen: Screen; readonly forms: readonly Form[] };

/** Looks at screens in a state, some side by side. Answers what is wrong with them. */
export async function lookAtAll(
  looks: readonly Look[],
  state: ScreenState,
  {
    demo,
    browser,
    guard,
    examples,
  }: { readonly demo: Demo; readonly browser: Browser; readonly guard: Guard; readonly examples: Examples },
): Promise<string[]> {
  // A workspace without anything lacks what an address names.
  if (state === 'empty') guard.allowStatus(404);
  const context = await openIn(state, { demo, browser, guard });
  const rest = [...looks];
  const found: string[] = [];
  await Promise.all(
    Array.from({ length: SIDE_BY_SIDE }, async () => {
      const page = await guard.openPage(context);
      for (let look = rest.shift(); look; look = rest.shift()) {
        found.push(...(await lookAt(page, demo.control, { ...look, state, examples })));
      }
    }),
  );
  await context.close();
  return found;
}
