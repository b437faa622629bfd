import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { expectAccessible, expectToFit, picture } from '../portal/accessible.ts';
import { problem } from './scripted-api.ts';
import { testScreens } from './test-screens.ts';

const LIST = 'GET /v1/workspaces/{workspace}/streams';
const EVENTS = 'GET /v1/workspaces/{workspace}/events';
const FIELDS = 'GET /v1/workspaces/{workspace}/streams/{name}/fields';
const SEND = 'POST /v1/workspaces/{workspace}/streams/{name}/send';
const AT = '/workspaces/shop/streams';

testScreens('the event streams of a workspace', ({ api, guard, open }) => {
  const main = (page: Page) => page.locator('main');
  const card = (page: Page, name: string) => main(page).getByRole('region', { name, exact: true });

  /** Serves a stream to which no event came. */
  function serveNoEvent(): void {
    api.answer(EVENTS, { items: [], next: null });
    api.answer(FIELDS, { stream: 'shop/orders', source: null, items: [], next: null });
  }

  it('lead from the start page to a stream, say that it has no events yet, and copy its URL with one key', async () => {
    serveNoEvent();
    const page = await open('/', { permissions: ['clipboard-read', 'clipboard-write'] });
    await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Event streams' }).click();
    await main(page).getByText('1 rule subscribed · The key backend may send').waitFor();
    await main(page).getByText('No event yet').waitFor();
    await expectAccessible(page, 'the list of streams');
    await picture(page, 'streams');
    await main(page).getByRole('link', { name: 'orders' }).click();
    await main(page).getByText('No event yet. This list updates every five seconds.').waitFor();
    await main(page).getByRole('link', { name: 'order-paid.paid' }).waitFor();
    await page.keyboard.press('c');
    await main(page).getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(
      'http://127.0.0.1:7400/events/shop/orders',
    );
    await expectAccessible(page, 'a stream to which nothing came');
    await picture(page, 'stream-empty');
  });

  it('send the event that its rule reads, and show received events with the share of each field', async () => {
    serveNoEvent();
    api.answer(SEND, () => {
      api.forget(EVENTS);
      api.forget(FIELDS);
      return api.example(SEND);
    });
    const page = await open(`${AT}/orders`);
    await card(page, 'Send an event').getByRole('button', { name: 'Send this event now' }).click();
    await card(page, 'Send an event').getByText('Sent as evt_').waitFor();
    const events = card(page, 'Newest events').getByRole('list', { name: 'Newest events' });
    await events.getByRole('link', { name: /^evt_/ }).waitFor();
    await events.getByText('What came in').click();
    await events.getByRole('group', { name: 'Body of the event' }).getByText('"paid"').waitFor();
    const field = card(page, 'Fields seen').getByRole('row', { name: /^total/ });
    await field.getByText('100 %').waitFor();
    expect(await field.textContent()).toContain('number');
    await card(page, 'Code').getByRole('tab', { name: 'Python' }).click();
    await card(page, 'Code').getByText('urlopen').first().waitFor();
    const many = card(page, 'Many events in one request').getByRole('group', { name: 'the call for many events' });
    expect(await many.textContent()).toContain("-X POST 'http://127.0.0.1:7400/events/shop/orders'");
    await card(page, 'Many events in one request').getByRole('tab', { name: '@carillon/client' }).click();
    await card(page, 'Many events in one request').getByText("sendBatch('shop/orders', events").waitFor();
    await expectAccessible(page, 'a stream');
    await picture(page, 'stream');
    await expectToFit(page, 390);
    await page.setViewportSize({ width: 1440, height: 900 });
    expect(
      api
        .calls(SEND)
        .map(({ params, body }) => ({ ...params, sent: JSON.parse((body as { event: string }).event) as object })),
    ).toEqual([
      {
        workspace: 'shop',
        name: 'shop/orders',
        sent: { status: 'paid', total: 101, customer: { email: 'ada@example.com' } },
      },
    ]);
    // The story of the event is one click away.
    await events.getByRole('link', { name: /^evt_/ }).click();
    await main(page).getByRole('heading', { name: 'Story' }).waitFor();
  });

  it('are shown to a viewer, who reads why nothing can be sent', async () => {
    const page = await open(`${AT}/orders`, { as: 'viewer' });
    await page.getByText('Bodies of events are hidden.').waitFor();
    expect(await page.getByRole('button', { name: 'Send this event now' }).isDisabled()).toBe(true);
    await expectAccessible(page, 'a stream for a viewer');
    await picture(page, 'stream-viewer');
  });

  it('keep the frame while they load, say what went wrong and ask again', async () => {
    guard.allowStatus(400);
    api.answer(LIST, problem(400, 'invalid_request', 'The configuration cannot be read.'));
    const release = api.hold(LIST);
    const page = await open(AT);
    await main(page).getByRole('status', { name: 'Loading event streams' }).waitFor();
    await expectAccessible(page, 'streams that load');
    release();
    await main(page).getByText('When you ask for help, name the request req_1.').waitFor();
    await expectAccessible(page, 'streams that cannot be read');
    api.forget(LIST);
    await main(page).getByRole('button', { name: 'Try again' }).click();
    await main(page).getByRole('link', { name: 'orders' }).waitFor();
  });
});
