import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { untilFound } from '@carillon/testing';
import { describeWith } from '../../support/requirements.ts';
import { expectAccessible, expectToFit } from './accessible.ts';
import { guardPages } from './guard.ts';
import { holdBack } from './hold-back.ts';
import { sharedDemoWith } from './shared-demo.ts';
import { closeContexts, sharedBrowser, type SharedDemo } from './support.ts';

/** Where pictures of each screen are kept for somebody to look at; unset: none are taken. */
const PICTURES = process.env['PORTAL_PICTURES'];

describeWith('chromium', 'templates in a browser', () => {
  let demo: SharedDemo;
  let browser: Browser;
  let page: Page;
  const guard = guardPages(() => [demo.control]);

  beforeAll(async () => {
    [demo, browser] = await Promise.all([sharedDemoWith('letters'), sharedBrowser()]);
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: 'en-GB' });
    await context.request.post(`${demo.control}/v1/session`, { data: { word: demo.ownerToken } });
    page = await guard.openPage(context);
  });
  afterAll(async () => {
    await closeContexts();
  });

  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const main = () => page.locator('main');
  const saved = () => page.locator('[data-draft="saved"]').waitFor();
  async function open(name: string): Promise<void> {
    await page.goto(`${demo.control}/workspaces/letters`);
    await page
      .getByRole('navigation', { name: 'Screens' })
      .getByRole('link', { name: 'Templates', exact: true })
      .click();
    // The page before has a link of this name too, to the notification.
    await main().getByRole('heading', { name: 'Templates', level: 1 }).waitFor();
    await main().getByRole('link', { name, exact: true }).click();
    await main().getByRole('heading', { name, exact: true, level: 1 }).waitFor();
  }
  async function look(name: string): Promise<void> {
    for (const [width, height] of PICTURES === undefined
      ? []
      : ([
          [1440, 900],
          [390, 844],
        ] as const)) {
      await page.setViewportSize({ width, height });
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        await page.screenshot({ path: `${PICTURES}/${name}-${width}-${colorScheme}.png`, fullPage: true });
      }
    }
    await expectAccessible(page, name);
    await expectToFit(page, 390, 768);
    await page.evaluate('document.adoptedStyleSheets = []');
    // The page scrolls inside its frame. A document that scrolls too would show a second scroll bar beside it.
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.evaluate('document.documentElement.scrollHeight'), name).toBe(844);
    await page.setViewportSize({ width: 1440, height: 900 });
  }
  const part = (name: string) => page.getByRole('textbox', { name, exact: true });
  async function write(name: string, text: string): Promise<void> {
    // Chromium’s own editing keeps the colour of text that is typed over by a style, which the policy refuses.
    guard.allowWords(/Applying inline style|style-src-attr inline/);
    await part(name).click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(text);
  }
  /** A sandboxed frame runs nothing, and is read from outside. */
  const frame = () => page.frameLocator('iframe');

  it('previews the mail of a published template as its reader gets it, and the draft once it is saved', async () => {
    await open('order-paid');
    await page.locator('[data-preview="new"]').waitFor();
    expect(await page.locator('iframe').getAttribute('sandbox')).toBe('');
    expect(await page.locator('iframe').getAttribute('src')).toMatch(/^\/previews\/letters\/order-paid\/html\?/);
    await page.getByText('Used', { exact: true }).waitFor();
    await look('template');
    // There is no event yet, so the preview uses the sample of the rule.
    await page.locator('dd bdi', { hasText: 'Thank you, Ada: order A-1001 is paid' }).waitFor();
    await write('Subject', 'Now {{order_id}} and {{not_there}}');
    await saved();
    await page.locator('dd bdi', { hasText: /^Now / }).waitFor();
    await page.locator('dd', { hasText: 'not_there' }).first().waitFor();
  });

  it('inserts a variable of the rule by a button of each field, before the first event', async () => {
    await open('order-paid');
    const subject = part('Subject');
    await subject.click();
    await page.locator('[data-code-field="Subject"] .cm-content').waitFor();
    await page.keyboard.press('End');
    await button('Insert a variable into Subject').click();
    await page.getByRole('menuitem', { name: /^customer\.name/ }).click();
    await expect.poll(() => subject.textContent()).toMatch(/\}\}\{\{customer\.name\}\}$/);
    // Who inserted it types on behind it.
    await page.locator('[data-code-field="Subject"] .cm-content:focus').waitFor();
    await page.keyboard.type('!');
    await expect.poll(() => subject.textContent()).toMatch(/\}\}\{\{customer\.name\}\}!$/);
    for (const field of ['Preheader', 'Sender', 'HTML', 'Text']) {
      await button(`Insert a variable into ${field}`).waitFor();
    }
    await page.locator('dd bdi', { hasText: 'Ada!' }).waitFor();
  });

  it('keeps the last good preview while a variable is half typed, with one line about it below the field', async () => {
    await open('order-paid');
    await page.locator('[data-preview="new"]').waitFor();
    await write('Subject', 'Half {{custo');
    await page.locator('[data-preview="old"]').waitFor();
    await page.locator('dd bdi', { hasText: 'A-1001' }).waitFor();
    const faults = page.locator('[data-code-field="Subject"] p', { hasText: 'This tag is not closed' });
    expect(await faults.count()).toBe(1);
    expect(await page.getByText('not closed').count()).toBe(1);
    expect(await main().getByRole('alert').count()).toBe(0);
    await write('Subject', 'Now {{order_id}} and {{not_there}}');
    await page.locator('dd bdi', { hasText: /^Now A-1001/ }).waitFor();
    await saved();
  });

  it('counts what the newest events lack, with a link to such an event', async () => {
    const key = await demo.makeKey('letters', 'sender');
    await demo.apply({
      'workspaces/letters/streams/orders.yaml': 'key: event.order_id\nsecurity: { api_keys: [backend, sender] }\n',
    });
    const order = { status: 'paid', total: 120, customer: { name: 'Ada', email: 'ada@example.com' } };
    await demo.send('letters/orders', key, { ...order, order_id: 'A-1', not_there: 'it is' });
    const without = await demo.send('letters/orders', key, { ...order, order_id: 'A-2' });
    await demo.send('letters/orders', key, { ...order, order_id: 'A-3', total: 1 });
    await untilFound('all are in the list', async () => {
      const { items } = await demo.ask<{ items: readonly object[] }>('/v1/workspaces/letters/events');
      return items.length >= 3 ? items : undefined;
    });
    await page.reload();
    await page.locator('[data-missing="1"]').getByText('Of the newest 3 events, 2 would send it.').waitFor();
    await page.locator('[data-missing="1"] li', { hasText: 'not_theremissing in 1' }).waitFor();
    await page.getByRole('region', { name: 'Variables' }).scrollIntoViewIfNeeded();
    await look('template-missing');
    await page.getByRole('link', { name: 'Open the newest event without not_there' }).click();
    await page.waitForURL(`**/events/${without}`);
    await page.goBack();
    await button('Discard').click();
    await button('Discard the draft').click();
    await page.getByText('The draft is discarded.').waitFor();
  });

  it('offers fields and helpers in parts of one line too', async () => {
    guard.allowWords(/Applying inline style|style-src-attr inline/);
    // Half a variable is no template.
    guard.allowStatus(400);
    await open('order-paid');
    const subject = part('Subject');
    await subject.click();
    // What is typed before the editor came is offered nothing.
    await page.locator('[data-code-field="Subject"] .cm-content').waitFor();
    await page.keyboard.press('End');
    await page.keyboard.type(' {{custo');
    const offered = page.getByRole('option', { name: /^customer\.name/ });
    // Names come with the newest events: one key more asks for them again.
    await untilFound('customer.name is offered', async () => {
      await page.keyboard.type('m');
      const isOffered = offered.waitFor({ timeout: 15_000 }).then(() => true);
      if (await isOffered.catch(() => false)) return true;
      await page.keyboard.press('Backspace');
      return undefined;
    });
    await offered.click();
    await expect.poll(() => subject.textContent()).toContain(' {{customer.name}}');
    await button('Discard').click();
    await button('Discard the draft').click();
    await page.getByText('The draft is discarded.').waitFor();
  });

  it('keeps cursor and typing when the code editor finishes loading', async () => {
    const come = await holdBack(page, /code-editor-[^/]*\.js/);
    await open('order-paid');
    const subject = part('Subject');
    await subject.click();
    await page.keyboard.press('Home');
    await page.keyboard.type('Ne');
    come();
    await page.locator('[data-code-field="Subject"] .cm-content').waitFor();
    await page.keyboard.type('w: ');
    await expect.poll(() => subject.textContent()).toMatch(/^New: \S/);
    await page.unroute(/code-editor-[^/]*\.js/);
    await button('Discard').click();
    await button('Discard the draft').click();
    await page.getByText('The draft is discarded.').waitFor();
  });

  it('begins a template from scratch, keeps the last good preview while it is wrong, and puts a language beside it', async () => {
    guard.allowStatus(400, 404);
    // Chromium’s own editing keeps the colour of text that is typed over by a style, which the policy refuses.
    guard.allowWords(/Applying inline style|style-src-attr inline/);
    await page.goto(`${demo.control}/workspaces/letters/templates`);
    await button('New template').click();
    await page.getByLabel('Name', { exact: true }).fill('fresh');
    await button('Create a draft').click();
    await frame().getByText('here is what happened.').waitFor();
    const html = page.getByRole('textbox', { name: 'HTML' });
    await html.click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText('<p>{{#if a}}</p>');
    await page.locator('[data-preview="old"]').waitFor();
    await page.locator('[data-code-field="HTML"]').getByText(/if/).first().waitFor();
    await html.click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText('<p>All good again</p>');
    await page.locator('[data-preview="new"]').waitFor();
    await frame().getByText('All good again').waitFor();
    await button('Language').click();
    await page.getByRole('dialog').getByLabel('Language').fill('de');
    await button('Add the language').click();
    await page.getByText('For readers of de. Without it they would get Default.').waitFor();
    // Both stand beside one another, part by part.
    const before = page.locator('[data-fallback="html"]');
    await before.getByText('Not translated yet: same text as Default.').waitFor();
    await write('HTML · de', '<p>Alles gut</p>');
    await frame().getByText('Alles gut').waitFor();
    await before.waitFor({ state: 'detached' });
    expect(await part('HTML · Default').textContent()).toContain('All good again');
    await page.locator('[data-fallback="text"]').getByText('Made from the HTML in de.').waitFor();
    const [own, other] = await Promise.all([part('HTML · de').boundingBox(), part('HTML · Default').boundingBox()]);
    expect(other?.y).toBe(own?.y);
    await look('template-languages');
    await page.setViewportSize({ width: 390, height: 844 });
    await expect
      .poll(async () => (await part('HTML · Default').boundingBox())?.x)
      .toBe((await part('HTML · de').boundingBox())?.x);
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.getByLabel('Compare with').selectOption('none');
    await part('HTML').waitFor();
    await page.waitForURL(/beside=alone/);
  });

  it('previews a body in a layout that is a draft, and warns of a body that is a whole page', async () => {
    await page.goto(`${demo.control}/workspaces/letters/templates`);
    await button('New layout').click();
    await page.getByLabel('Name', { exact: true }).fill('frame');
    await button('Create a draft').click();
    await main().getByRole('heading', { name: 'frame', exact: true, level: 1 }).waitFor();
    await write('HTML', '<html><body><h1>The frame</h1>{{{body}}}</body></html>');
    await saved();
    await page.goto(`${demo.control}/workspaces/letters/templates/fresh`);
    await page.getByLabel('Layout').selectOption({ label: 'frame (draft)' });
    await frame().getByText('The frame').waitFor();
    await frame().getByText('All good again').waitFor();
    expect(await page.locator('[data-warning="html"]').count()).toBe(0);
    await write('HTML', '<html><body>A page of its own</body></html>');
    await page.locator('[data-warning="html"]').getByText('The body has its own <html>').waitFor();
    await look('template-layout');
    // The page of the layout shows it in the template that is a draft too.
    await page.goto(`${demo.control}/workspaces/letters/layouts/frame`);
    await frame().getByText('A page of its own').waitFor();
  });

  it('says what an SMS costs and which character makes it dear', async () => {
    await page.goto(`${demo.control}/workspaces/letters/templates/fresh`);
    await button('SMS').click();
    await page.locator('[data-segments]').waitFor();
    const text = page.getByRole('textbox', { name: 'Text' });
    await text.click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(`${'a'.repeat(80)}ş`);
    await expect
      .poll(() => page.locator('[data-segments]').textContent())
      .toBe('81 / 134, 2 segments, UCS-2. “ş” makes it UCS-2: 2 segments');
    await look('template-sms');
  });
});
