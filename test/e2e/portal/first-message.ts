import type { Locator, Page } from 'playwright-core';

/** So many clicks may it take somebody who has never been here. */
export const MAX_CLICKS = 12;

export type Walk = { readonly clicks: number; readonly seconds: number };
export type WalkOptions = {
  /** Presses a button until the locator that it leads to is there. Defaults to one click. */
  readonly press?: (button: Locator, leadsTo: Locator) => Promise<void>;
  /** Which of the examples the notification begins from. */
  readonly example?: 'Invoice overdue' | 'Parcel on its way' | 'Order paid';
};

/** From the printed link to the message of a notification of one's own, as somebody goes who has never been here. */
export async function walkToFirstMessage(
  page: Page,
  { control, welcome }: { readonly control: string; readonly welcome: string },
  { press = (button) => button.click(), example = 'Invoice overdue' }: WalkOptions = {},
): Promise<Walk> {
  const name = example.toLowerCase().replaceAll(' ', '-');
  const main = page.locator('main');
  const screen = (title: string): Locator =>
    page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: title });
  const dialog = page.getByRole('dialog', { name: 'New notification' });
  const message = main.getByRole('button', { name: new RegExp(example) }).first();
  const create = main.getByRole('button', { name: 'New notification' });
  const begin = dialog.getByRole('button', { name: new RegExp(example) });
  const makeDraft = dialog.getByRole('button', { name: 'Create the draft' });
  const review = main.getByRole('button', { name: 'Review and publish' });
  const publish = main.getByRole('button', { name: 'Publish 2 changes' });
  const stream = main.getByRole('link', { name: `${name}.first` });
  const send = main.getByRole('button', { name: 'Send this event now' });
  // What is pressed, and what the press leads to.
  const steps: readonly (readonly [Locator, Locator])[] = [
    [screen('Notifications'), create],
    [create, begin],
    [begin, dialog.getByText(`Its name in files and links will be ${name}`)],
    [makeDraft, review],
    [review, publish],
    [publish, page.getByText(/Published as configuration \d+/)],
    [screen('Event streams'), stream],
    [stream, send],
    [send, main.getByText('Sent as evt_')],
    [screen('Inbox'), message],
    [message, page.getByRole('heading', { name: new RegExp(example) }).first()],
  ];
  const began = performance.now();
  await page.goto(`${control}/welcome#${welcome}`);
  for (const [button, leadsTo] of steps) {
    await press(button, leadsTo);
    await leadsTo.waitFor();
  }
  const clicks = steps.length;
  return { clicks, seconds: Math.round((performance.now() - began) / 100) / 10 };
}
