import { afterEach, beforeEach, expect, test } from 'vitest';
import { openControl, TOKEN, type Ground } from './control-ground.ts';

const MINUTE = 60_000;

let ground: Ground;
beforeEach(async () => {
  ground = await openControl();
});
afterEach(() => ground.control.app.close());

const signIn = (word: string) => ground.control.app.inject({ method: 'POST', url: '/v1/session', payload: { word } });
const statusOf = async (word: string): Promise<number> => (await signIn(word)).statusCode;
const makeLink = async (): Promise<string> => {
  const headers = { authorization: `Bearer ${TOKEN}` };
  const answer = await ground.control.app.inject({ method: 'POST', url: '/v1/owner-links', headers });
  expect(answer.statusCode).toBe(201);
  return answer.json<{ word: string }>().word;
};

test('A link signs in once', async () => {
  const word = ground.control.access.makeLink().word;
  expect(await statusOf(word)).toBe(200);
  expect(await statusOf(word)).toBe(401);
});

test('A link that nobody used ends after 15 minutes, and what it says then is how to get another', async () => {
  const word = await makeLink();
  ground.clock.pass(15 * MINUTE);
  const late = await signIn(word);
  expect(late.statusCode).toBe(401);
  expect(late.json<{ detail: string }>().detail).toContain('npx carillon owner-link');
  const next = await makeLink();
  ground.clock.pass(15 * MINUTE - 1);
  expect(await statusOf(next)).toBe(200);
});

test('A clock that was set back makes no link last longer', async () => {
  const word = await makeLink();
  ground.clock.pass(-20 * MINUTE);
  expect(await statusOf(word)).toBe(401);
});

test('A new link ends the one before', async () => {
  const first = await makeLink();
  const second = await makeLink();
  expect(await statusOf(first)).toBe(401);
  expect(await statusOf(second)).toBe(200);
});

test('Wrong words keep nobody out: they are told to wait, and a right word is taken at once', async () => {
  const word = await makeLink();
  for (let guess = 0; guess < 10; guess += 1) expect(await statusOf(`guess ${guess}`)).toBe(401);
  for (let guess = 0; guess < 100; guess += 1) {
    const answer = await signIn(`more ${guess}`);
    expect(answer.statusCode).toBe(429);
    expect(Number(answer.headers['retry-after'])).toBeLessThanOrEqual(60);
  }
  expect(await statusOf(word)).toBe(200);
  expect(await statusOf(TOKEN)).toBe(200);
  ground.clock.pass(MINUTE);
  expect(await statusOf('once more')).toBe(401);
});

test('Signing out takes the cookie from the browser, whether or not a proxy speaks TLS', async () => {
  const { app } = ground.control;
  const opened = await signIn(TOKEN);
  const [cookie = ''] = String(opened.headers['set-cookie']).split(';');
  expect((await app.inject({ url: '/v1/status', headers: { cookie: 'other=1' } })).statusCode).toBe(401);
  const headers = { cookie, 'x-forwarded-proto': 'https' };
  const closed = await app.inject({ method: 'DELETE', url: '/v1/session', headers });
  expect(closed.statusCode).toBe(200);
  expect(closed.headers['set-cookie']).toMatch(/^carillon_session_\d+=; .*Max-Age=0; Secure$/);
  const foreign = { cookie, 'sec-fetch-site': 'same-site' };
  expect((await app.inject({ method: 'DELETE', url: '/v1/session', headers: foreign })).statusCode).toBe(401);
});
