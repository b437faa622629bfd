import type { Browser, BrowserContext, Page } from 'playwright-core';
import { untilFound } from '@carillon/testing';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { expectAccessible, expectToFit, picture } from './accessible.ts';
import { guardPages } from './guard.ts';
import { openMember } from './member.ts';
import { openBrowser, startDemo, type Demo } from './support.ts';

const two = (hour: number): string => `${String((hour + 24) % 24).padStart(2, '0')}:00`;
/** Hours that it is now, wherever the test runs: the people of this workspace live by UTC. */
const quietNow = (): string => {
  const hour = new Date().getUTCHours();
  return `{ from: "${two(hour - 1)}", to: "${two(hour + 4)}" }`;
};

const notification = (name: string, more = ''): string => `name: ${name}
channels:
  email: { template: plain }
rules:
  r:
    stream: orders
    when: event.kind == "${name}" && event.total > 100
    recipients: { from: event, to: { email: event.email }, unique_id: event_id }
${more}`;

type Listed = {
  readonly items: readonly { readonly state: string; readonly to: string | null; readonly id: string }[];
};

describeWith('chromium', 'the screen Why not?, in a browser', () => {
  let demo: Demo;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let key = '';
  const guard = guardPages(() => [demo.control]);
  const send = (kind: string, email: string, total = 120): Promise<string> =>
    demo.send('care/orders', key, { kind, email, total, name: 'A' });
  const answer = () => page.getByRole('region', { name: 'Answer' });
  const gate = (name: string) => page.locator(`main [data-gate="${name}"]`);
  const resultOf = (name: string): Promise<string | null> => gate(name).getAttribute('data-result');
  /** Asks as an operator does: on the screen, by typing. */
  const ask = async (who: string, name: string): Promise<void> => {
    await page.goto(`${demo.control}/workspaces/care/why`);
    await page.getByRole('textbox', { name: 'Who' }).fill(who);
    await page.getByRole('combobox', { name: 'Notification' }).selectOption(name);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    await answer().waitFor();
  };
  const untilState = (email: string, state: string): Promise<string> =>
    untilFound(`${email} is ${state}`, async () => {
      const { items } = await demo.ask<Listed>(`/v1/workspaces/care/deliveries?recipient=${email}`);
      return items.find((one) => one.state === state)?.id;
    });

  beforeAll(async () => {
    [demo, browser] = await Promise.all([startDemo(), openBrowser()]);
    key = await demo.makeKey('care', 'backend');
    const at = 'workspaces/care';
    await demo.apply({
      'carillon.yaml': 'backend: embedded\n',
      [`${at}/workspace.yaml`]: 'name: Care\n',
      [`${at}/streams/orders.yaml`]: 'security: { api_keys: [backend] }\n',
      [`${at}/templates/plain/email.yaml`]: 'subject: Hello\nfrom: care@example.com\n',
      [`${at}/templates/plain/email.txt`]: 'Hello {{ name }}\n',
      [`${at}/notifications/paid.yaml`]: notification('paid'),
      [`${at}/notifications/night.yaml`]: notification('night', `cadence:\n  quiet_hours: ${quietNow()}\n`),
      [`${at}/notifications/rare.yaml`]: notification(
        'rare',
        'cadence:\n  limits:\n    - { max: 1, per: 1d, then: drop }\n',
      ),
    });
    await demo.ask('/v1/workspaces/care/suppressions', {
      channel: 'email',
      address: 'bob@example.com',
      detail: 'wrote a letter',
    });
    await demo.ask('/v1/workspaces/care/consents', { person: 'cleo@example.com', target: 'all', opted_out: true });
    await send('paid', 'ada@example.com');
    await send('paid', 'bob@example.com');
    await send('paid', 'cleo@example.com');
    await send('paid', 'dan@example.com', 40);
    await send('night', 'eve@example.com');
    await send('rare', 'fay@example.com');
    await untilState('fay@example.com', 'SENT');
    await send('rare', 'fay@example.com');
    await untilState('ada@example.com', 'SENT');
    await untilState('bob@example.com', 'SUPPRESSED');
    await untilState('cleo@example.com', 'SUPPRESSED');
    await untilState('eve@example.com', 'WAITING');
    await untilState('fay@example.com', 'SUPPRESSED');
    context = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: 'de-DE' });
    await context.request.post(`${demo.control}/v1/session`, { data: { word: demo.ownerToken } });
  });
  beforeEach(async () => {
    await page?.close();
    page = await guard.openPage(context);
    page.setDefaultTimeout(30_000);
  });
  afterAll(async () => {
    await browser?.close();
    await demo?.stop();
  });

  it('says of somebody who was told that every gate was passed, and links the message', async () => {
    await ask('ada@example.com', 'paid');
    expect(await answer().innerText()).toMatch(/^Told[\s\S]*paid told them of event evt_/);
    for (const name of ['event', 'rule', 'condition', 'recipient', 'consent', 'address', 'limits', 'provider']) {
      expect(await resultOf(name), name).toBe('passed');
    }
    await page.getByText(/events? looked at, \d+ judged once more/).waitFor();
    await gate('condition').getByText('the event judged once more').waitFor();
    await gate('provider').getByText('from the ledger').waitFor();
    await picture(page, 'why-told');
    await expectAccessible(page, 'told');
    await expectToFit(page, 390, 320);
    await gate('provider').getByRole('link', { name: /dlv_/ }).click();
    await page.getByRole('region', { name: 'Story' }).getByText('ada@example.com').first().waitFor();
  });

  it('says of a suppressed address which gate stopped it, and leads to who said so', async () => {
    await ask('bob@example.com', 'paid');
    expect(await answer().innerText()).toMatch(/^Not told[\s\S]*paid did not tell them/);
    expect(await resultOf('address')).toBe('stopped');
    expect(await resultOf('consent')).toBe('passed');
    expect(await resultOf('provider')).toBe('not_reached');
    await picture(page, 'why-suppressed');
    await expectAccessible(page, 'suppressed');
    await gate('address').getByRole('link', { name: 'Who says that nothing is sent to this address' }).click();
    await page.getByRole('list', { name: 'Suppressions' }).getByText('bob@example.com').waitFor();
  });

  it('says of somebody who opted out that they want nothing, and leads to what they said', async () => {
    await ask('cleo@example.com', 'paid');
    expect(await resultOf('consent')).toBe('stopped');
    expect(await resultOf('address')).toBe('not_reached');
    await gate('consent').getByRole('link', { name: 'What they said that they do not want' }).click();
    await page.getByRole('list', { name: 'Opt-outs' }).getByText('cleo@example.com').waitFor();
  });

  it('says where no rule matched which part of the condition said no, and leads to the test bench', async () => {
    await ask('dan@example.com', 'paid');
    expect(await resultOf('event')).toBe('passed');
    expect(await resultOf('condition')).toBe('stopped');
    await gate('condition').getByText('event.total > 100').first().waitFor();
    await picture(page, 'why-no-rule');
    await expectAccessible(page, 'no rule');
    await gate('condition').getByRole('link', { name: 'Part by part' }).click();
    await page.waitForURL(/notifications\/paid\/rules\/r\?event=evt_/);
  });

  it('says of a message that quiet hours hold that it waits, and leads to the cadence', async () => {
    await ask('eve@example.com', 'night');
    expect(await answer().innerText()).toMatch(/^Waiting[\s\S]*has not told them of event/);
    expect(await resultOf('schedule')).toBe('waiting');
    await gate('schedule').getByRole('link', { name: 'Its cadence' }).click();
    await page.waitForURL(/notifications\/night\/cadence/);
  });

  it('says which limit stopped the second message, and tells of the first beside it', async () => {
    await ask('fay@example.com', 'rare');
    expect(await answer().innerText()).toMatch(/^Not told/);
    expect(await resultOf('limits')).toBe('stopped');
    // Which message filled it is a link, in the words and as evidence of its own.
    await gate('limits')
      .getByText(/filled by/)
      .getByRole('link', { name: /^dlv_/ })
      .waitFor();
    const others = page.getByRole('region', { name: 'Other events about them' });
    await others.getByText('Told', { exact: true }).waitFor();
    await picture(page, 'why-limit');
    await others.getByRole('link', { name: /^The gates of event/ }).click();
    await expect.poll(() => answer().innerText()).toMatch(/^Told/);
    await page.getByText(/Only event evt_/).waitFor();
  });

  it('says of somebody whom no event names what came last, and where to look at the sender', async () => {
    await ask('nobody@example.com', 'paid');
    expect(await answer().innerText()).toMatch(/^No event[\s\S]*Nothing about them came for paid/);
    await picture(page, 'why-silence');
    await expectAccessible(page, 'no event');
    await answer().getByRole('link', { name: 'The last event' }).click();
    await page.waitForURL(/\/events\/evt_/);
    await page.getByRole('link', { name: 'Why not?' }).first().waitFor();
  });

  it('is reached from the list of deliveries, an open one, an event, the overview and the palette', async () => {
    const { control } = demo;
    await page.goto(`${control}/workspaces/care/deliveries?recipient=dan%40example.com`);
    await page.getByRole('link', { name: /^Why not\? Look for dan@example.com/ }).click();
    await expect.poll(() => page.getByRole('textbox', { name: 'Who' }).inputValue()).toBe('dan@example.com');

    await page.goto(`${control}/workspaces/care/deliveries`);
    await page.locator('main [data-key]', { hasText: 'bob@example.com' }).click();
    await page.getByRole('link', { name: 'Why not? Gate by gate' }).click();
    await answer().getByText('Not told').waitFor();
    expect(await resultOf('address')).toBe('stopped');
    const event = await gate('event').getByRole('link', { name: /evt_/ }).innerText();

    await page.goto(`${control}/workspaces/care/events/${event}`);
    await page.getByRole('main').getByRole('link', { name: 'Why not?' }).first().click();
    await page.waitForURL(/\/why\?event=evt_/);

    await page.goto(`${control}/workspaces/care`);
    await page.getByRole('main').getByRole('link', { name: 'Why not?' }).click();
    await page.getByRole('heading', { name: 'Whom do you miss a message for?' }).waitFor();
    await picture(page, 'why-empty');
    await expectAccessible(page, 'nothing asked');

    await page.goto(`${control}/workspaces/care/inbox`);
    await page.getByRole('heading', { name: 'Inbox' }).waitFor();
    await page.keyboard.press('ControlOrMeta+k');
    await page.getByRole('textbox', { name: 'Screen, action, name, or an id' }).fill('why');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/workspaces\/care\/why$/);
  });

  it('keeps its form while it asks, names the field that is wrong, and asks once more after an error', async () => {
    guard.allowStatus(400, 404, 503);
    let release = (): void => undefined;
    const held = new Promise<void>((settle) => void (release = settle));
    const calls = '**/v1/workspaces/care/why-not';
    await page.route(calls, async (route) => {
      await held;
      await route.fallback();
    });
    const about = 'who=ada%40example.com&notification=paid';
    await page.goto(`${demo.control}/workspaces/care/why?${about}`);
    await page.getByRole('status', { name: 'Loading the answer' }).waitFor();
    expect(await page.getByRole('textbox', { name: 'Who' }).inputValue()).toBe('ada@example.com');
    release();
    await answer().waitFor();
    await page.unroute(calls);

    const words = { type: 'about:blank', title: 'Busy', status: 503, code: 'busy', detail: 'The store is away.' };
    await page.route(calls, (route) =>
      route.fulfill({ status: 503, contentType: 'application/problem+json', body: JSON.stringify(words) }),
    );
    await page.goto(`${demo.control}/workspaces/care/why?${about}`);
    await page.getByRole('alert').getByText('The store is away.').waitFor({ timeout: 30_000 });
    await expectAccessible(page, 'an error');
    await page.unroute(calls);
    await page.getByRole('button', { name: 'Try again' }).click();
    await answer().waitFor();

    await page.goto(`${demo.control}/workspaces/care/why?${about}&from=yesterday-ish`);
    await page
      .getByRole('form', { name: 'Question' })
      .getByText(/^from: /)
      .waitFor();
    await page.goto(`${demo.control}/workspaces/care/why?who=ada%40example.com&notification=gone`);
    await page.getByRole('alert').getByText(/gone/).waitFor();
    await page.goto(`${demo.control}/workspaces/care/why`);
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    await page.getByText('Enter the whole address, person or unique_id.').waitFor();
  });

  it('tells a viewer the gates, without the values of events and the words of providers', async () => {
    const viewer = await openMember(demo, browser, { workspace: 'care', role: 'viewer' });
    page = await guard.openPage(viewer);
    await ask('dan@example.com', 'paid');
    expect(await resultOf('condition')).toBe('stopped');
    await page.getByText('Values of events and words of providers are left out').waitFor();
    expect(await page.getByRole('main').innerText()).not.toContain('event.total > 100');
    await expectAccessible(page, 'a viewer');
    await viewer.close();
  });
});
