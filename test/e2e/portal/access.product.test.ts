import { beforeAll, describe, expect, it } from 'vitest';
import { sharedDemo } from './shared-demo.ts';
import type { SharedDemo } from './support.ts';
import { request, type IncomingHttpHeaders } from 'node:http';

type Answer = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly text: string };

describe('access to the control server', () => {
  let demo: SharedDemo;
  let cookie: string;
  beforeAll(async () => {
    demo = await sharedDemo();
  });

  /** The path goes out exactly as it is written here; `fetch` would tidy it up first. */
  const ask = (path: string, headers: Record<string, string> = {}, method = 'GET', body?: string): Promise<Answer> =>
    new Promise((settle, fail) => {
      const { hostname, port } = new URL(demo.control);
      const sent = request({ hostname, port, path, method, headers }, (answer) => {
        let text = '';
        answer.on('data', (chunk: Buffer) => void (text += chunk.toString()));
        answer.on('end', () => settle({ status: answer.statusCode ?? 0, headers: answer.headers, text }));
      });
      sent.on('error', fail);
      sent.end(body);
    });
  const signIn = (word: string, more: Record<string, string> = {}): Promise<Answer> =>
    ask('/v1/session', { 'content-type': 'application/json', ...more }, 'POST', JSON.stringify({ word }));

  it.each([
    '/v1/status',
    '/%761/status',
    '/v%31/status',
    '/v1/%73tatus',
    '/v1/status?x',
    '/v1/openapi.json',
    '/%761/openapi.json',
  ])('refuses %s without a credential', async (path) => {
    expect((await ask(path)).status).toBe(401);
  });

  it('shows only the sign-in page without a session, and serves no other files', async () => {
    for (const path of ['/', '/deliveries', '/inbox', '/docs/api', '/%64ocs/api', '/workspaces/shop/deliveries']) {
      const { status, text } = await ask(path);
      expect(status).toBe(200);
      expect(text).toContain('<div id="app"></div>');
    }
    for (const path of ['/assets/', '/assets/../package.json', '/assets/%2e%2e%2fpackage.json', '/assets/index.html']) {
      expect((await ask(path)).status).toBe(404);
    }
    expect((await ask('/inbox/messages/x/html')).status).toBe(401);
  });

  it('sets a cookie that scripts cannot read and other sites cannot use', async () => {
    const answer = await signIn(demo.ownerToken);
    expect(answer.status).toBe(200);
    const [set = ''] = answer.headers['set-cookie'] ?? [];
    expect(set).toMatch(/^carillon_session_\d+=\S+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=\d+$/);
    // No proxy is trusted here, so nobody's word counts that the connection uses TLS.
    const claimed = await signIn(demo.ownerToken, { 'x-forwarded-proto': 'https' });
    expect(claimed.headers['set-cookie']?.[0]).toMatch(/^carillon_session_\d+=\S+; [^]*Max-Age=\d+$/);
    cookie = set.split(';')[0] ?? '';
    expect((await ask('/v1/status', { cookie })).status).toBe(200);
  });

  it('refuses requests from another origin, even from another port of the same site', async () => {
    const path = '/v1/workspaces/shop/deliveries/dlv_00000000000000000000000000/resend';
    const host = new URL(demo.control).host;
    const press = async (headers: Record<string, string>) => (await ask(path, { cookie, ...headers }, 'POST')).status;
    const ours = { 'x-carillon': '1' };
    expect(await press({ 'sec-fetch-site': 'same-site', ...ours })).toBe(403);
    expect(await press({ 'sec-fetch-site': 'cross-site', ...ours })).toBe(403);
    expect(await press({ origin: 'http://127.0.0.1:3000', ...ours })).toBe(403);
    expect(await press({ origin: 'null', ...ours })).toBe(403);
    expect(await press({ 'sec-fetch-site': 'same-origin' })).toBe(403);
    expect(await press({ 'sec-fetch-site': 'same-origin', ...ours })).toBe(404);
    expect(await press({ origin: `http://${host}`, ...ours })).toBe(404);
  });

  it('keeps private responses out of caches and frames, and limits pages to their own scripts', async () => {
    const answers = [
      await ask('/deliveries', { cookie }),
      await ask('/inbox', { cookie }),
      await ask('/welcome'),
      await ask('/assets/style.css'),
      await ask('/v1/status', { cookie }),
      await ask('/v1/inbox', { cookie }),
      await ask('/v1/status'),
    ];
    for (const { headers } of answers) {
      expect(headers).toMatchObject({
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'x-dns-prefetch-control': 'off',
        'cross-origin-resource-policy': 'same-origin',
      });
      const policy = headers['content-security-policy'];
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain('unsafe');
    }
  });

  it('answers ten wrong passwords a minute, gives 429 to more, and accepts the right one at once', async () => {
    // All at once: the minute must not pass in between.
    const guesses = await Promise.all(Array.from({ length: 10 }, (_, guess) => signIn(`guess ${guess}`)));
    expect(guesses.map(({ status }) => status)).toEqual(Array(10).fill(401));
    const answer = await signIn('guess 11');
    expect(answer.status).toBe(429);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    expect(Number(answer.headers['retry-after'])).toBeLessThanOrEqual(60);
    const { word } = await demo.ask<{ word: string }>('/v1/owner-links', {});
    expect((await signIn(word)).status).toBe(200);
    // Who is signed in, and every program, goes on.
    expect((await ask('/v1/status', { cookie })).status).toBe(200);
  });
});
