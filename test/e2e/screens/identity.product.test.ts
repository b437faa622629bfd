import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { withText } from '../../../apps/control/src/routes/configuration/jwt-check-text.ts';
import { expectAccessible, expectToFit } from '../portal/accessible.ts';
import type { Call } from './scripted-api.ts';
import { testScreens } from './test-screens.ts';

type Item = { readonly name: string; readonly [field: string]: unknown };

const KEYS = 'GET /v1/workspaces/{workspace}/api-keys';
const MAKE_KEY = 'POST /v1/workspaces/{workspace}/api-keys';
const REVOKE = 'DELETE /v1/workspaces/{workspace}/api-keys/{name}';
const PROVIDERS = 'GET /v1/workspaces/{workspace}/jwt-providers';
const CHECK = 'POST /v1/workspaces/{workspace}/jwt-providers/{name}/check';
const SAVE = 'PUT /v1/workspaces/{workspace}/jwt-providers/{name}';
const REMOVE = 'DELETE /v1/workspaces/{workspace}/jwt-providers/{name}';
const DEPLOYMENT = 'GET /v1/deployment';
const SAVE_DEPLOYMENT = 'PUT /v1/deployment';
const PEOPLE = 'GET /v1/people';
const JWKS = 'https://auth.example.com/jwks.json';
const AUDIENCE = 'https://events.example.com';

