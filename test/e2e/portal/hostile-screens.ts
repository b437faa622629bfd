import { startScriptedSmtp, untilFound, type ScriptedSmtp } from '@carillon/testing';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { widthOf } from './accessible.ts';
import { guardPages } from './guard.ts';
import { layAside } from './hostile-queues.ts';
import { hostileTexts } from './hostile-texts.ts';
import { startTrap, type Trap } from './lab.ts';
import { closeContexts, sharedBrowser, startDemo } from './support.ts';

const AT = 'workspaces/odd';

type Demo = Awaited<ReturnType<typeof startDemo>>;
type Handled = { readonly id: string; readonly state: string; readonly to: string };

const deliveriesOf = async (demo: Demo): Promise<readonly Handled[]> =>
  (await demo.ask<{ items: Handled[] }>('/v1/workspaces/odd/deliveries')).items;

const notification = (name: string, kind: string, account: string): string =>
  `${JSON.stringify({
    name,
    channels: { email: { template: 'odd', ...(account && { accounts: [account] }) } },
    rules: {
      r: {
        stream: 'orders',
        when: `event.kind == "${kind}" && event.name != ""`,
        recipients: { from: 'event', to: { email: 'event.email' }, unique_id: 'event.name' },
      },
    },
  })}\n`;

/** A folder in which every text that a user writes is hostile. */
function folderOf(texts: readonly string[], smtpPort: number): Readonly<Record<string, string>> {
  const [first = '', second = '', third = ''] = texts;
  const provider = {
    name: 'company',
    title: first.slice(0, 60),
    issuer: 'https://login.example.com',
    client_id: second.slice(0, 256),
    roles: [{ group: third, workspace: 'odd', role: 'viewer' }],
  };
  return {
    'carillon.yaml': `backend: embedded\nportal_url: https://carillon.example.com\nsign_in: ${JSON.stringify({ providers: [provider] })}\n`,
    [`${AT}/workspace.yaml`]: `${JSON.stringify({ name: first, categories: { orders: { name: second } } })}\n`,
    [`${AT}/layouts/frame.html`]: `<p>${third}</p>{{{body}}}{{> foot}}\n`,
    [`${AT}/partials/foot.hbs`]: `${second}\n`,
    [`${AT}/streams/orders.yaml`]: 'security: { api_keys: [backend] }\n',
    [`${AT}/accounts/refusing.yaml`]: `kind: smtp\nhost: 127.0.0.1\nport: ${smtpPort}\ntls: none\nfrom: lab@example.com\n`,
    [`${AT}/templates/odd/email.yaml`]: `${JSON.stringify({ subject: `{{ name }} ${third}`, from: 'odd@example.com' })}\n`,
    [`${AT}/templates/odd/email.txt`]: `${second}\n{{ all }}\n{{ lacking }}\n`,
    [`${AT}/templates/odd/email.de.yaml`]: `${JSON.stringify({ subject: `${first} {{ name }}`, from: 'odd@example.com' })}\n`,
    [`${AT}/templates/odd/email.de.txt`]: `${third}\n{{ all }}\n`,
    [`${AT}/templates/odd/sms.txt`]: `${third} {{ name }}\n`,
    [`${AT}/notifications/kept.yaml`]: notification(`Kept ${second}`, 'kept', ''),
    [`${AT}/notifications/refused.yaml`]: notification(`Refused ${third}`, 'refused', 'refusing'),
  };
}

/** Sends events with hostile texts, and saves a draft, entries and a token with them. Returns the id of the first event. */
async function fill(demo: Demo, texts: readonly string[]): Promise<string> {
  const [first = '', second = '', third = ''] = texts;
  const key = await demo.makeKey('odd', 'backend');
  const all = texts.join('\n');
  // Names of fields come from outside too.
  const fields = Object.fromEntries(texts.slice(0, 60).map((text) => [text, text]));
  const event = await demo.send('odd/orders', key, {
    ...fields,
    kind: 'kept',
    email: 'a@example.com',
    name: first,
    all,
    texts,
  });
  for (const name of texts.slice(1, 12))
    await demo.send('odd/orders', key, { kind: 'kept', email: 'b@example.com', name, all: name });
  await demo.send('odd/orders', key, { kind: 'refused', email: 'c@example.com', name: second, all });
  await untilFound('all were handled', async () => {
    const found = await deliveriesOf(demo);
    return (found.length === 13 && found.every(({ state }) => !/WAITING|SENDING/.test(state))) || undefined;
  });
  const draft = await fetch(`${demo.control}/v1/workspaces/odd/notifications/kept/draft`, {
    method: 'PUT',
    headers: {
      authorization: `Bearer ${demo.ownerToken}`,
      'content-type': 'application/json',
      'if-none-match': '*',
    },
    body: JSON.stringify({
      body: JSON.parse(notification(`Draft ${third} ${first}`, 'kept', '')) as unknown,
      based_on: null,
    }),
  });
  expect(draft.status, await draft.clone().text()).toBeLessThan(300);
  // What operators and files say, about people that nobody made up as people.
  const oneLine = texts.filter((text) => !/[\u0000-\u001F\u007F]/.test(text));
  for (const [at, text] of texts.entries()) {
    const address = `held-${at}@example.com`;
    await demo.ask('/v1/workspaces/odd/suppressions', { channel: 'email', address, detail: text.slice(0, 500) });
  }
  for (const person of oneLine) {
    await demo.ask('/v1/workspaces/odd/consents', { person, target: 'all', opted_out: true });
  }
  await demo.ask('/v1/tokens', { name: first.slice(0, 80), scopes: ['read'], workspaces: ['odd'] });
  return event;
}

