import type { PeopleRecord } from '@carillon/domain/people';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { totpCode, totpStep } from '../src/access/people/codes.ts';
import { SESSION_LASTS } from '../src/access/people/sessions.ts';
import { openPeople, PASSWORD, type Browser, type PeopleFixture } from './people-fixture.ts';

const MINUTE = 60_000;
const ADA = 'ada@example.com';

let fixture: PeopleFixture;
beforeEach(async () => {
  fixture = await openPeople();
});
afterEach(() => fixture.control.app.close());

const statusOfMe = async (one: Browser): Promise<number> => (await one.call('GET', '/v1/me')).status;
const statusesOf = (all: readonly { readonly status: number }[]): readonly number[] =>
  all.map(({ status }) => status).toSorted((a, b) => a - b);
const signIn = (email: string, password: string, code?: string) =>
  fixture.browser().call('POST', '/v1/session', { email, password, ...(code !== undefined && { code }) });

describe('An owner link', () => {
  test('signs in the first owner, who has no password yet and gives one afterwards', async () => {
    const one = await fixture.owner();
    const me = await one.call('GET', '/v1/me');
    expect(me.body).toMatchObject({
      owner: true,
      person: { email: null, has_password: false },
      actor: { kind: 'person' },
    });
    expect((await one.call('PUT', '/v1/me/password', { password: PASSWORD })).status).toBe(409);
    expect((await one.call('PUT', '/v1/me', { name: 'Ada', email: 'Ada@Example.com' })).status).toBe(200);
    expect((await one.call('PUT', '/v1/me/password', { password: PASSWORD })).status).toBe(200);
    expect((await signIn(' ada@example.COM ', PASSWORD)).status).toBe(200);
    expect((await one.call('GET', '/v1/me')).body).toMatchObject({ person: { has_password: true } });
  });

  test('signs in the same person each time, even if two first links are used at once', async () => {
    const idOf = async (one: Browser) =>
      (await one.call<{ readonly actor: { readonly id: string } }>('GET', '/v1/me')).body.actor;
    const first = await idOf(await fixture.owner());
    expect(await idOf(await fixture.owner())).toEqual(first);
    expect((await fixture.directory.roster()).owners).toEqual([first.id]);
  });

  test('can be used by one browser only', async () => {
    const { word } = await fixture.access.makeLink();
    const both = await Promise.all([1, 2].map(() => fixture.browser().call('POST', '/v1/session', { word })));
    expect(statusesOf(both)).toEqual([200, 401]);
  });
});

