import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { expectAccessible, expectToFit } from '../portal/accessible.ts';
import type { Call } from './scripted-api.ts';
import { testScreens } from './test-screens.ts';

const CHECK = 'POST /v1/workspaces/{workspace}/expressions/check';
const NOTIFICATION = 'GET /v1/workspaces/{workspace}/notifications/{name}';
const SAVE = 'PUT /v1/workspaces/{workspace}/{kind}/{name}/draft';
const STREAMS = 'GET /v1/workspaces/{workspace}/streams';
const EVENTS = 'GET /v1/workspaces/{workspace}/events';
const DRAFTS = 'GET /v1/workspaces/{workspace}/drafts';
const TEST = 'POST /v1/workspaces/{workspace}/rules/{name}/test';
const RULE = '/workspaces/shop/notifications/order-paid/rules/paid';
const WAITING = 'GET /v1/workspaces/{workspace}/rules/{name}/waiting';
const SOURCE = 'event.status == "packing"';

type SavedRule = Readonly<Record<string, unknown>>;

testScreens('A rule that waits', ({ api, open }) => {
  const main = (page: Page) => page.locator('main');
  const card = (page: Page, name: string) => main(page).getByRole('region', { name });
  const saved = (): SavedRule | undefined =>
    (api.calls(SAVE).at(-1)?.body as { body: { rules: { paid: SavedRule } } } | undefined)?.body.rules.paid;

  /** Serves a rule with these keys, and a shared stream `orders` with a key. */
  function serveRule(keys: object): void {
    const resource = api.example(NOTIFICATION) as { readonly body: object };
    const recipients = { from: 'event', to: { email: 'event.email' }, unique_id: 'event_id' };
    api.answer(NOTIFICATION, {
      ...resource,
      body: { ...resource.body, rules: { paid: { when: SOURCE, recipients, ...keys } } },
    });
    const [stream] = api.example(STREAMS)['items'] as readonly object[];
    api.answer(STREAMS, { items: [{ ...stream, name: 'orders', body: { key: 'event.order_id' } }], next: null });
    api.answer(DRAFTS, { items: [], next: null });
    api.answer(CHECK, ({ body }: Call) => {
      const { source } = body as { readonly source: string };
      const condition = {
        kind: 'compare',
        path: ['event', 'status'],
        op: '==',
        value: 'packing',
        start: 0,
        end: source.length,
      };
      const form = { match: 'all', conditions: [condition] };
      return { ...api.example(CHECK), source, form, faults: [], warnings: [] };
    });
    api.answer(SAVE, ({ body }: Call) => ({ ...api.example(SAVE), body: (body as { body: object }).body }));
  }

  it('shows how many events came late', async () => {
    serveRule({ stream: 'orders', after: '1h' });
    api.answer(WAITING, { ...api.example(WAITING), late_events: { count: 1200, complete: false } });
    const page = await open(RULE);
    const text = 'At least 1,200 events of the last day came more than the grace of the stream after their time.';
    await main(page).getByText(text).waitFor();
  });

  it('needs a stream with a key: without one the cards are disabled and offer to set one', async () => {
    serveRule({});
    const page = await open(RULE);
    const then = card(page, 'Then');
    await then.getByText('This rule has an event stream of its own, which has no key.').waitFor();
    expect(await then.getByRole('radio', { name: 'Wait for a while after the event' }).isDisabled()).toBe(true);
    expect(await card(page, 'Cooldown').getByLabel('For the same key').isDisabled()).toBe(true);
    await expectAccessible(page, 'cards that are off');
    await then.getByRole('button', { name: 'Use orders, with the key event.order_id' }).click();
    await expect.poll(() => saved()?.['stream']).toBe('orders');
    await card(page, 'Cooldown').getByLabel('For the same order (event.order_id)').waitFor();
    // An event can now be compared with the one before it.
    const compares = card(page, 'When').getByLabel('How condition 1 compares');
    await compares.locator('option', { hasText: 'changes' }).first().waitFor({ state: 'attached' });
  });

  it('waits as long as is typed, until the condition has ended, and cools down', async () => {
    serveRule({ stream: 'orders' });
    const page = await open(RULE);
    const then = card(page, 'Then');
    await then.getByText('Wait for a while after the event').click();
    await expect.poll(() => saved()?.['after']).toBe('1h');
    await then.getByLabel('Length of the wait').fill('90');
    await then.getByLabel('Unit of the wait').selectOption('m');
    await then.getByLabel('Event that starts the wait').selectOption('after_last');
    await then.getByRole('button', { name: 'Insert the opposite condition' }).click();
    await card(page, 'Cooldown')
      .getByLabel(/^For the same order/)
      .selectOption('until_false');
    await expect
      .poll(saved)
      .toMatchObject({ after_last: '90m', unless: 'event.status != "packing"', cooldown: 'until_false' });
    expect(saved()).not.toHaveProperty('after');
    await then.getByText('Wait until a time in the event').click();
    await then.getByLabel('Field with the time').fill('event.due');
    await then.getByLabel('Length before or after the time').fill('2');
    await then.getByLabel('Action if this time has passed').selectOption('notify');
    await expect.poll(saved).toMatchObject({
      at: 'timestamp(event.due) - duration("48h")',
      if_past: 'notify',
      unless: 'event.status != "packing"',
    });
    expect(saved()).not.toHaveProperty('after_last');
    await expectAccessible(page, 'a rule that waits');
    await expectToFit(page, 390);
    await then.getByText('Notify at once', { exact: true }).click();
    await expect
      .poll(() => Object.keys(saved() ?? {}).toSorted())
      .toEqual(['cooldown', 'recipients', 'stream', 'when']);
  });

  it('is tried on events in time, each with what the rule makes of it', async () => {
    serveRule({ stream: 'orders', after: '1h' });
    api.answer(TEST, api.example(TEST));
    const page = await open(RULE);
    const bench = card(page, 'Test bench');
    await bench.getByLabel('Length of the time that passes').fill('20');
    await bench.getByLabel('Unit of the time that passes').selectOption('m');
    await bench.getByRole('button', { name: 'Pass', exact: true }).click();
    await bench.getByRole('button', { name: 'Add an event' }).click();
    await page.getByRole('menuitem', { name: 'An event to type or paste' }).click();
    await bench.getByRole('button', { name: /^Run/ }).click();
    const rows = bench.getByRole('list', { name: 'Timeline' }).getByRole('button', { expanded: false });
    await rows.filter({ hasText: 'Wait cancelled: “unless” is true' }).click();
    await bench.getByRole('list', { name: 'Values of unless' }).getByText('event.type == "paid"').waitFor();
    const [{ events }] = api.calls(TEST).map(({ body }) => body as { events: readonly { at: string }[] }) as [
      { events: readonly { at: string }[] },
    ];
    expect(events.map(({ at }) => Date.parse(at) - Date.parse(events[0]?.at ?? ''))).toEqual([0, 20 * 60_000]);
    // The axis is for a pointer: a dot opens the same.
    await bench.locator('button[title="Smallest matching event"]').click();
    await bench.getByRole('list', { name: 'Values of when' }).waitFor();
    await expectAccessible(page, 'a timeline');
    await expectToFit(page, 390);
  });

  it('is tried on events in time if it counts them too', async () => {
    serveRule({ stream: 'orders', totals: { failed: { count: 'event.status == "failed"', within: '10m' } } });
    const page = await open(RULE);
    const bench = card(page, 'Test bench');
    await bench.getByRole('list', { name: 'Timeline' }).waitFor();
    await bench.getByRole('button', { name: 'Add an event' }).waitFor();
  });

  it('adds the newest events of an entity at their original times', async () => {
    serveRule({ stream: 'orders', after: '1h' });
    const [row] = api.example(EVENTS)['items'] as readonly object[];
    const items = [3, 2, 1].map((hour) => ({
      ...row,
      id: `evt_${hour}`,
      at: `2026-11-22T0${hour}:00:00.000Z`,
      label: `A-${hour}`,
    }));
    api.answer(EVENTS, { items, next: null });
    api.answer(TEST, ({ body }: Call) => {
      const { events } = body as { readonly events: readonly { readonly event_id?: string }[] };
      const [step] = api.example(TEST)['timeline'] as readonly object[];
      const timeline = events.map(({ event_id: id = 'evt_0' }, event) => ({
        ...step,
        event,
        event_id: id,
        entity: id === 'evt_2' ? 'other' : 'A-1001',
      }));
      return { ...api.example(TEST), timeline };
    });
    const page = await open(RULE);
    const bench = card(page, 'Test bench');
    const rows = bench.getByRole('list', { name: 'Timeline' }).getByRole('listitem');
    await bench.getByRole('button', { name: /^Remove the event/ }).click();
    await expect.poll(() => rows.count()).toBe(0);
    await bench.getByRole('button', { name: 'Add an event' }).click();
    await page.getByRole('menuitem', { name: 'Newest events of one order' }).click();
    await bench.getByRole('button', { name: 'Add its newest events' }).click();
    await rows.nth(1).waitFor();
    expect(await rows.count()).toBe(2);
    await bench.getByRole('button', { name: /^Run/ }).click();
    await expect
      .poll(() => (api.calls(TEST).at(-1)?.body as { events: object[] } | undefined)?.events)
      .toEqual([
        { at: '2026-11-22T01:00:00.000Z', event_id: 'evt_1' },
        { at: '2026-11-22T03:00:00.000Z', event_id: 'evt_3' },
      ]);
  });
});
