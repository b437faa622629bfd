import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { totpCode, totpStep } from '../src/access/people/codes.ts';
import { MAX_WRONG_CODES } from '../src/access/people/factor-guesses.ts';
import { MAILED_LINK_LASTS } from '../src/access/people/mailed-links.ts';
import { publishWishes } from './control-fixture.ts';
import { openPeople, PASSWORD, type Browser, type PeopleFixture } from './people-fixture.ts';

const BOB = 'bob@example.com';
const NEW = 'bob@example.org';
const HOUR = 3_600_000;

let fixture: PeopleFixture;
let bob: Browser;
let id: string;
beforeEach(async () => {
  fixture = await openPeople();
  fixture.outgoing.result = 'sent';
  await publishWishes(fixture, [{ ref: { kind: 'workspace', workspace: 'shop', name: '' }, body: {} }]);
  id = await fixture.addPerson(BOB, { shop: 'viewer' });
  bob = await fixture.signedIn(BOB);
});
afterEach(() => fixture.control.app.close());

const ask = (email: string, who = bob) => who.call('PUT', '/v1/me', { email, current_password: PASSWORD });
const emailOf = async (): Promise<string | null> =>
  (await fixture.directory.all('person')).find((one) => one.id === id)?.body.email ?? null;
/** The word of the newest mailed link. */
function word(): string {
  const [, found] =
    /\/confirm#(eml_\S+)/.exec(fixture.mails.findLast(({ text }) => text.includes('/confirm#'))?.text ?? '') ?? [];
  if (found === undefined) throw new Error('no link was mailed');
  return found;
}
const open = (opened: string) => fixture.browser().call('POST', '/v1/mailed-links/open', { word: opened });
const subjectsTo = (to: string): readonly string[] =>
  fixture.mails.filter((mail) => mail.to === to).map(({ subject }) => subject);

