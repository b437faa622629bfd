import { describe, expect, it } from 'vitest';
import {
  account,
  asOwner,
  browser,
  people,
  PASSWORD,
  provider,
  publish,
  servers,
  topology,
} from './sign-in-fixture.ts';

servers();

async function invite(email: string): Promise<string> {
  const owner = await asOwner();
  const payload = { email, memberships: [{ workspace: 'shop', role: 'viewer' }] };
  const made = await owner.call('POST', '/v1/invitations', payload);
  expect(made.statusCode).toBe(201);
  return made.json<{ word: string }>().word;
}
const hasPassword = async (email: string): Promise<boolean | undefined> => {
  const id = (await people()).find((one) => one.email === email)?.id;
  const found = id === undefined ? null : await topology.data.people.find('person', id);
  return found === null ? undefined : found.body.password !== null;
};

describe('An invitation where passwords are off', () => {
  it('refuses a password, names the field, and is not used up by that', async () => {
    const word = await invite('bob@example.com');
    await publish({}, { passwords: false });
    const bob = browser();
    const refused = await bob.call('POST', '/v1/invitations/accept', { word, name: 'Bob', password: PASSWORD });
    expect(refused.statusCode).toBe(400);
    expect(refused.json<{ detail: string }>().detail).toContain('passwords are switched off here');
    expect(await hasPassword('bob@example.com')).toBeUndefined();
    expect((await bob.call('POST', '/v1/invitations/accept', { word, name: 'Bob' })).statusCode).toBe(200);
  });

  it('creates a person without password, who connects a provider account and signs in with it', async () => {
    const word = await invite('bob@example.com');
    await publish({}, { passwords: false });
    account('robert', { email: 'bob@example.com' });
    const bob = browser();
    expect((await bob.call('POST', '/v1/invitations/accept', { word, name: 'Bob' })).statusCode).toBe(200);
    expect(await hasPassword('bob@example.com')).toBe(false);
    const begun = await bob.call('POST', '/v1/me/identities', { provider: 'company', to: '/' });
    expect(begun.statusCode).toBe(201);
    const back = await provider.visit(begun.json<{ location: string }>().location, 'robert');
    expect((await bob.comeBack(back)).statusCode).toBe(200);
    const again = browser();
    await again.signIn('robert');
    expect((await again.me()).person).toEqual((await bob.me()).person);
    expect((await again.me()).workspaces).toMatchObject([{ workspace: 'shop', permissions: ['read'] }]);
  });

  it('gives whoever has an address and no way in a session and no password', async () => {
    const first = await invite('bob@example.com');
    await publish({}, { passwords: false });
    expect((await browser().call('POST', '/v1/invitations/accept', { word: first, name: 'Bob' })).statusCode).toBe(200);
    const second = await invite('bob@example.com');
    const again = browser();
    expect((await again.call('POST', '/v1/invitations/accept', { word: second, name: 'Bob' })).statusCode).toBe(200);
    expect((await again.me()).person).toMatchObject({ name: 'Bob', email: 'bob@example.com' });
    expect(await hasPassword('bob@example.com')).toBe(false);
  });

  it('asks for a password again where they are on', async () => {
    const word = await invite('bob@example.com');
    const bob = browser();
    expect((await bob.call('POST', '/v1/invitations/accept', { word, name: 'Bob' })).statusCode).toBe(400);
    const made = await bob.call('POST', '/v1/invitations/accept', { word, name: 'Bob', password: PASSWORD });
    expect(made.statusCode).toBe(200);
    expect(await hasPassword('bob@example.com')).toBe(true);
  });
});