testScreens('Identity & Authentication', ({ api, open }) => {
  const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
  const confirm = (page: Page, name: string) =>
    page.getByRole('dialog').last().getByRole('button', { name, exact: true }).click();
  const follow = (page: Page, name: string) =>
    page.getByRole('main').getByRole('link', { name, exact: true }).last().click();
  /** Goes from the start page to Identity & Authentication, by clicks alone. */
  async function openIdentity(): Promise<Page> {
    const page = await open('/');
    await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Settings' }).click();
    await follow(page, 'Identity & Authentication');
    await page.getByRole('heading', { name: 'API Keys', level: 1 }).waitFor();
    return page;
  }
  const itemsOf = (operation: typeof KEYS | typeof PROVIDERS) => api.example(operation)['items'] as readonly Item[];

  /** Serves keys of these names, and what requests and revokes them. */
  function serveKeys(...names: readonly string[]): void {
    const key = (name: string): Item => ({ ...itemsOf(KEYS)[0], name, last_used_at: null, used_by: [] });
    let keys = names.map(key);
    api.answer(KEYS, () => ({ items: keys, next: null }));
    api.answer(MAKE_KEY, ({ body }: Call) => {
      const { name } = body as { readonly name: string };
      keys = [...keys, key(name)];
      return { name, key: `cln_${name}_7Qm4k2Zp7Qm4k2Zp7Qm4k2Zp`, expires_at: null };
    });
    api.answer(REVOKE, ({ params }: Call) => {
      keys = keys.filter(({ name }) => name !== params['name']);
      return { revoked: true };
    });
  }
  /** Serves providers, and a check that fails at any audience but the proper one. */
  function serveProviders(...first: readonly Item[]): void {
    let providers = first;
    api.answer(PROVIDERS, () => ({ items: providers, next: null }));
    api.answer(CHECK, ({ body }: Call) => {
      const { settings } = body as { readonly settings: { readonly jwks_url: string; readonly audience: string } };
      const step = (name: string, ok = true): object =>
        withText({ step: name, ok, detail: ok ? 'is right' : 'is wrong' });
      const isUrl = settings.jwks_url === JWKS;
      if (!isUrl) return { steps: [step('settings', false)] };
      return {
        steps: [step('key set'), step('signature'), step('audience', settings.audience === AUDIENCE), step('time')],
      };
    });
    api.answer(SAVE, ({ params: { name = '' }, body }: Call) => {
      providers = [...providers, { ...itemsOf(PROVIDERS)[0], name, used_by: [] }];
      return { ...api.example(SAVE), name, body };
    });
    api.answer(REMOVE, ({ params }: Call) => {
      providers = providers.filter(({ name }) => name !== params['name']);
      return { deleted: true, new_number: 13 };
    });
  }

  it('requests an API key, shows it once, and closes only after it is stored', async () => {
    serveKeys('backend');
    const page = await openIdentity();
    await follow(page, 'API Keys');
    await page.getByLabel('Workspace', { exact: true }).waitFor();
    await expectAccessible(page, 'API Keys');
    await press(page, 'Request a key');
    await page.getByLabel('Name').fill('backend');
    await press(page, 'Request the key');
    await page.getByText('The name backend is already in use').waitFor();
    await page.getByLabel('Name').fill('path-one');
    await expectAccessible(page, 'Request a key');
    await press(page, 'Request the key');
    const key = page.getByRole('group', { name: 'the key' });
    const text = (await key.textContent()) ?? '';
    expect(text).toMatch(/^cln_path-one_\S{24}$/);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await press(page, 'Copy the key');
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(text);
    // Neither Escape nor Finish ends it before it is stored.
    await page.keyboard.press('Escape');
    const finish = page.getByRole('button', { name: 'Done', exact: true });
    expect(await finish.getAttribute('aria-disabled')).toBe('true');
    const reason = await finish.getAttribute('aria-describedby');
    expect(await page.locator(`[id="${reason}"]`).textContent()).toContain('Store it first');
    await finish.click({ force: true });
    await key.waitFor();
    await expectAccessible(page, 'the key, once');
    await page.getByText('I have stored the value').click();
    await press(page, 'Done');
    await key.waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: 'path-one' }).waitFor();
    expect(await page.content()).not.toContain(text);
    expect(api.calls(MAKE_KEY).map(({ params, body }) => [params['workspace'], body])).toEqual([
      ['shop', { name: 'path-one' }],
    ]);
  });

  it('shows the next steps of a key rotation, and revokes a named key', async () => {
    serveKeys('path-one');
    const page = await open('/settings/identity/api-keys');
    await page.getByRole('button', { name: 'Rotate path-one' }).click();
    await page.getByRole('heading', { name: 'Rotate path-one' }).waitFor();
    await expectAccessible(page, 'Rotate');
    await page.getByRole('dialog').getByRole('button', { name: 'Request a key' }).click();
    expect(await page.getByLabel('Name').inputValue()).toBe('path-one-2');
    await press(page, 'Request the key');
    await page.getByText('I have stored the value').click();
    await press(page, 'Done');
    await page.getByText('All notifications that accept path-one accept path-one-2 too.').waitFor();
    await confirm(page, 'Revoke path-one');
    await page.getByRole('heading', { name: 'Revoke the key path-one?' }).waitFor();
    await expectAccessible(page, 'Revoke');
    await confirm(page, 'Revoke path-one');
    await page.getByRole('heading', { name: 'path-one', exact: true }).waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: 'path-one-2' }).waitFor();
    expect(api.calls(REVOKE).map(({ params }) => params['name'])).toEqual(['path-one']);
  });

  it('adds a JWT provider after a check that says which step fails', async () => {
    serveProviders();
    const page = await openIdentity();
    await follow(page, 'JWT Providers');
    await expectAccessible(page, 'JWT Providers');
    await press(page, 'Add');
    await page.getByLabel('Name').fill('auth');
    await page.getByLabel('URL of the public JWK set').fill(JWKS);
    await page.getByLabel('Audience').fill('https://another.example.com');
    await page.getByLabel('Token to check (optional)').fill('eyJhbGciOi.e30.x');
    await press(page, 'Check API Credentials');
    const found = page.getByRole('region', { name: 'What the check found' });
    await found.getByText('1 of 4 steps failed').waitFor();
    expect(await found.locator('[data-state="failed"]').count()).toBe(1);
    expect(await found.getByRole('listitem').filter({ hasText: 'Failed' }).textContent()).toContain('Audience');
    await expectAccessible(page, 'a check that failed');
    await page.getByLabel('Audience').fill(AUDIENCE);
    await page.getByText('The settings changed after this check').waitFor();
    await press(page, 'Check API Credentials');
    await found.getByText('All 4 steps passed').waitFor();
    for (const step of ['Public JWK set', 'Signature', 'Audience', 'Times']) {
      expect(await found.getByRole('listitem').filter({ hasText: step }).count()).toBeGreaterThan(0);
    }
    await press(page, 'Save');
    await page.getByRole('heading', { name: 'auth', exact: true }).waitFor();
    const settings = { jwks_url: JWKS, audience: AUDIENCE };
    expect(api.calls(CHECK).at(-1)?.body).toEqual({ settings, token: 'eyJhbGciOi.e30.x' });
    expect(
      api.calls(SAVE).map(({ params, headers, body }) => [params['name'], headers['if-none-match'], body]),
    ).toEqual([['auth', '*', settings]]);
  });

  it('checks a changed URL of a provider, and removes an unused provider', async () => {
    const example = itemsOf(PROVIDERS)[0] as Item;
    serveProviders({ ...example, used_by: [] });
    const page = await open('/settings/identity/jwt-providers');
    await page.getByRole('button', { name: 'Check or edit auth' }).click();
    await page.getByLabel('URL of the public JWK set').fill('http://user:pass@example.com/jwks#x');
    await press(page, 'Check API Credentials');
    await page.getByText(/steps? failed/).waitFor();
    await press(page, 'Cancel');
    await page.getByRole('button', { name: 'Remove auth' }).click();
    await confirm(page, 'Remove auth');
    await page.getByRole('heading', { name: 'No providers yet' }).waitFor();
    expect(api.calls(SAVE)).toEqual([]);
  });

  it('says how people sign in, and switches passwords off and back on with the number of people first', async () => {
    const company = {
      name: 'company',
      title: 'Company account',
      issuer: 'https://login.example.com',
      client_id: 'carillon',
      allowed_domains: ['example.com'],
    };
    const given = { portal_url: 'https://carillon.example.com', sign_in: { providers: [company] } };
    let deployment = { ...api.example(DEPLOYMENT), number: 12, origin: 'apply', body: given as object };
    api.answer(DEPLOYMENT, () => deployment);
    api.answer(SAVE_DEPLOYMENT, ({ body }: Call) => {
      deployment = { ...deployment, number: deployment.number + 1, body: body as object };
      return deployment;
    });
    api.answer(PEOPLE, { items: [], next: null });
    const page = await open('/settings');
    await follow(page, 'Sign-in');
    await page.getByRole('heading', { name: 'Sign-in', level: 1 }).waitFor();
    await page.getByRole('heading', { name: 'Company account' }).waitFor();
    await page.getByText('https://carillon.example.com/sign-in/company/callback').waitFor();
    await page.getByText('These settings came from carillon.yaml.').waitFor();
    await expectAccessible(page, 'how people sign in');
    await press(page, 'Switch passwords off…');
    await page.getByText('0 people have a password that will not work any more.').waitFor();
    await expectAccessible(page, 'before passwords are off');
    await confirm(page, 'Switch passwords off');
    await page.getByText('Nobody can sign in with a password any more.').waitFor();
    await page.keyboard.press('z');
    await page.getByText('Undone.').waitFor();
    await page.getByRole('heading', { name: 'Company account' }).waitFor();
    // Nothing else of the settings is touched.
    const saved = api.calls(SAVE_DEPLOYMENT).map(({ headers, body }) => [headers['if-match'], body]);
    const withPasswords = (passwords: boolean): object => ({ ...given, sign_in: { ...given.sign_in, passwords } });
    expect(saved).toEqual([
      ['"12"', withPasswords(false)],
      ['"13"', withPasswords(true)],
    ]);
  });

  it.each(['', '/sign-in', '/identity/api-keys', '/identity/jwt-providers?open=%2B'])(
    'fits a phone at /settings%s',
    async (path) => {
      const page = await open(`/settings${path}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await expectToFit(page, 390, 320);
    },
  );
});