type Screen = readonly [path: string, ready: string, act?: () => Promise<void>];

/** Returns what can be done on a page to open the parts that a click shows. */
function actionsOn(page: Page, first: string) {
  const press = (name: string | RegExp) => async (): Promise<void> =>
    page.getByRole('button', { name }).first().click();
  /** Chooses all rows that can be chosen together with the first, and presses a button. */
  const chooseAll = async (then: string, hasText = ''): Promise<void> => {
    const row = page.locator('main li', { hasText });
    const boxes = row.getByRole('checkbox', { name: /^Choose/ });
    await boxes.first().waitFor();
    for (const box of await boxes.all()) await box.check();
    await page.getByRole('button', { name: then }).click();
  };
  const openRow = (hasText: string): Promise<void> => page.locator('main [data-key]', { hasText }).first().click();
  const takeBack = async (): Promise<void> => {
    await press(/^Show changes/)();
    await press('Undo this change')();
    await page.getByRole('dialog').getByText('As YAML').click();
  };
  const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
  const takeIn = async (csv: string): Promise<void> => {
    await page.getByRole('button', { name: 'Import…' }).click();
    const name = `${first.replaceAll('/', '')}.csv`;
    await page.getByLabel('CSV file in UTF-8').setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(csv) });
    await page.getByText('As curl').click();
    await page.getByRole('button', { name: 'Import the file' }).click();
  };
  const asYaml = async (): Promise<void> => {
    await page.getByRole('button', { name: 'New notification' }).click();
    await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill(first);
    await page.getByRole('dialog').getByText('As YAML').click();
  };
  return { press, chooseAll, openRow, takeBack, quoted, takeIn, asYaml };
}

/** Returns the screens that show hostile texts, each with a text that it shows once it is ready. */
function screensOf(page: Page, texts: readonly string[], event: string, found: readonly Handled[]): readonly Screen[] {
  const [first = '', second = ''] = texts;
  const { press, chooseAll, openRow, takeBack, quoted, takeIn, asYaml } = actionsOn(page, first);
  const idOf = (address: string): string => found.find(({ to }) => to === address)?.id ?? '';
  const at = '/workspaces/odd';
  return [
    ['/workspaces', 'odd'],
    [at, 'By notification'],
    [`${at}/notifications`, 'Kept "><script>'],
    [`${at}/notifications/kept`, 'Draft'],
    [`${at}/notifications/kept/rules/r`, 'Test bench'],
    [`${at}/notifications/kept/channels`, 'Send by email'],
    [`${at}/notifications/kept/versions`, 'Current'],
    [`${at}/templates/odd`, 'Preview'],
    [`${at}/streams/orders`, 'backend'],
    [`${at}/accounts`, 'refusing'],
    [`${at}/drafts`, 'Draft'],
    [`${at}/deliveries`, 'b@example.com'],
    [`${at}/deliveries?open=${idOf('a@example.com')}`, 'Journey'],
    [`${at}/deliveries?open=${idOf('c@example.com')}`, 'smtp'],
    [`${at}/events`, 'evt_'],
    [`${at}/events/${event}`, 'Story'],
    [`${at}/inbox`, 'a@example.com'],
    [`/settings/identity/api-keys?workspace=odd`, 'backend'],
    [`${at}/settings`, 'Categories'],
    ['/settings/sign-in', 'login.example.com'],
    ['/settings/tokens', '<script>'],
    ['/settings/audit', 'consent.set'],
    [`${at}/notifications/kept/secure`, 'backend'],
    [`${at}/cadence`, 'Limits'],
    [`${at}/layouts/frame`, 'foot'],
    [`${at}/partials/foot`, 'Text'],
    [`${at}/templates/odd?channel=email&locale=de`, 'lacking'],
    [`${at}/templates/odd?channel=sms`, 'segment'],
    [`${at}/versions`, 'layout'],
    [`${at}/deliveries?recipient=${encodeURIComponent(first)}`, 'No delivery matches'],
    [`${at}/why?who=${encodeURIComponent(second)}`, 'Ask', press(/^Ask/)],
    [`${at}/suppressions`, 'held-'],
    [`${at}/suppressions`, 'Why', () => page.locator('main [data-key]').first().click()],
    [`${at}/suppressions`, 'From now on messages are sent again to', () => chooseAll('Remove…')],
    [`${at}/opt-outs`, 'Opted out'],
    [`${at}/opt-outs`, 'Does not want', () => page.locator('main [data-key]').first().click()],
    [`${at}/opt-outs`, 'will get again what they opted out of', () => chooseAll('Undo their opt-outs…')],
    [`${at}/deliveries`, 'message to', () => chooseAll('Send again…', 'c@example.com')],
    [`${at}/opt-outs`, 'refused', () => takeIn(`person,target\n${quoted(first)},${quoted(second)}\n`)],
    [`${at}/notifications`, '.yaml', () => asYaml()],
    [`${at}/deliveries/receipts`, 'unknown_receipt'],
    [`${at}/deliveries/receipts`, 'No delivery changes.', () => openRow('unknown_receipt')],
    [`${at}/deliveries/receipts`, 'No delivery changes', () => chooseAll('Dismiss…')],
    [`${at}/deliveries/dead-letters`, 'rule_error'],
    [`${at}/deliveries/dead-letters`, 'Failed in', () => openRow('rule_error')],
    [`${at}/deliveries/dead-letters`, 'The people are known', () => chooseAll('Redrive…', 'rule_error')],
    [`${at}/settings`, 'Remove odd?', press('Remove odd…')],
    [`${at}/versions`, 'Publish the old version', () => takeBack()],
  ];
}