describe('A new address of a signed-in person', () => {
  it('takes effect once its mailed link is opened, and the old address is notified', async () => {
    const changed = await ask(NEW);
    expect(changed.body).toMatchObject({ person: { email: BOB, unconfirmed_email: { address: NEW } } });
    expect(await emailOf()).toBe(BOB);
    expect(subjectsTo(NEW)).toEqual(['Confirm your address for Carillon']);
    expect(subjectsTo(BOB)).toEqual(['The address of your Carillon account is about to change']);
    await expect(fixture.signedIn(NEW)).rejects.toThrow('401');
    expect((await open(word())).body).toEqual({ purpose: 'address', email: NEW });
    expect(await emailOf()).toBe(NEW);
    expect(subjectsTo(BOB).at(-1)).toBe('The address of your Carillon account was changed');
    await fixture.signedIn(NEW);
    expect((await bob.call('GET', '/v1/me')).body).toMatchObject({ person: { email: NEW, unconfirmed_email: null } });
  });

  it('takes effect once an owner confirms it, and is marked for owners until then', async () => {
    const owner = await fixture.owner();
    await ask(NEW);
    const person = await owner.call('GET', `/v1/people/${id}`);
    expect(person.body).toMatchObject({ email: BOB, unconfirmed_email: NEW });
    expect((await owner.call('GET', '/v1/workspaces/shop/members')).body).toMatchObject({
      items: [{ email: BOB, unconfirmed_email: NEW }],
    });
    const confirm = (email: string, who = owner) => who.call('POST', `/v1/people/${id}/confirm-address`, { email });
    expect((await confirm('else@example.org')).body).toMatchObject({ code: 'conflict' });
    expect((await confirm(NEW, bob)).status).toBe(403);
    expect((await confirm(NEW)).status).toBe(200);
    expect(await emailOf()).toBe(NEW);
    expect((await open(word())).status).toBe(404);
  });

  it('has a link that works once, within 24 hours, until a newer link is mailed, and is stored as a digest', async () => {
    await ask(NEW);
    const first = word();
    expect(JSON.stringify(await fixture.directory.all('mailed_link'))).not.toContain(first);
    await ask('third@example.org');
    expect((await open(first)).body).toMatchObject({ code: 'not_found' });
    fixture.clock.pass(MAILED_LINK_LASTS);
    expect((await open(word())).status).toBe(404);
    await ask(NEW, await fixture.signedIn(BOB));
    const both = await Promise.all([open(word()), open(word())]);
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 404]);
  });

  it('is refused if another account has it, on request and on opening the link', async () => {
    await ask(NEW);
    const other = await fixture.addPerson(NEW);
    expect((await open(word())).body).toMatchObject({ code: 'conflict' });
    expect((await ask(NEW)).body).toMatchObject({ code: 'conflict' });
    expect(await emailOf()).toBe(BOB);
    expect(other).not.toBe(id);
  });

  it('waits for confirmation by an owner if no mail can be sent', async () => {
    fixture.outgoing.portalUrl = null;
    expect((await ask(NEW)).status).toBe(200);
    expect(subjectsTo(NEW)).toEqual([]);
    const owner = await fixture.owner();
    expect((await owner.call('POST', `/v1/people/${id}/confirm-address`, { email: NEW })).status).toBe(200);
    expect(await emailOf()).toBe(NEW);
  });

  it('takes effect at once for an owner of the deployment, who confirms addresses', async () => {
    const owner = await fixture.owner();
    const changed = await owner.call('PUT', '/v1/me', { email: 'ada@example.com' });
    expect(changed.body).toMatchObject({ person: { email: 'ada@example.com', unconfirmed_email: null } });
  });

  it('sends at most five mails an hour to addresses without an account', async () => {
    for (let at = 0; at < 5; at += 1) expect((await ask(`a${at}@example.org`)).status).toBe(200);
    expect((await ask('a5@example.org')).body).toMatchObject({ code: 'rate_limited' });
  });

  it('counts each request before the address is looked up, so that probing for addresses of others is rate limited', async () => {
    for (let at = 0; at < 5; at += 1) {
      const other = `a${at}@example.org`;
      await fixture.addPerson(other);
      expect((await ask(other)).body).toMatchObject({ code: 'conflict' });
    }
    expect((await ask('a0@example.org')).body).toMatchObject({ code: 'rate_limited' });
  });

  it('is discarded when the password changes, because another person may have requested it', async () => {
    await ask(NEW);
    const asked = word();
    const renewed = { current_password: PASSWORD, password: 'another long password of bob' };
    expect((await bob.call('PUT', '/v1/me/password', renewed)).status).toBe(200);
    expect((await open(asked)).status).toBe(404);
    expect(await emailOf()).toBe(BOB);
  });

  it('is dropped when an owner takes the credentials of the person', async () => {
    await ask(NEW);
    const asked = word();
    await (await fixture.owner()).call('DELETE', `/v1/people/${id}/credentials`);
    expect((await open(asked)).status).toBe(404);
    expect(await emailOf()).toBe(BOB);
  });

  it('is deleted with the person', async () => {
    await ask(NEW);
    await (await fixture.owner()).call('DELETE', `/v1/people/${id}`);
    expect(await fixture.directory.all('mailed_link')).toEqual([]);
    expect((await open(word())).status).toBe(404);
  });
});

async function addFactor(): Promise<() => string> {
  const begun = await bob.call<{ secret: string }>('POST', '/v1/me/totp', { current_password: PASSWORD });
  const now = (): string => totpCode(begun.body.secret, totpStep(fixture.clock.now()));
  expect((await bob.call('POST', '/v1/me/totp/confirm', { code: now() })).status).toBe(200);
  fixture.clock.pass(60_000);
  return now;
}

