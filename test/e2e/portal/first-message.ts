import type { Locator, Page } from 'playwright-core';

/** So many clicks may it take somebody who has never been here. */
export const MOST_CLICKS = 12;

export type Walk = { readonly clicks: number; readonly seconds: number };
export type WalkOptions = {
  /** How a button is pressed, where that is more than a click. */
  readonly press?: (what: Locator) => Promise<void>;
  /** Which of the examples the notification begins from. */
  readonly example?: 'Invoice overdue' | 'Parcel on its way' | 'Order paid';
};

/** From the printed link to the message of a notification of one's own, as somebody goes who has never been here. */
export async function walkToFirstMessage(
  page: Page,
  { control, welcome }: { readonly control: string; readonly welcome: string },
  { press = (what) => what.click(), example = 'Invoice overdue' }: WalkOptions = {},
): Promise<Walk> {
  const name = example.toLowerCase().replaceAll(' ', '-');
  let clicks = 0;
  const click = async (what: Locator): Promise<void> => {
    await press(what);
    clicks += 1;
  };
  const main = page.locator('main');
  const screens = page.getByRole('navigation', { name: 'Screens' });
  const began = performance.now();
  await page.goto(`${control}/welcome#${welcome}`);
  await click(screens.getByRole('link', { name: 'Notifications' }));
  await click(main.getByRole('button', { name: 'New notification' }));
  const dialog = page.getByRole('dialog', { name: 'New notification' });
  await click(dialog.getByRole('button', { name: new RegExp(example) }));
  await click(dialog.getByRole('button', { name: 'Make the draft' }));
  await page.waitForURL(`**/notifications/${name}/rules/first*`);
  await click(main.getByRole('button', { name: 'Review and publish' }));
  await click(main.getByRole('button', { name: 'Publish 2 changes' }));
  await page.getByText(/Published as configuration \d+/).waitFor();
  await click(screens.getByRole('link', { name: 'Event streams' }));
  await click(main.getByRole('link', { name: `${name}.first` }));
  await click(main.getByRole('button', { name: 'Send this event now' }));
  await main.getByText('Sent as evt_').waitFor();
  await click(screens.getByRole('link', { name: 'Inbox' }));
  await click(main.getByRole('button', { name: new RegExp(example) }).first());
  await page
    .getByRole('heading', { name: new RegExp(example) })
    .first()
    .waitFor();
  return { clicks, seconds: Math.round((performance.now() - began) / 100) / 10 };
}
