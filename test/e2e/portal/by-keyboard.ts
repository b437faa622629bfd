import type { Page } from 'playwright-core';

/** Tabs to a control of the page, at most. */
const MAX_TABS = 120;
/** Name of the control that has the focus. */
const FOCUSED = `(() => {
  const element = document.activeElement;
  const labels = [...(element.labels ?? [])].map((label) => label.textContent).join(' ');
  const text = element.matches('a, button, label, [role]') ? element.textContent : '';
  return (element.getAttribute('aria-label') ?? (labels || text)).replace(/\\s+/g, ' ').trim();
})()`;

/** Uses a page as somebody without a pointer does: controls are reached by Tab and found by their names. */
export function byKeyboard(page: Page) {
  const reach = async (name: RegExp): Promise<void> => {
    const passed: string[] = [];
    for (let tabs = 0; tabs < MAX_TABS; tabs += 1) {
      const now = await page.evaluate<string>(FOCUSED);
      if (name.test(now)) return;
      passed.push(now.slice(0, 40));
      await page.keyboard.press('Tab');
    }
    throw new Error(`${name.source} was not reached; passed: ${passed.join(' | ')}`);
  };
  const press = async (name: RegExp): Promise<void> => {
    await reach(name);
    await page.keyboard.press('Enter');
  };
  const type = async (name: RegExp, text: string): Promise<void> => {
    await reach(name);
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type(text);
  };
  /** Chooses the option of a select whose words begin with this text. */
  const choose = async (name: RegExp, words: string): Promise<void> => {
    await reach(name);
    await page.keyboard.type(words);
  };
  return { reach, press, type, choose };
}