describe('A session', () => {
  beforeEach(() => fixture.addPerson(ADA, { shop: 'viewer' }));

  test('is opened by address and password, and keeps neither password nor word in the store', async () => {
    const ada = await fixture.signedIn(ADA);
    expect(await statusOfMe(ada)).toBe(200);
    const kept = JSON.stringify([await fixture.directory.all('session'), await fixture.directory.all('person')]);
    const [, word = ''] = ada.cookie().split('=');
    expect(word.length).toBeGreaterThan(40);
    expect(kept).not.toContain(word);
    expect(kept).not.toContain(PASSWORD);
  });

  test('ends after the idle time without use, and after the maximum time despite use', async () => {
    const ada = await fixture.signedIn(ADA);
    fixture.clock.pass(SESSION_LASTS.idle - 1);
    expect(await statusOfMe(ada)).toBe(200);
    fixture.clock.pass(SESSION_LASTS.idle);
    expect(await statusOfMe(ada)).toBe(401);
    const busy = await fixture.signedIn(ADA);
    for (let spent = 0; spent < SESSION_LASTS.longest; spent += SESSION_LASTS.idle / 2) {
      expect(await statusOfMe(busy)).toBe(200);
      fixture.clock.pass(SESSION_LASTS.idle / 2);
    }
    expect(await statusOfMe(busy)).toBe(401);
  });

  test('gets a new cookie at each sign-in, and the previous cookie is invalid', async () => {
    const ada = await fixture.signedIn(ADA);
    const before = ada.cookie();
    await ada.call('POST', '/v1/session', { email: ADA, password: PASSWORD });
    expect(ada.cookie()).not.toBe(before);
    const { app } = fixture.control;
    expect((await app.inject({ url: '/v1/me', headers: { cookie: before } })).statusCode).toBe(401);
    expect(await statusOfMe(ada)).toBe(200);
  });

  test('ends with a new password, except the session that set it; a sign-in with the old password under way fails too', async () => {
    const [here, there] = [await fixture.signedIn(ADA), await fixture.signedIn(ADA)];
    const old = here.cookie();
    const next = 'another horse battery staple';
    expect((await here.call('PUT', '/v1/me/password', { password: next })).status).toBe(400);
    const wrong = { password: next, current_password: 'not this one at all' };
    expect((await here.call('PUT', '/v1/me/password', wrong)).status).toBe(403);
    const right = { password: next, current_password: PASSWORD };
    expect((await here.call('PUT', '/v1/me/password', right)).status).toBe(200);
    expect(await statusOfMe(here)).toBe(200);
    expect(here.cookie()).not.toBe(old);
    expect(await statusOfMe(there)).toBe(401);
    expect((await signIn(ADA, PASSWORD)).status).toBe(401);
    // The password was right when it was looked at; the session is written after the new one counts.
    const [person] = await fixture.directory.all('person');
    const reset = () => fixture.directory.changePerson(person?.id ?? '', (one) => ({ ...one, epoch: one.epoch + 1 }));
    fixture.during.match = reset;
    const late = fixture.browser();
    expect((await late.call('POST', '/v1/session', { email: ADA, password: next })).status).toBe(200);
    expect(await statusOfMe(late)).toBe(401);
    // And of the session that sets a new one, where an owner ends all of them in the midst of it.
    fixture.during.match = async () => undefined;
    const thief = await fixture.signedIn(ADA, next);
    const people = fixture.people as { replace: (record: PeopleRecord) => Promise<'done' | 'stale' | 'taken'> };
    const replace = people.replace.bind(people);
    people.replace = async (record) => {
      const done = await replace(record);
      if (record.kind === 'person') {
        people.replace = replace;
        await reset();
      }
      return done;
    };
    const third = { password: 'a third horse battery staple', current_password: next };
    expect((await thief.call('PUT', '/v1/me/password', third)).status).toBe(200);
    expect(await statusOfMe(thief)).toBe(401);
  });

  test('is listed and ended, singly or all others, only by its own person', async () => {
    const [here, there] = [await fixture.signedIn(ADA), await fixture.signedIn(ADA)];
    await fixture.addPerson('bob@example.com');
    const bob = await fixture.signedIn('bob@example.com');
    type Listed = {
      readonly items: readonly { readonly id: string; readonly person: string; readonly current: boolean }[];
    };
    const { items } = (await here.call<Listed>('GET', '/v1/sessions')).body;
    expect(items.map(({ current }) => String(current)).toSorted()).toEqual(['false', 'true']);
    const other = items.find(({ current }) => !current)?.id ?? '';
    expect((await bob.call('DELETE', `/v1/sessions/${other}`)).status).toBe(404);
    expect((await bob.call('GET', `/v1/sessions?person=${items[0]?.person ?? ''}`)).status).toBe(404);
    expect((await here.call('DELETE', `/v1/sessions/${other}`)).body).toEqual({ ended: 1 });
    expect(await statusOfMe(there)).toBe(401);
    const third = await fixture.signedIn(ADA);
    expect((await here.call('DELETE', '/v1/sessions')).body).toEqual({ ended: 1 });
    expect(await statusOfMe(third)).toBe(401);
    expect(await statusOfMe(here)).toBe(200);
    expect(await statusOfMe(bob)).toBe(200);
  });

  test('may do what the roles of now say, from the next request on', async () => {
    const ada = await fixture.signedIn(ADA);
    const [person] = await fixture.directory.all('person');
    const id = person?.id ?? '';
    const status = async () =>
      (await ada.call('POST', '/v1/workspaces/shop/api-keys', { name: 'k', new_workspace: true })).status;
    expect(await status()).toBe(403);
    const asEditor = [{ workspace: 'shop', role: 'editor' }] as const;
    await fixture.directory.changePerson(id, (one) => ({ ...one, memberships: asEditor }));
    expect(await status()).toBe(201);
    await fixture.directory.changePerson(id, (one) => ({ ...one, memberships: [] }));
    expect(await status()).toBe(403);
    await fixture.directory.changePerson(id, (one) => ({ ...one, state: 'disabled' }));
    expect(await statusOfMe(ada)).toBe(401);
    expect((await signIn(ADA, PASSWORD)).status).toBe(401);
  });
});

