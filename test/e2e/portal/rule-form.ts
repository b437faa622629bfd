import type { Locator, Page } from 'playwright-core';

/** The rule of the demo, which fires for paid orders above a total. */
export const RULE = '/workspaces/shop/notifications/order-paid/rules/paid';

/** The field with the total. */
export const total = (page: Page): Locator => page.locator('main').getByLabel('Value of condition 2');
/** The same rule as an expression, beside the form. */
export const expression = (page: Page): Locator => page.getByRole('group', { name: 'The same as an expression' });

/** Writes another total into the form, and waits until the expression has it. */
export async function write(page: Page, value: string): Promise<void> {
  await total(page).fill(value);
  await total(page).press('Enter');
  await expression(page).getByText(`event.total > ${value}`).waitFor();
}
