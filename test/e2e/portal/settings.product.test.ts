import { startOpenIdProvider, type OpenIdProvider } from '@carillon/testing/openid';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { expectAccessible, expectToFit } from './accessible.ts';
import { guardPages } from './guard.ts';
import { openBrowser, startDemo, type Demo } from './support.ts';

describeWith('chromium', 'Identity & Authentication in a browser', () => {
  let demo: Demo;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let provider: OpenIdProvider;
  const guard = guardPages(() => [demo.control]);

  beforeAll(async () => {
    [demo, browser, provider] = await Promise.all([startDemo(), openBrowser(), startOpenIdProvider()]);
    context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    await context.request.post(`${demo.control}/v1/session`, { data: { word: demo.ownerToken } });
    page = await guard.openPage(context);
  });
  afterAll(async () => {
    await browser?.close();
    await provider?.stop();
    await demo?.stop();
  });

  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const confirm = (name: string) => page.getByRole('dialog').last().getByRole('button', { name, exact: true }).click();
  const follow = (name: string) => page.getByRole('main').getByRole('link', { name, exact: true }).last().click();
  /** From the start page to Identity & Authentication, by clicks alone. */
  async function openIdentity(): Promise<void> {
    await page.goto(`${demo.control}/`);
    await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Settings' }).click();
    await follow('Identity & Authentication');
    await page.getByRole('heading', { name: 'API Keys', level: 1 }).waitFor();
  }

  it('requests an API key: Settings, Identity & Authentication, API Keys, Request a key, name, copy, Finish', async () => {
    await openIdentity();
    await follow('API Keys');
    await page.getByLabel('Workspace', { exact: true }).waitFor();
    await expectAccessible(page, 'API Keys');
    await press('Request a key');
    await page.getByLabel('Name').fill('backend');
    await press('Request the key');
    await page.getByText('There is one called backend already').waitFor();
    await page.getByLabel('Name').fill('path-one');
    await expectAccessible(page, 'Request a key');
    await press('Request the key');
    const key = page.getByRole('group', { name: 'the key' });
    const text = (await key.textContent()) ?? '';
    expect(text).toMatch(/^\S{30,}$/);
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await press('Copy the key');
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(text);
    // Nothing ends it before it is stored: neither Escape nor Finish.
    await page.keyboard.press('Escape');
    const finish = page.getByRole('button', { name: 'Finish', exact: true });
    expect(await finish.getAttribute('aria-disabled')).toBe('true');
    const reason = await finish.getAttribute('aria-describedby');
    expect(await page.locator(`[id="${reason}"]`).textContent()).toContain('Store it first');
    await finish.click({ force: true });
    await key.waitFor();
    await expectAccessible(page, 'the key, once');
    await page.getByText('I have stored it').click();
    await press('Finish');
    await key.waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: 'path-one' }).waitFor();
    expect(await page.content()).not.toContain(text);
    // It is a key of the workspace that the page is about.
    const { items } = await demo.ask<{ items: { name: string }[] }>('/v1/workspaces/shop/api-keys');
    expect(items.map(({ name }) => name)).toContain('path-one');
  });

  it('rotates a key by what is still to do, and revokes one that is named', async () => {
    await page.getByRole('button', { name: 'Rotate path-one' }).click();
    await page.getByRole('heading', { name: 'Rotate path-one' }).waitFor();
    await expectAccessible(page, 'Rotate');
    await page.getByRole('dialog').getByRole('button', { name: 'Request a key' }).click();
    expect(await page.getByLabel('Name').inputValue()).toBe('path-one-2');
    await press('Request the key');
    await page.getByText('I have stored it').click();
    await press('Finish');
    await page.getByText('Whatever takes path-one takes path-one-2 too.').waitFor();
    await confirm('Revoke path-one');
    await page.getByRole('heading', { name: 'Revoke the key path-one?' }).waitFor();
    await expectAccessible(page, 'Revoke');
    await confirm('Revoke path-one');
    await page.getByRole('heading', { name: 'path-one', exact: true }).waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: 'path-one-2' }).waitFor();
  });

  it('adds a JWT provider: Add, URL of the public JWK set, audience, Check API Credentials, Save', async () => {
    await openIdentity();
    await follow('JWT Providers');
    await expectAccessible(page, 'JWT Providers');
    await press('Add');
    await page.getByLabel('Name').fill('auth');
    await page.getByLabel('URL of the public JWK set').fill(provider.jwksUrl);
    await page.getByLabel('Audience').fill('https://another.example.com');
    await page.getByLabel('A token to try (optional)').fill(await provider.token('ada', 'https://events.example.com'));
    await press('Check API Credentials');
    const found = page.getByRole('region', { name: 'What the check found' });
    await found.getByText('1 of 10 steps failed').waitFor();
    expect(await found.locator('[data-state="failed"]').count()).toBe(1);
    expect(await found.getByRole('listitem').filter({ hasText: 'Failed' }).textContent()).toContain('Audience');
    await expectAccessible(page, 'a check that failed');
    await page.getByLabel('Audience').fill('https://events.example.com');
    await page.getByText('You changed something since').waitFor();
    await press('Check API Credentials');
    await found.getByText(/All \d+ steps passed/).waitFor();
    for (const step of ['Public JWK set', 'Signature', 'Audience', 'Times']) {
      expect(await found.getByRole('listitem').filter({ hasText: step }).count()).toBeGreaterThan(0);
    }
    await press('Save');
    await page.getByRole('heading', { name: 'auth', exact: true }).waitFor();
    const { body } = await demo.ask<{ body: object }>('/v1/workspaces/shop/jwt-providers/auth');
    expect(body).toMatchObject({ jwks_url: provider.jwksUrl, audience: 'https://events.example.com' });
  });

  it('says what is wrong with an address before anything is fetched, and removes a provider that nothing takes', async () => {
    await page.getByRole('button', { name: 'Check or change auth' }).click();
    await page.getByLabel('URL of the public JWK set').fill('http://user:pass@example.com/jwks#x');
    await press('Check API Credentials');
    await page.getByText(/steps? failed/).waitFor();
    await press('Cancel');
    await page.getByRole('button', { name: 'Remove auth' }).click();
    await confirm('Remove auth');
    await page.getByRole('heading', { name: 'No provider yet' }).waitFor();
  });

  it('says how people sign in, and switches passwords off and back on with the number of people first', async () => {
    await demo.apply({
      'carillon.yaml': `backend: embedded
portal_url: https://carillon.example.com
sign_in:
  providers:
    - name: company
      title: Company account
      issuer: https://login.example.com
      client_id: carillon
      allowed_domains: [example.com]
`,
    });
    const passwords = async () => (await demo.ask<{ passwords: boolean }>('/v1/sign-in')).passwords;
    await page.goto(`${demo.control}/settings`);
    await follow('Sign-in');
    await page.getByRole('heading', { name: 'Sign-in', level: 1 }).waitFor();
    await page.getByRole('heading', { name: 'Company account' }).waitFor();
    await page.getByText('https://carillon.example.com/sign-in/company/callback').waitFor();
    await page.getByText('These settings came from carillon.yaml.').waitFor();
    await expectAccessible(page, 'how people sign in');
    await press('Switch passwords off…');
    await page.getByText('0 people have a password and can sign in with it no more.').waitFor();
    await expectAccessible(page, 'before passwords are off');
    await confirm('Switch passwords off');
    await page.getByText('Passwords sign in nobody any more.').waitFor();
    await expect.poll(passwords).toBe(false);
    await page.keyboard.press('z');
    await page.getByText('Taken back.').waitFor();
    await expect.poll(passwords).toBe(true);
    // Nothing else of the settings was touched.
    await page.getByRole('heading', { name: 'Company account' }).waitFor();
  });

  it('fits a phone', async () => {
    for (const path of [
      '/settings',
      '/settings/sign-in',
      '/settings/identity/api-keys',
      '/settings/identity/jwt-providers?open=%2B',
    ]) {
      await page.goto(`${demo.control}${path}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await expectToFit(page, 390, 320);
    }
  });
});