describe('A cross-site request', () => {
  const FOREIGN = [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
    // The same machine, another port: one site for SameSite.
    { origin: 'http://localhost:9999' },
  ] as const;

  test('changes nothing, nor does a request without the header that forms cannot send', async () => {
    await fixture.addPerson(ADA);
    const ada = await fixture.signedIn(ADA);
    const all = [...FOREIGN, { 'x-carillon': '' }, { 'x-carillon': '2' }];
    for (const headers of all) {
      const answer = await ada.call('PUT', '/v1/me', { name: 'Mallory' }, headers);
      expect(answer.body).toMatchObject({ status: 403, code: 'cross_site' });
    }
    expect((await ada.call('GET', '/v1/me')).body).toMatchObject({ person: { name: 'Somebody' } });
    expect(
      (await ada.call('PUT', '/v1/me', { name: 'Ada' }, { origin: 'http://localhost:7401', host: 'localhost:7401' }))
        .status,
    ).toBe(200);
  });

  test('cannot sign a person in', async () => {
    await fixture.addPerson(ADA);
    for (const headers of FOREIGN) {
      const one = fixture.browser();
      const { status } = await one.call('POST', '/v1/session', { email: ADA, password: PASSWORD }, { ...headers });
      expect({ status, cookie: one.cookie() }).toEqual({ status: 403, cookie: '' });
    }
  });
});

describe('Guesses', () => {
  beforeEach(() => fixture.addPerson(ADA));

  test('are delayed more and more per account and source, and the right password is still accepted', async () => {
    for (let guess = 0; guess < 12; guess += 1) expect((await signIn(ADA, `guess number ${guess}`)).status).toBe(401);
    expect(fixture.waits).toEqual([500, 1000, 2000, 4000, 8000, 8000, 8000]);
    expect((await signIn(ADA, PASSWORD)).status).toBe(200);
    fixture.waits.length = 0;
    expect((await signIn(ADA, 'one more')).status).toBe(401);
    expect(fixture.waits).toEqual([]);
  });

  test('count no longer after a quarter of an hour, and not at other accounts', async () => {
    for (let guess = 0; guess < 6; guess += 1) await signIn(ADA, `guess number ${guess}`);
    fixture.waits.length = 0;
    await fixture.addPerson('bob@example.com');
    expect((await signIn('bob@example.com', PASSWORD)).status).toBe(200);
    fixture.clock.pass(15 * MINUTE);
    expect((await signIn(ADA, 'late guess')).status).toBe(401);
    expect(fixture.waits).toEqual([]);
  });

  test('at the same time wait for each other, and excess attempts get 429', async () => {
    for (let guess = 0; guess < 6; guess += 1) await signIn(ADA, `guess number ${guess}`);
    const all = await Promise.all(Array.from({ length: 30 }, (_, at) => signIn(ADA, `at once ${at}`)));
    const statuses = all.map(({ status }) => status);
    expect(statuses.filter((one) => one === 401).length).toBe(8);
    expect(statuses.filter((one) => one === 429).length).toBe(22);
    expect(all.find(({ status }) => status === 429)?.headers['retry-after']).toBeDefined();
    expect((await signIn(ADA, PASSWORD)).status).toBe(200);
  });

  test('take the same time and get the same answer for a missing, passwordless or disabled account', async () => {
    const { id } = await fixture.directory.addPerson({
      name: 'Bob',
      email: 'bob@example.com',
      memberships: [],
      passwordHash: null,
    });
    const off = await fixture.addPerson('off@example.com');
    await fixture.directory.changePerson(off, (one) => ({ ...one, state: 'disabled' }));
    expect(id).toMatch(/^per_/);
    const answers = new Set<string>();
    for (const email of [ADA, 'bob@example.com', 'off@example.com', 'nobody@example.com']) {
      fixture.hashed.length = 0;
      const { body } = await signIn(email, 'a wrong password');
      const { status, code, detail } = body;
      answers.add(JSON.stringify({ status, code, detail, computed: fixture.hashed.length }));
    }
    expect([...answers]).toHaveLength(1);
    expect(JSON.parse([...answers][0] ?? '')).toMatchObject({ status: 401, computed: 1 });
  });
});