/** Elements that only markup in a text can make: the pages have none of them. */
const FOREIGN =
  'object, embed, video, audio, marquee, x-y, base, math, [onerror], [onload], [onfocus], [srcdoc], a[href^="javascript" i], a[href^="data" i]';

/** Opens a screen and expects its texts to stay texts. Returns what the screen lacks. */
async function inspect(page: Page, control: string, [path, ready, act]: Screen): Promise<readonly string[]> {
  const missing: string[] = [];
  await page.goto(`${control}${path}`);
  const whole = page.locator('body');
  await act?.().catch((error: unknown) => missing.push(`${path}: ${String(error).slice(0, 200)}`));
  await whole
    .getByText(ready)
    .first()
    .waitFor({ state: 'attached', timeout: 30_000 })
    .catch(() => missing.push(`${path}: ${ready}`));
  await page.evaluate(
    `for (const folded of document.querySelectorAll('main details, [role=dialog] details')) folded.open = true`,
  );
  for (const width of [1440, 390]) {
    await page.setViewportSize({ width, height: 900 });
    const seen = await page.evaluate(
      `[window.ran === true, document.querySelectorAll(${JSON.stringify(FOREIGN)}).length, location.origin]`,
    );
    expect(seen, `${path} at ${width} px`).toEqual([false, 0, control]);
    await expect.poll(() => widthOf(page), { message: `${path} at ${width} px` }).toBeLessThanOrEqual(width);
  }
  return missing;
}

/** Declares the tests of what others wrote, over the screens that are chosen by their place in the list. */
export const lookForScripts = (isChosen: (nth: number) => boolean): void =>
  describeWith('chromium', 'texts of others in the portal', () => {
    let demo: Demo;
    let trap: Trap;
    let smtp: ScriptedSmtp;
    let texts: readonly string[];
    let event: string;
    let browser: Browser;
    let context: BrowserContext;
    let page: Page;
    const guard = guardPages(() => [demo.control]);

    beforeAll(async () => {
      [demo, trap, browser] = await Promise.all([startDemo(), startTrap(), sharedBrowser()]);
      texts = hostileTexts(trap.origin);
      smtp = await startScriptedSmtp({
        script: ({ stage }) =>
          stage === 'rcpt' ? `550 5.1.1 <img src="${trap.origin}/smtp" onerror="top.ran=true">` : undefined,
      });
      await demo.apply(folderOf(texts, smtp.port));
      event = await fill(demo, texts);
      await demo.kill();
      await layAside(demo.dataDir, 'odd', texts);
      await demo.comeBack();
      context = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: 'en-GB' });
      await context.request.post(`${demo.control}/v1/session`, { data: { word: demo.ownerToken } });
      page = await guard.openPage(context);
    });
    afterAll(async () => {
      await closeContexts();
      await smtp?.stop();
      await trap?.stop();
      await demo?.stop();
    });

    it('are at least 200, each another', () => {
      expect(new Set(texts).size).toBeGreaterThanOrEqual(200);
    });

    it('are text on every screen that shows them: no script runs, nothing is asked for, and no page gets wider', async () => {
      const screens = screensOf(page, texts, event, await deliveriesOf(demo));
      const missing: string[] = [];
      for (const screen of screens.filter((_, nth) => isChosen(nth))) {
        missing.push(...(await inspect(page, demo.control, screen)));
      }
      expect(missing, 'what these screens should have shown').toEqual([]);
      expect(trap.visits()).toBe(0);
    });
  });
