import { expect, it } from 'vitest';
import { expectAccessible, picture } from '../portal/accessible.ts';
import { testScreens } from './test-screens.ts';

testScreens('the workspaces of a deployment', ({ open }) => {
  it('lead from the promotion page to a new test environment if the workspace has none', async () => {
    const page = await open('/workspaces/shop/promote');
    await page.locator('main').getByRole('link', { name: 'New test environment' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('heading', { name: 'New test environment of shop' }).waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.waitForURL('**/workspaces');
  });

  it('are shown to a viewer, who reads why each button is off', async () => {
    const page = await open('/workspaces', { as: 'viewer' });
    const main = page.locator('main');
    await main.getByRole('link', { name: 'shop', exact: true }).waitFor();
    for (const name of ['New workspace', 'New test environment of shop']) {
      const off = main.getByRole('button', { name, exact: true }).and(main.locator('[aria-disabled="true"]'));
      await off.waitFor();
      const reason = await off.getAttribute('aria-describedby');
      expect(await page.locator(`[id="${reason}"]`).textContent()).toContain(
        'Only owners of the deployment can do this',
      );
    }
    await expectAccessible(page, 'workspaces for a viewer');
    await main.getByRole('link', { name: 'Settings of shop' }).click();
    await main.getByText('Only owners and editors of the workspace shop can do this.').waitFor();
    for (const label of ['Name for people', 'Time zone', 'Language'])
      expect(await main.getByLabel(label, { exact: true }).first().isDisabled()).toBe(true);
    await expectAccessible(page, 'settings for a viewer');
    await picture(page, 'workspace-settings-viewer');
  });

  it('let an editor change the clock, and leave whom messages reach to an owner', async () => {
    const page = await open('/workspaces/shop/settings', { as: 'editor' });
    const environment = page.locator('main').getByRole('region', { name: 'Environment', exact: true });
    await environment.getByText('Only owners of the workspace shop can do this.').waitFor();
    expect(await environment.getByRole('radio', { name: /^Test environment/ }).isDisabled()).toBe(true);
    expect(await page.getByLabel('Time zone', { exact: true }).isEnabled()).toBe(true);
  });
});