describe('Wrong codes of a second factor', () => {
  const signIn = (code: string, password = PASSWORD) =>
    fixture.browser().call('POST', '/v1/session', { email: BOB, password, code });

  it('lock the account after 100 in 24 hours, until the mailed link is opened', async () => {
    const now = await addFactor();
    fixture.mails.length = 0;
    for (let at = 0; at < MAX_WRONG_CODES - 1; at += 1) expect((await signIn('000000')).status).toBe(401);
    expect((await signIn(now())).status).toBe(200);
    fixture.clock.pass(60_000);
    expect((await signIn('000000')).status).toBe(401);
    const locked = await signIn(now());
    expect([locked.status, locked.body['detail']]).toEqual([
      403,
      expect.stringContaining('open the link that was mailed'),
    ]);
    expect((await signIn(now(), 'not the password of bob')).status).toBe(401);
    expect((await signIn(now())).status).toBe(403);
    expect(subjectsTo(BOB)).toEqual(['Your Carillon account is locked']);
    expect((await open(word())).body).toMatchObject({ purpose: 'unlock' });
    expect((await signIn(now())).status).toBe(200);
    expect((await open(word())).status).toBe(404);
  });

  it('are forgotten when an owner takes the credentials of the person', async () => {
    await addFactor();
    for (let at = 0; at < MAX_WRONG_CODES; at += 1) await signIn('000000');
    await (await fixture.owner()).call('DELETE', `/v1/people/${id}/credentials`);
    const [person] = (await fixture.directory.all('person')).filter((one) => one.id === id);
    if (!person) throw new Error('bob is gone');
    await expect(fixture.access.factors.refuseLocked(person)).resolves.toBeUndefined();
  });

  it('promise a mailed link only if the mail was sent, and send it once mail works again', async () => {
    const now = await addFactor();
    for (let at = 0; at < MAX_WRONG_CODES; at += 1) await signIn('000000');
    fixture.outgoing.result = 'failed';
    for (let at = 0; at < 2; at += 1) expect((await signIn(now())).body['detail']).toContain('no mail can be sent');
    fixture.outgoing.result = 'sent';
    expect((await signIn(now())).body['detail']).toContain('open the link that was mailed');
    expect((await open(word())).body).toMatchObject({ purpose: 'unlock' });
    expect((await signIn(now())).status).toBe(200);
  });

  it('are forgotten after 24 hours, so that a person can sign in again without mail', async () => {
    const now = await addFactor();
    fixture.outgoing.result = 'no_account';
    for (let at = 0; at < MAX_WRONG_CODES; at += 1) await signIn('000000');
    expect((await signIn(now())).body['detail']).toContain('ask an owner');
    fixture.clock.pass(24 * HOUR);
    expect((await signIn(now())).status).toBe(200);
  });
});

describe('People get a mail', () => {
  it('after a change of password and of second factor, by themselves or by an owner', async () => {
    await addFactor();
    const proof = { current_password: PASSWORD };
    await bob.call('POST', '/v1/me/recovery-codes', proof);
    await bob.call('POST', '/v1/me/totp/remove', proof);
    await bob.call('PUT', '/v1/me/password', { ...proof, password: 'another long password of bob' });
    await (await fixture.owner()).call('DELETE', `/v1/people/${id}/credentials`);
    expect(subjectsTo(BOB)).toEqual([
      'An authenticator was added to your Carillon account',
      'The recovery codes of your Carillon account were renewed',
      'The authenticator of your Carillon account was removed',
      'The password of your Carillon account was changed',
      'An owner took password, authenticator and connected accounts from your Carillon account',
    ]);
  });

  it('after a sign-in from a new place, but not after the first sign-in or one from a known place', async () => {
    const from = async (remoteAddress: string): Promise<number> => {
      const payload = { email: BOB, password: PASSWORD };
      const headers = { 'user-agent': 'Firefox' };
      const request = { method: 'POST', url: '/v1/session', payload, headers, remoteAddress } as const;
      return (await fixture.control.app.inject(request)).statusCode;
    };
    expect(fixture.mails).toEqual([]);
    expect(await from('127.0.0.1')).toBe(200);
    expect(fixture.mails).toEqual([]);
    expect(await from('203.0.113.9')).toBe(200);
    expect(subjectsTo(BOB)).toEqual(['A sign-in to your Carillon account from a new place']);
    expect(fixture.mails[0]?.text).toContain('From: 203.0.113.9, Firefox');
    expect(await from('203.0.113.9')).toBe(200);
    expect(await from('2001:db8::1')).toBe(200);
    expect(await from('2001:db8::2')).toBe(200);
    expect(fixture.mails).toHaveLength(2);
  });
});
