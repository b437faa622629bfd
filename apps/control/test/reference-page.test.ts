import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { referencePage } from '../src/openapi/reference-page.ts';
import { openControl, TOKEN, type Fixture } from './control-fixture.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await openControl();
});
afterAll(() => fixture.control.app.close());

const open = (url: string, headers: Readonly<Record<string, string>> = {}) =>
  fixture.control.app.inject({ url, headers: { accept: 'text/html,*/*;q=0.8', ...headers } });
const SIGNED_IN = { authorization: `Bearer ${TOKEN}` };

describe('The reference of the API', () => {
  it('is a page with one own script file, without inline script or style', async () => {
    const { body, headers } = await open('/docs/api', SIGNED_IN);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(headers['content-security-policy']).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(body).toContain('<title>Carillon management API · Carillon</title>');
    expect([...body.matchAll(/<script[^>]*>/g)].map(([tag]) => tag)).toEqual([
      '<script src="/assets/reference.js" defer>',
    ]);
    expect(body).not.toMatch(/<style| style=| on[a-z]+=| (?:src|href)="(?![/#])/i);
    expect(body.toLowerCase()).not.toContain('swagger');
  });

  it('describes purpose, permissions, request, response and errors of every operation, and every link has a target', async () => {
    const { body } = await open('/docs/api', SIGNED_IN);
    const ids = new Set([...body.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
    expect(ids.size).toBe([...body.matchAll(/ id="/g)].length);
    for (const [, target = ''] of body.matchAll(/href="#([^"]+)"/g)) expect(ids.has(target), target).toBe(true);
    const { paths } = fixture.control.description();
    for (const [path, operations] of Object.entries(paths)) {
      for (const [method, { operationId = '' }] of Object.entries(operations)) {
        expect(ids.has(operationId), operationId).toBe(true);
        expect(body).toContain(`<code><b>${method.toUpperCase()}</b> ${path}</code>`);
      }
    }
    expect(body).toContain('needs configure or operate');
    expect(body).toContain('<li>409 <code>wrong_state</code>');
    expect(body).toContain('newest first; <code>import</code> takes it');
    const words = body.replaceAll(/<pre[^>]*>[\s\S]*?<\/pre>/g, '');
    expect(words.match(/.*`.*/g) ?? [], 'words between backticks are shown as code').toEqual([]);
    expect(body).toContain('&quot;unique_id&quot;: &quot;A-1001&quot;');
  });

  it('lists the intake of events first, then every operation by area with its method and path', async () => {
    const { body } = await open('/docs/api', SIGNED_IN);
    const list = /<nav id="operations"[\s\S]*?<\/nav>/.exec(body)?.[0] ?? '';
    const [first = ''] = list.match(/<li>[\s\S]*?<\/li>/) ?? [];
    expect(first).toContain('href="#send-event"');
    expect(first).toMatch(/<code><b>POST<\/b> http:\/\/[^<]*\/events\/\{workspace\}\/\{stream\}<\/code>/);
    const { paths, tags } = fixture.control.description();
    for (const [path, operations] of Object.entries(paths)) {
      for (const method of Object.keys(operations)) {
        expect(list).toContain(`<code><b>${method.toUpperCase()}</b> ${path}</code>`);
      }
    }
    for (const { name } of tags) expect(list).toContain(`data-group="${name}"`);
    expect(body).toContain('<code>Idempotency-Key</code>');
    expect(body).toContain('<li>429 <code>rate_limited</code>');
  });

  it('is for whoever may read; others find the sign-in at its address', async () => {
    // The portal, which asks who it is and shows the sign-in.
    for (const headers of [{}, { authorization: 'Bearer own_wrong' }]) {
      const { body } = await open('/docs/api', headers);
      expect(body).toContain('csp-nonce');
      expect(body).not.toContain('management API');
    }
  });

  it('escapes HTML from the API description', () => {
    const description = fixture.control.description();
    const info = { ...description.info, description: '<script>alert("&")</script>' };
    expect(referencePage({ ...description, info }, 'http://127.0.0.1:7400/events')).toContain(
      '&lt;script&gt;alert(&quot;&amp;&quot;)&lt;/script&gt;',
    );
  });
});

describe('An unknown URL', () => {
  it('returns a page to a browser', async () => {
    for (const url of ['/deliverys', '/inbox/', '/docs/json', '/docs/static/x.js', '/assets/', '/%3Cscript%3E']) {
      const { statusCode, headers, body } = await open(url);
      expect({ url, statusCode, type: headers['content-type'] }).toEqual({
        url,
        statusCode: 404,
        type: 'text/html; charset=utf-8',
      });
      expect(body).toContain('There is no page at this address');
      expect(body).not.toContain('script');
      expect(headers['content-security-policy']).toContain("style-src 'self'");
      expect(headers['content-length']).toBe(String(Buffer.byteLength(body)));
    }
  });

  it('returns a problem to programs, and below /v1 to everybody', async () => {
    for (const answer of [
      await open('/deliverys', { accept: '*/*' }),
      await open('/v1/deliverys'),
      await fixture.control.app.inject({ method: 'POST', url: '/deliverys', headers: { accept: 'text/html' } }),
    ]) {
      expect(answer.statusCode).toBe(404);
      expect(answer.headers['content-type']).toContain('application/problem+json');
      expect(answer.json()).toMatchObject({ code: 'not_found' });
    }
  });
});
