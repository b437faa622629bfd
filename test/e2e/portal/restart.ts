import type { Browser } from 'playwright-core';
import { expect } from 'vitest';
import type { Guard } from './guard.ts';
import type { RestartedDemo } from './support.ts';

const ORDER = { status: 'paid', total: 120, customer: { name: 'Ada', email: 'ada@example.com' } };

/** The server goes and comes back under a list of deliveries, and a story beside it, that somebody looks at. */
export async function listOutlivesRestart({
  demo,
  browser,
  guard,
}: {
  readonly demo: RestartedDemo;
  readonly browser: Browser;
  readonly guard: Guard;
}): Promise<void> {
  guard.allowAway();
  const key = await demo.makeKey('shop', 'restart');
  await demo.apply({
    'workspaces/shop/streams/orders.yaml': 'key: event.order_id\nsecurity: { api_keys: [backend, restart] }\n',
  });
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  await context.request.post(`${demo.control}/v1/session`, { data: { word: demo.ownerToken } });
  const page = await guard.openPage(context);
  const rows = page.locator('main [data-key]');
  await demo.send('shop/orders', key, { ...ORDER, order_id: 'R-1' });
  await page.goto(`${demo.control}/workspaces/shop/deliveries`);
  const id = await rows.first().getAttribute('data-key');
  await page.goto(`${demo.control}/workspaces/shop/deliveries?open=${id}`);
  const story = page.getByRole('heading', { name: 'Journey' });
  await story.waitFor();
  await rows.first().waitFor();
  const before = await rows.count();

  await demo.kill();
  const away = page.getByRole('status').filter({ hasText: 'This page shows what it last read' });
  await away.waitFor();
  // What was there stays, and can be read.
  expect(await rows.count()).toBe(before);
  expect(await story.isVisible()).toBe(true);

  await demo.comeBack();
  await away.waitFor({ state: 'detached' });
  // The session is of the store, not of the process; nobody signs in again, and nobody loads the page anew.
  await demo.send('shop/orders', key, { ...ORDER, order_id: 'R-2' });
  await expect.poll(() => rows.count(), { timeout: 60_000 }).toBe(before + 1);
  await page.getByText('Live: changes show as they come').waitFor();
  await context.close();
}
