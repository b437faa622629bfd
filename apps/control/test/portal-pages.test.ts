import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openControl, type Fixture } from './control-fixture.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await openControl();
});
afterAll(() => fixture.control.app.close());

const get = (url: string, headers: Record<string, string> = {}) => fixture.control.app.inject({ url, headers });

test.each([
  '/',
  '/sign-in',
  '/welcome',
  '/inbox',
  '/deliveries',
  '/workspaces',
  '/workspaces/shop/deliveries',
  '/settings/people',
])('The portal stands at %s, under a policy with a nonce that is new in every answer', async (url) => {
  const [one, two] = await Promise.all([get(url), get(url)]);
  expect(one.statusCode).toBe(200);
  const policy = String(one.headers['content-security-policy']);
  const [, nonce = ''] = /style-src 'self' 'nonce-([^']+)'/.exec(policy) ?? [];
  expect(nonce).toMatch(/^[A-Za-z0-9+/]{22}==$/);
  expect(one.body).toContain(`nonce="${nonce}"`);
  expect(one.body).not.toContain('CARILLON_NONCE');
  expect(policy).toContain("default-src 'none'; script-src 'self'; style-src");
  expect(policy).toContain("require-trusted-types-for 'script'; trusted-types 'none'");
  expect(policy).not.toContain('unsafe');
  expect(two.headers['content-security-policy']).not.toBe(policy);
  expect(one.headers['cache-control']).toBe('no-store');
});

test('A file whose name changes with its content is kept for ever, any other never', async () => {
  const built = await get('/assets/index-abcd1234.js');
  expect(built.headers).toMatchObject({
    'cache-control': 'public, max-age=31536000, immutable',
    'content-type': 'text/javascript; charset=utf-8',
  });
  expect((await get('/assets/style.css')).headers['cache-control']).toBe('no-store');
});

test('A browser that takes gzip gets it', async () => {
  const small = await get('/assets/index-abcd1234.js', { 'accept-encoding': 'gzip, br' });
  expect(small.headers['content-encoding']).toBe('gzip');
  expect(gunzipSync(small.rawPayload).toString()).toBe("document.title = 'Carillon';\n");
  expect((await get('/assets/index-abcd1234.js')).body).toBe("document.title = 'Carillon';\n");
});

test.each(['/assets/', '/assets/../package.json', '/assets/%2e%2e%2findex.html', '/assets/index.html', '/index.html'])(
  'Nothing of the disk stands at %s',
  async (url) => {
    expect((await get(url)).statusCode).toBe(404);
  },
);

test('A checkout whose portal is not built says what to run', async () => {
  const { control } = await openControl(undefined, {}, { portalFolder: '/nowhere' });
  const answer = await control.app.inject({ url: '/workspaces' });
  expect(answer.statusCode).toBe(503);
  expect(answer.body).toContain('npm run portal');
  await control.app.close();
});
