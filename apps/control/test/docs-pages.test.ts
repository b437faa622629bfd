import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openControl, type Fixture } from './control-fixture.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await openControl();
});
afterAll(() => fixture.control.app.close());

const get = (url: string) => fixture.control.app.inject({ url, headers: { accept: 'text/html' } });

describe('The documentation', () => {
  it.each([
    ['/docs', 'Contents'],
    ['/docs/cluster-settings', 'Settings'],
    ['/docs/examples/demo', 'Demo'],
  ])('is served at %s without a session, under a policy that allows no inline script or style', async (url, title) => {
    const { statusCode, headers, body } = await get(url);
    expect(statusCode).toBe(200);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(headers['content-security-policy']).toContain("default-src 'none'; script-src 'self'; style-src 'self';");
    expect(body).toContain(`<title>${title}</title>`);
  });

  it('lets browsers keep files whose name has a hash, and no page', async () => {
    expect((await get('/docs/assets/docs-abcd1234.js')).headers['cache-control']).toContain('immutable');
    for (const url of ['/docs/cluster-settings', '/docs/assets/search.json']) {
      expect((await get(url)).headers['cache-control'], url).toBe('no-store');
    }
  });

  it('links the portal', async () => {
    expect((await get('/docs')).body).toContain('<a href="/">Portal</a>');
  });

  it('redirects /docs/ to /docs', async () => {
    const { statusCode, headers } = await get('/docs/');
    expect({ statusCode, location: headers.location }).toEqual({ statusCode: 308, location: '/docs' });
  });

  it.each([
    '/docs/index',
    '/docs/index.html',
    '/docs/cluster-settings.html',
    '/docs/../package.json',
    '/docs/%2e%2e%2findex',
  ])('serves nothing at %s', async (url) => {
    expect((await get(url)).statusCode).toBe(404);
  });

  it('says what to run if it is not built', async () => {
    const { control } = await openControl(undefined, {}, { docsFolder: '/nowhere' });
    const { statusCode, body } = await control.app.inject({ url: '/docs' });
    expect(statusCode).toBe(503);
    expect(body).toContain('npm run portal');
    await control.app.close();
  });
});
