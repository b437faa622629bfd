import { startScriptedSmtp } from '@carillon/testing';
import { createHmac } from 'node:crypto';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { expectAccessible, expectToFit } from './accessible.ts';
import { guardPages } from './guard.ts';
import { holdBack } from './hold-back.ts';
import { openMember } from './member.ts';
import { closeContexts, sharedBrowser, startDemo, type Demo } from './support.ts';

const PASSWORD = 'a kettle of green bells';
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const STEP = 30;

/** The code of an authenticator (RFC 6238) at a moment, in seconds. */
function codeAt(secret: string, seconds: number): string {
  const bits = [...secret].map((letter) => BASE32.indexOf(letter).toString(2).padStart(5, '0')).join('');
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(seconds / STEP)));
  const mac = createHmac('sha1', key).update(counter).digest();
  const at = (mac.at(-1) ?? 0) & 15;
  return String((mac.readUInt32BE(at) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}

describeWith('chromium', 'people in a browser', () => {
  let demo: Demo;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  const guard = guardPages(() => [demo.control]);

  beforeAll(async () => {
    [demo, browser] = await Promise.all([startDemo(), sharedBrowser()]);
    context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    page = await guard.openPage(context);
  });
  afterAll(async () => {
    await closeContexts();
    await demo?.stop();
  });

  const press = (name: string, on = page) => on.getByRole('button', { name, exact: true }).click();
  const heading = (name: string, on = page) => on.getByRole('heading', { name, level: 1 }).waitFor();
  const open = async (path: string, name: string, on = page): Promise<void> => {
    await on.goto(`${demo.control}${path}`);
    await heading(name, on);
  };

  it('asks for a password after the first link, and signs in with it and a code', async () => {
    guard.allowStatus(401);
    // Advice of Chromium about one of the forms with a password, each of which has its username field.
    guard.allowWords(/^\[DOM\] Password forms should have \(optionally hidden\) username fields/);
    await page.goto(`${demo.control}/welcome#${demo.welcome}`);
    // The request can be closed, and stays closed in this browser.
    await page.locator('main').getByRole('button', { name: 'Close', exact: true }).click();
    await page.getByRole('link', { name: 'Set a password' }).waitFor({ state: 'detached' });
    await page.reload();
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(await page.getByRole('link', { name: 'Set a password' }).count()).toBe(0);
    await page.evaluate(() => localStorage.clear());
    await page.reload();
    await page.getByRole('link', { name: 'Set a password' }).click();
    await heading('Profile');
    await expectAccessible(page, 'Profile');
    await page.getByLabel('Name', { exact: true }).fill('Ada');
    await page.getByLabel('Email').fill('ada@example.com');
    await press('Save');
    await page.getByText('Your profile is saved.').waitFor();
    await page.getByLabel('New password').fill(PASSWORD);
    await press('Set the password');
    await page.getByText('Your password is set.').waitFor();
    await page.getByRole('link', { name: 'Set a password' }).waitFor({ state: 'detached' });

    await page.getByLabel('Your password, to confirm').fill(PASSWORD);
    await press('Set up an authenticator');
    const secret = (await page.getByRole('group', { name: 'the secret' }).textContent()) ?? '';
    await page.getByRole('img', { name: 'The secret of the authenticator as a QR code' }).waitFor();
    await expectAccessible(page, 'the authenticator');
    const now = Date.now() / 1000;
    await page.getByLabel('Code in the app').fill(codeAt(secret, now));
    await press('Confirm');
    const codes = (await page.getByRole('group', { name: 'the recovery codes' }).textContent()) ?? '';
    expect(codes.split('\n')).toHaveLength(10);
    await page.getByText('I have stored the value').click();
    await press('Done');
    await page.getByText('10 of your recovery codes are left.').waitFor();

    await context.clearCookies();
    await page.goto(`${demo.control}/sign-in`);
    await page.getByLabel('Email').fill('ada@example.com');
    await page.getByLabel('Password').fill(PASSWORD);
    await expectAccessible(page, 'sign-in');
    await press('Continue');
    await page.getByLabel('Code').fill(codes.split('\n')[0] ?? '');
    await press('Continue');
    await page.waitForURL(/\/workspaces\//);
  });

  it('invites a person, who gets a role and sees why a button is disabled', async () => {
    await open('/settings/people', 'People');
    await page.getByText('There is one owner of the deployment.').waitFor();
    await expectAccessible(page, 'People');
    await press('Invite');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Email').fill('bob@example.com');
    await expectAccessible(page, 'Invite');
    await dialog.getByRole('button', { name: 'Invite', exact: true }).click();
    const link = (await page.getByRole('group', { name: 'the link' }).textContent()) ?? '';
    await page.getByText('I have stored the value').click();
    await press('Done');
    await page.getByRole('heading', { name: 'bob@example.com' }).waitFor();

    const other = await browser.newContext({ viewport: { width: 390, height: 800 } });
    const bob = await guard.openPage(other);
    guard.allowStatus(401, 403);
    await bob.goto(link);
    await bob.getByText('viewer of shop').waitFor();
    expect(bob.url()).not.toContain('#');
    await expectAccessible(bob, 'an invitation');
    await bob.getByLabel('Your name').fill('Bob');
    await bob.getByLabel('A new password').fill('seven grey geese over lakes');
    await press('Join', bob);
    await bob.waitForURL(/\/workspaces\//);
    await open('/settings/identity/api-keys', 'API Keys', bob);
    const off = bob.getByRole('button', { name: 'Request a key' });
    await off.and(bob.locator('[aria-disabled="true"]')).waitFor();
    const reason = await off.getAttribute('aria-describedby');
    const words = await bob.locator(`[id="${reason}"]`).textContent();
    expect(words).toContain('owners and editors of the workspace shop');
    // A phone has no pointer that rests: the reason comes by a press, here of a key.
    await off.press('Enter');
    await bob.getByRole('tooltip').waitFor();
    // So it does where the tip comes while the key is held.
    const come = await holdBack(bob, /\/assets\/tooltip-/);
    await open('/settings/identity/api-keys', 'API Keys', bob);
    await off.focus();
    const early = await off.elementHandle();
    await bob.keyboard.down('Enter');
    come();
    await early?.waitForElementState('hidden');
    await bob.keyboard.up('Enter');
    await bob.getByRole('tooltip').waitFor();
    await off.and(bob.locator(':focus')).waitFor();
    await expectAccessible(bob, 'a button that is off');
    await open('/settings/people', 'People', bob);
    await bob.getByText('You cannot see the people').waitFor();
    await open('/settings/audit', 'Audit', bob);
    await bob.getByText('You cannot see the audit').waitFor();
    await expectToFit(bob, 390);
    await other.close();
  });

  it('gives roles, disables, lets in again and removes', async () => {
    await open('/settings/people', 'People');
    await press('Change Bob');
    await page.getByRole('dialog').getByLabel('Roles in a workspace').click();
    await page.getByRole('option', { name: /shop/ }).click();
    await page.getByText('operator: decides').click();
    await press('Save the roles');
    await page.getByText('viewer of shop, operator of shop').waitFor();
    await expectAccessible(page, 'somebody');
    await press('Disable');
    await press('Enable');
    await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click();
    // It cannot be taken back: the name is typed first.
    expect(await page.getByRole('button', { name: 'Remove Bob' }).isDisabled()).toBe(true);
    await page.getByLabel('Type Bob to confirm').fill('Bob');
    await press('Remove Bob');
    await page.getByRole('heading', { name: 'Bob', exact: true }).waitFor({ state: 'detached' });
  });

  it('creates a token, shows it once, and revokes it', async () => {
    await open('/settings/tokens', 'Tokens');
    await press('New token');
    await page.getByLabel('Name').fill('nightly');
    await page.getByRole('dialog').getByText('shop', { exact: true }).click();
    await expectAccessible(page, 'New token');
    await press('Create the token');
    const token = (await page.getByRole('group', { name: 'the token' }).textContent()) ?? '';
    await page.getByText('I have stored the value').click();
    await press('Done');
    const ask = () => fetch(`${demo.control}/v1/me`, { headers: { authorization: `Bearer ${token}` } });
    expect(await (await ask()).json()).toMatchObject({ workspaces: [{ workspace: 'shop', permissions: ['read'] }] });
    await expectAccessible(page, 'Tokens');
    await press('Revoke nightly');
    await page
      .getByRole('alertdialog')
      .or(page.getByRole('dialog'))
      .getByRole('button', { name: 'Revoke nightly' })
      .click();
    await page.getByText('No tokens yet').waitFor();
    expect((await ask()).status).toBe(401);
  });

  it('sets a secret by name, which no page shows again, and removes it', async () => {
    await open('/settings/secrets', 'Secrets');
    await press('Set a secret');
    await page.getByLabel('Name').fill('SMTP_PASSWORD');
    await page.getByRole('dialog').getByLabel('Value').fill('hunter two and three');
    await page.getByRole('dialog').getByRole('button', { name: 'Set the secret' }).click();
    // What stands above the list speaks of fingerprints too.
    await page.getByText(/^Fingerprint /).waitFor();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await page.content()).not.toContain('hunter two');
    await expectAccessible(page, 'Secrets');
    await press('Remove SMTP_PASSWORD');
    await page.getByRole('dialog').getByRole('button', { name: 'Remove SMTP_PASSWORD' }).click();
    await page.getByText('No secrets yet').waitFor();
  });

  it('ends other sessions, and shows all of this in the audit, whose chain holds', async () => {
    await context.request.post(`${demo.control}/v1/session`, { data: { word: 'wrong' } });
    await open('/settings/sessions', 'Sessions');
    await page.getByText('This session').waitFor();
    await expectAccessible(page, 'Sessions');
    await open('/settings/audit', 'Audit');
    await page
      .getByText(/removed secret/)
      .first()
      .waitFor();
    await press('Verify chain');
    await page.getByText(/Complete: \d+ records/).waitFor();
    await expectAccessible(page, 'Audit');
    await page.getByLabel('Action', { exact: true }).fill('token.revoke');
    await press('Filter');
    await page.waitForURL(/action=token\.revoke/);
    await page.getByText(/removed secret/).waitFor({ state: 'detached' });
    await page.getByText(/ended token/).waitFor();
    for (const path of [
      '/settings/audit',
      '/settings/tokens',
      '/settings/secrets',
      '/settings/profile',
      '/settings/sessions',
    ]) {
      await page.goto(`${demo.control}${path}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await expectToFit(page, 390);
    }
  });

  it('confirms an address by its mailed link once, and says why a used or incomplete link does not work', async () => {
    const member = await openMember(demo, browser, { workspace: 'shop', role: 'viewer' });
    const smtp = await startScriptedSmtp();
    try {
      await demo.apply({
        'carillon.yaml': `backend: embedded
portal_url: ${demo.control}
accounts:
  email: { kind: smtp, host: 127.0.0.1, port: ${smtp.port}, tls: none, from: carillon@example.com }
`,
      });
      const changed = await member.request.put(`${demo.control}/v1/me`, {
        data: { email: 'moved@example.com', current_password: 'a long sentence nobody guesses' },
        headers: { 'x-carillon': '1' },
      });
      expect(changed.status()).toBe(200);
      const mails = JSON.stringify(smtp.accepted).replaceAll(String.raw`=\r\n`, '');
      const [path] = /\/confirm#eml_[\w-]+/.exec(mails) ?? [];
      const reader = await guard.openPage(await browser.newContext());
      const title = 'Confirm your email address';
      guard.allowStatus(401, 404);

      await open(path ?? '', title, reader);
      expect(reader.url()).not.toContain('#');
      await press('Confirm', reader);
      await reader.getByRole('status').getByText('moved@example.com is confirmed').waitFor();

      await reader.goto('about:blank');
      await open(path ?? '', title, reader);
      await press('Confirm', reader);
      const refusal = reader.getByRole('alert').getByRole('paragraph');
      expect(await refusal.textContent()).toBe(
        'This link was used, has ended or is not valid. Ask for a new link in the portal.',
      );
      expect(await reader.getByRole('button', { name: 'Confirm' }).count()).toBe(0);
      await expectAccessible(reader, 'a used link');
      await expectToFit(reader, 390);
      await reader.getByRole('link', { name: 'Go to Carillon' }).click();
      await reader.getByRole('button', { name: 'Continue' }).waitFor();

      await open('/confirm', title, reader);
      await reader.getByText('This link is incomplete. Open the whole link from the mail.').waitFor();
      expect(await reader.getByRole('button', { name: 'Confirm' }).count()).toBe(0);
      await reader.getByRole('link', { name: 'Go to Carillon' }).waitFor();
      await reader.context().close();
    } finally {
      await member.close();
      await smtp.stop();
    }
  });
});
