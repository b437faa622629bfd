import { afterEach, beforeEach, expect, test } from 'vitest';
import { openControl, TOKEN, type Fixture } from './control-fixture.ts';

const MINUTE = 60_000;
const OURS = { 'x-carillon': '1' };

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openControl();
});
afterEach(() => fixture.control.app.close());

const signIn = (word: string) => fixture.control.app.inject({ method: 'POST', url: '/v1/session', payload: { word } });
const statusOf = async (word: string): Promise<number> => (await signIn(word)).statusCode;
const makeLink = async (): Promise<string> => {
  const headers = { authorization: `Bearer ${TOKEN}` };
  const answer = await fixture.control.app.inject({ method: 'POST', url: '/v1/owner-links', headers });
  expect(answer.statusCode).toBe(201);
  return answer.json<{ word: string }>().word;
};

test('A link signs in once', async () => {
  const { word } = await fixture.control.access.makeLink();
  expect(await statusOf(word)).toBe(200);
  expect(await statusOf(word)).toBe(401);
});

test('An unused sign-in link expires after 15 minutes, and the refusal says how to get a new link', async () => {
  const word = await makeLink();
  fixture.clock.pass(15 * MINUTE);
  const late = await signIn(word);
  expect(late.statusCode).toBe(401);
  expect(late.json<{ detail: string }>().detail).toContain('npx carillon owner-link');
  const next = await makeLink();
  fixture.clock.pass(15 * MINUTE - 1);
  expect(await statusOf(next)).toBe(200);
});

test('A clock that was set back makes no link last longer', async () => {
  const word = await makeLink();
  fixture.clock.pass(-20 * MINUTE);
  expect(await statusOf(word)).toBe(401);
});

test('A new link ends the one before', async () => {
  const first = await makeLink();
  const second = await makeLink();
  expect(await statusOf(first)).toBe(401);
  expect(await statusOf(second)).toBe(200);
});

test('Wrong sign-in words get 429 after ten attempts, and the right word is still accepted at once', async () => {
  const word = await makeLink();
  for (let guess = 0; guess < 10; guess += 1) expect(await statusOf(`guess ${guess}`)).toBe(401);
  for (let guess = 0; guess < 100; guess += 1) {
    const answer = await signIn(`more ${guess}`);
    expect(answer.statusCode).toBe(429);
    expect(Number(answer.headers['retry-after'])).toBeLessThanOrEqual(60);
  }
  expect(await statusOf(word)).toBe(200);
  expect(await statusOf(TOKEN)).toBe(200);
  fixture.clock.pass(MINUTE);
  expect(await statusOf('once more')).toBe(401);
});

test('Signing out ends the session and clears the cookie; behind a trusted TLS proxy the cookie is Secure and bound to this host', async () => {
  const tls = { 'x-forwarded-proto': 'https' };
  await fixture.control.app.close();
  fixture = await openControl(undefined, {}, { trustedProxies: ['127.0.0.1'] });
  const { app } = fixture.control;
  for (const proxy of [{}, tls]) {
    const opened = await app.inject({ method: 'POST', url: '/v1/session', headers: proxy, payload: { word: TOKEN } });
    const [cookie = '', ...attributes] = String(opened.headers['set-cookie']).split('; ');
    expect(cookie).toMatch(proxy === tls ? /^__Host-carillon_session_\d+=/ : /^carillon_session_\d+=/);
    expect(attributes).toEqual(
      expect.arrayContaining(['Path=/', 'HttpOnly', 'SameSite=Strict', ...(proxy === tls ? ['Secure'] : [])]),
    );
    const headers = { cookie, ...proxy };
    expect((await app.inject({ url: '/v1/status', headers })).statusCode).not.toBe(401);
    const closed = await app.inject({ method: 'DELETE', url: '/v1/session', headers: { ...headers, ...OURS } });
    expect(closed.statusCode).toBe(200);
    expect(closed.headers['set-cookie']).toMatch(/carillon_session_\d+=; .*Max-Age=0/);
    expect((await app.inject({ url: '/v1/me', headers })).statusCode).toBe(401);
  }
});

test('X-Forwarded-Proto of an address that is no trusted proxy does not make the cookie Secure', async () => {
  for (const trustedProxies of [undefined, ['10.1.0.0/16']]) {
    await fixture.control.app.close();
    fixture = await openControl(undefined, {}, trustedProxies && { trustedProxies });
    const { app } = fixture.control;
    const headers = { 'x-forwarded-proto': 'https' };
    const opened = await app.inject({ method: 'POST', url: '/v1/session', headers, payload: { word: TOKEN } });
    expect(opened.headers['set-cookie']).toMatch(/^carillon_session_\d+=/);
    expect(opened.headers['set-cookie']).not.toContain('Secure');
    expect(opened.headers).not.toHaveProperty('strict-transport-security');
  }
});
