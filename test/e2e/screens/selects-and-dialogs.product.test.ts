import { expect, it } from 'vitest';
import { testScreens } from './test-screens.ts';

testScreens('a select', ({ open }) => {
  it('opens by a press or an arrow, moves by arrows and letters, and takes the focus back', async () => {
    const page = await open('/settings/audit');
    const select = page.getByRole('button', { name: 'All that you can see' });
    const focused = (role: 'option' | 'button', name: string) =>
      page.getByRole(role, { name }).and(page.locator(':focus'));
    await select.click();
    await focused('option', 'All that you can see').waitFor();
    expect(await select.getAttribute('aria-expanded')).toBe('true');
    await page.keyboard.press('Escape');
    await focused('button', 'All that you can see').waitFor();
    expect(await page.getByRole('listbox').count()).toBe(0);
    await page.keyboard.press('ArrowDown');
    await focused('option', 'All that you can see').waitFor();
    await page.keyboard.press('s');
    await focused('option', 'shop').waitFor();
    await page.keyboard.press('Home');
    await focused('option', 'All that you can see').waitFor();
    await page.keyboard.press('End');
    await page.keyboard.type('sh');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: /^shop/ }).click();
    await page.getByRole('listbox').waitFor();
    await page.getByRole('heading', { level: 1 }).click();
    await page.getByRole('listbox').waitFor({ state: 'detached' });
  });

  it('chooses by letters while it is closed, and keeps them from the commands of the page', async () => {
    const page = await open('/settings/audit?workspace=shop');
    await page.getByRole('button', { name: /^shop/ }).focus();
    // `?` shows the shortcuts elsewhere.
    await page.keyboard.type('all that?');
    await page.getByRole('button', { name: 'All that you can see' }).and(page.locator(':focus')).waitFor();
    expect(await page.getByRole('listbox').or(page.getByRole('dialog')).count()).toBe(0);
  });
});

testScreens('a dialog', ({ open }) => {
  it('keeps focus and typed text until it is closed', async () => {
    const page = await open('/settings/tokens');
    const opener = page.getByRole('button', { name: 'New token' });
    const dialog = page.getByRole('dialog', { name: 'New token' });
    const beside = async (): Promise<void> => page.mouse.click(5, 5);
    await opener.click();
    await dialog.waitFor();
    for (let tab = 0; tab < 30; tab += 1) {
      await page.keyboard.press('Tab');
      const place = await page.evaluate<string>(
        "document.activeElement.closest('[role=dialog]') ? 'dialog' : document.activeElement.tagName",
      );
      // Between the last field and the first one the browser may focus the page itself.
      expect(['dialog', 'BODY']).toContain(place);
    }
    await beside();
    await dialog.waitFor({ state: 'detached' });
    await opener.and(page.locator(':focus')).waitFor();
    await opener.click();
    await dialog.getByRole('textbox').first().fill('nightly');
    await beside();
    expect(await dialog.getByRole('textbox').first().inputValue()).toBe('nightly');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await opener.and(page.locator(':focus')).waitFor();
  });
});