describe('A second factor', () => {
  /** Sets up an authenticator for Ada; answers its secret and recovery codes. */
  async function enrolled(): Promise<{ readonly secret: string; readonly codes: readonly string[] }> {
    await fixture.addPerson(ADA);
    const ada = await fixture.signedIn(ADA);
    expect((await ada.call('POST', '/v1/me/totp', {})).status).toBe(400);
    const proof = { current_password: PASSWORD };
    const begun = await ada.call<{ readonly secret: string; readonly uri: string }>('POST', '/v1/me/totp', proof);
    const { secret, uri } = begun.body;
    expect(new URL(uri).searchParams.get('secret')).toBe(secret);
    // Until a code confirms it, it counts for nothing.
    expect((await signIn(ADA, PASSWORD)).status).toBe(200);
    expect((await ada.call('POST', '/v1/me/totp/confirm', { code: '000' })).status).toBe(400);
    const code = totpCode(secret, totpStep(fixture.clock.now()));
    type Confirmed = { readonly recovery_codes: readonly string[] };
    const confirmed = await ada.call<Confirmed>('POST', '/v1/me/totp/confirm', { code });
    return { secret, codes: confirmed.body.recovery_codes };
  }

  test('is required after the right password; each code works once, even concurrently', async () => {
    const { secret } = await enrolled();
    const now = () => totpCode(secret, totpStep(fixture.clock.now()));
    expect((await signIn(ADA, PASSWORD)).body).toMatchObject({ status: 401, code: 'second_factor' });
    expect((await signIn(ADA, 'a wrong password')).body).toMatchObject({ code: 'unauthorized' });
    // The code that confirmed it was used by that.
    expect((await signIn(ADA, PASSWORD, now())).status).toBe(401);
    fixture.clock.pass(MINUTE);
    const both = await Promise.all([signIn(ADA, PASSWORD, now()), signIn(ADA, PASSWORD, now())]);
    expect(statusesOf(both)).toEqual([200, 401]);
    expect((await signIn(ADA, PASSWORD, now())).status).toBe(401);
  });

  test('may be a recovery code; each code works once, in any spelling', async () => {
    const { codes } = await enrolled();
    expect(new Set(codes).size).toBe(10);
    const [first = '', second = ''] = codes;
    expect((await signIn(ADA, PASSWORD, first.toUpperCase().replaceAll('-', ' '))).status).toBe(200);
    expect((await signIn(ADA, PASSWORD, first)).status).toBe(401);
    const both = await Promise.all([signIn(ADA, PASSWORD, second), signIn(ADA, PASSWORD, second)]);
    expect(statusesOf(both)).toEqual([200, 401]);
    expect((await signIn(ADA, PASSWORD, 'aaaa-bbbb-cccc-dddd')).status).toBe(401);
  });
});

test('Codes by time are those of RFC 6238', () => {
  // Appendix B, SHA-1, the last six of its eight digits.
  const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
  const vectors = { 59: '287082', 1_111_111_109: '081804', 1_234_567_890: '005924', 20_000_000_000: '353130' };
  for (const [seconds, code] of Object.entries(vectors)) {
    expect(totpCode(secret, totpStep(Number(seconds) * 1000))).toBe(code);
  }
});

test('The last owner cannot leave; if two owners leave at once, one of them stays', async () => {
  const first = await fixture.owner();
  expect((await first.call('DELETE', '/v1/me')).body).toMatchObject({ status: 409, code: 'wrong_state' });
  expect(await statusOfMe(first)).toBe(200);
  await fixture.directory.appointOwner(await fixture.addPerson(ADA));
  const second = await fixture.signedIn(ADA);
  const both = await Promise.all([
    first.call('DELETE', '/v1/me'),
    second.call('DELETE', '/v1/me', { current_password: PASSWORD }),
  ]);
  expect(statusesOf(both)).toEqual([200, 409]);
  expect((await fixture.directory.roster()).owners).toHaveLength(1);
});

test('A password that is short, repeats itself or is the own address is refused by name', async () => {
  await fixture.addPerson(ADA);
  const ada = await fixture.signedIn(ADA);
  for (const password of ['short', 'aaaaaaaaaaaaaaaa', 'ada@example.com', 'Ada@Example.com1']) {
    const answer = await ada.call('PUT', '/v1/me/password', { password, current_password: PASSWORD });
    expect(answer.body).toMatchObject({ status: 400, code: 'invalid_request', pointer: '/password' });
  }
});
