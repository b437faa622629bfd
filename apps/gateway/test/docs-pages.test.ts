import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { post, prepareFixture, type Fixture } from './gateway-fixture.ts';

const docsFolder = new URL('docs-of-tests', import.meta.url).pathname;

let fixture: Fixture;
beforeAll(async () => {
  fixture = await prepareFixture();
});
afterAll(() => fixture.stopGateways());

describe('The type of an error body', () => {
  it('leads to the anchor of its code, at the port that sent the body', async () => {
    const gateway = await fixture.start({ docsFolder });
    const refused = await post(gateway, 'shop/orders', 'no-key');
    const link = new URL(String(refused.body['type']), `${gateway.address}/events/shop/orders`);
    const page = await fetch(link);
    expect({ status: page.status, type: page.headers.get('content-type') }).toEqual({
      status: 200,
      type: 'text/html; charset=utf-8',
    });
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'");
    expect(await page.text()).toContain(`id="${link.hash.slice(1)}"`);
  });

  it('leads to a page that is compressed unless the client refuses gzip', async () => {
    const { address } = await fixture.start({ docsFolder });
    const encodingFor = async (accepted: string): Promise<string | null> => {
      const page = await fetch(`${address}/docs/errors`, { headers: { 'accept-encoding': accepted } });
      await page.arrayBuffer();
      return page.headers.get('content-encoding');
    };
    expect(await encodingFor('gzip, br')).toBe('gzip');
    expect(await encodingFor('br, gzip;q=0.5')).toBe('gzip');
    expect(await encodingFor('gzip;q=0, identity')).toBeNull();
    expect(await encodingFor('gzip; q=0.000')).toBeNull();
  });

  it('leads to a page without links to the portal, which this port does not serve', async () => {
    const gateway = await fixture.start({ docsFolder });
    const page = await (await fetch(`${gateway.address}/docs/errors`)).text();
    expect(page).toContain('<title>Errors</title>');
    expect(page).not.toContain('Portal');
  });

  it('leads to a problem if the documentation is not built, and events are still stored', async () => {
    const gateway = await fixture.start({ docsFolder: '/nowhere' });
    expect((await fetch(`${gateway.address}/docs/errors`)).status).toBe(404);
    expect((await post(gateway, 'shop/orders', fixture.keys.backend)).status).toBe(202);
  });
});
