import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openShop, order, request, shopFiles, type Shop } from './shop.ts';

type Operation = {
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly schema?: unknown;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly responses: Readonly<Record<string, { readonly description?: string }>>;
};
type Schema = { readonly type?: string; readonly properties?: object; readonly additionalProperties?: unknown };
type Document = {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly securitySchemes: Readonly<Record<string, unknown>>;
    readonly schemas?: Readonly<Record<string, unknown>>;
  };
  readonly security: readonly unknown[];
};

let shop: Shop & { close(): Promise<void> };
let document: Document;
beforeAll(async () => {
  shop = await openShop({ files: { ...shopFiles(), 'workspaces/club/workspace.yaml': 'name: Club\n' } });
  document = (await shop.api<Document>('GET', '/v1/openapi.json')).body;
});
afterAll(() => shop.close());

const operations = () =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
/** The path with something plausible in each place. */
const filled = (path: string): string =>
  path
    .replace('/secrets/{name}', '/secrets/NONE')
    .replaceAll(/\{(\w+)\}/g, (_, name: string) => (name === 'workspace' ? 'shop' : 'none'));

/** Everything that the product serves below /v1 (interfaces section 5 and what its commands call). */
const ROUTES = [
  'POST /v1/session',
  'DELETE /v1/session',
  'GET /v1/sessions',
  'DELETE /v1/sessions',
  'DELETE /v1/sessions/{id}',
  'GET /v1/me',
  'PUT /v1/me',
  'DELETE /v1/me',
  'PUT /v1/me/password',
  'POST /v1/me/totp',
  'POST /v1/me/totp/confirm',
  'POST /v1/me/totp/remove',
  'POST /v1/me/recovery-codes',
  'GET /v1/people',
  'GET /v1/people/{id}',
  'PUT /v1/people/{id}',
  'DELETE /v1/people/{id}',
  'DELETE /v1/people/{id}/credentials',
  'GET /v1/workspaces/{workspace}/members',
  'PUT /v1/workspaces/{workspace}/members/{id}',
  'DELETE /v1/workspaces/{workspace}/members/{id}',
  'GET /v1/tokens',
  'POST /v1/tokens',
  'DELETE /v1/tokens/{id}',
  'POST /v1/owner-links',
  'GET /v1/status',
  'POST /v1/doctor',
  'POST /v1/backup',
  'POST /v1/configuration/plan',
  'POST /v1/configuration/apply',
  'GET /v1/configuration/export',
  'GET /v1/secrets',
  'PUT /v1/secrets/{name}',
  'DELETE /v1/secrets/{name}',
  'GET /v1/master-key',
  'POST /v1/master-key/rotate',
  'POST /v1/master-key/renew-values',
  'POST /v1/master-key/finish',
  'POST /v1/master-key/cancel',
  'GET /v1/workspaces/{workspace}/secrets',
  'PUT /v1/workspaces/{workspace}/secrets/{name}',
  'DELETE /v1/workspaces/{workspace}/secrets/{name}',
  'GET /v1/inbox',
  'GET /v1/inbox/{id}',
  'GET /v1/dead-letters',
  'POST /v1/dead-letters/{id}/redrive',
  'GET /v1/workspaces/{workspace}/api-keys',
  'POST /v1/workspaces/{workspace}/api-keys',
  'DELETE /v1/workspaces/{workspace}/api-keys/{name}',
  'GET /v1/workspaces/{workspace}/jwt-providers',
  'POST /v1/workspaces/{workspace}/jwt-providers/{name}/check',
  'GET /v1/workspaces/{workspace}/events',
  'GET /v1/workspaces/{workspace}/events/{id}/trace',
  'GET /v1/workspaces/{workspace}/deliveries',
  'GET /v1/workspaces/{workspace}/deliveries/{id}',
  'GET /v1/workspaces/{workspace}/deliveries/{id}/trace',
  'POST /v1/workspaces/{workspace}/deliveries/{id}/resend',
  'POST /v1/workspaces/{workspace}/deliveries/{id}/cancel',
  'POST /v1/workspaces/{workspace}/deliveries/{id}/dismiss',
  'GET /v1/workspaces/{workspace}/dead-letters',
  'GET /v1/workspaces/{workspace}/suppressions',
  'POST /v1/workspaces/{workspace}/suppressions',
  'POST /v1/workspaces/{workspace}/suppressions/remove',
  'POST /v1/workspaces/{workspace}/suppressions/import',
  'GET /v1/workspaces/{workspace}/suppressions/export',
  'GET /v1/workspaces/{workspace}/consents',
  'GET /v1/workspaces/{workspace}/consents/person',
  'POST /v1/workspaces/{workspace}/consents',
  'POST /v1/workspaces/{workspace}/consents/import',
  'GET /v1/workspaces/{workspace}/consents/export',
  'GET /v1/workspaces/{workspace}/rules/{name}/sample',
  'POST /v1/workspaces/{workspace}/rules/{name}/test',
  'GET /v1/workspaces/{workspace}/streams/{name}/fields',
  'POST /v1/workspaces/{workspace}/accounts/{name}/check',
];

describe('The description of the API', () => {
  it('is OpenAPI 3.1 and lists every route', () => {
    expect(document.openapi).toMatch(/^3\.1\.\d$/);
    expect(document.info).toMatchObject({
      title: expect.any(String) as unknown,
      version: expect.any(String) as unknown,
    });
    const listed = operations().map(({ method, path }) => `${method} ${path}`);
    expect(listed.toSorted()).toEqual(expect.arrayContaining(ROUTES.toSorted()));
    expect(listed.filter((route) => !route.includes(' /v1/'))).toEqual([]);
  });

  it('is sound: every reference leads somewhere, every parameter of a path is declared, every answer described', () => {
    const text = JSON.stringify(document);
    for (const [, reference = ''] of text.matchAll(/"\$ref":"([^"]+)"/g)) {
      const found = reference
        .replace('#/', '')
        .split('/')
        .reduce<unknown>((at, part) => (at as Record<string, unknown> | undefined)?.[part], document);
      expect(found, reference).toBeDefined();
    }
    for (const { method, path, operation } of operations()) {
      const declared = (operation.parameters ?? []).filter((one) => one.in === 'path');
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
      expect(declared.map((one) => one.name).toSorted(), `${method} ${path}`).toEqual(named.toSorted());
      for (const one of operation.parameters ?? []) expect(one.schema, `${one.name} of ${path}`).toBeDefined();
      for (const one of declared) expect(one.required).toBe(true);
      const statuses = Object.keys(operation.responses);
      expect(
        statuses.some((status) => /^2\d\d$/.test(status)),
        `${method} ${path}`,
      ).toBe(true);
      for (const answer of Object.values(operation.responses)) expect(answer.description).toBeTypeOf('string');
    }
    expect(Object.keys(document.components.securitySchemes)).toEqual(['owner']);
    expect(document.security).toEqual([{ owner: [] }]);
  });
});

describe('Every route', () => {
  it('needs the token, and says how to get one', async () => {
    const routes = [...operations(), { method: 'GET', path: '/v1/openapi.json' }];
    for (const { method, path } of routes) {
      if (path === '/v1/session' && method === 'POST') continue;
      for (const authorization of [
        undefined,
        'Bearer own_wrong',
        `Bearer ${shop.key}`,
        `Basic ${shop.product.token}`,
      ]) {
        const answer = await request<{ code: string; detail: string }>(`${shop.product.controlUrl}${filled(path)}`, {
          method,
          headers: {
            ...(authorization && { authorization }),
            ...(method === 'POST' && { 'content-type': 'application/json' }),
          },
          ...(method === 'POST' && { body: '{}' }),
        });
        expect({ method, path, status: answer.status }).toEqual({ method, path, status: 401 });
        expect(answer.body).toMatchObject({
          code: 'unauthorized',
          detail: expect.stringContaining('owner-token') as unknown,
        });
        expect(answer.headers.get('content-type')).toContain('application/problem+json');
        expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/);
      }
    }
    for (const path of ['/%761/status', '/v1//status', '/V1/status', '/v1/status/', '//v1/status']) {
      const answer = await request<{ code: string }>(`${shop.product.controlUrl}${path}`, {});
      expect([401, 404]).toContain(answer.status);
    }
  });

  it('refuses a field that it does not know, and names it', async () => {
    const bodies: Readonly<Record<string, object>> = {
      '/v1/backup': { file: '/nowhere/at/all' },
      '/v1/configuration/plan': { files: {} },
      '/v1/configuration/apply': { files: {} },
      '/v1/secrets/{name}': { value: 'b' },
      '/v1/workspaces/{workspace}/secrets/{name}': { value: 'b' },
      '/v1/master-key/rotate': {},
      '/v1/master-key/renew-values': {},
      '/v1/master-key/finish': {},
      '/v1/master-key/cancel': {},
      '/v1/session': { word: 'x' },
      '/v1/workspaces/{workspace}/api-keys': { name: 'fine' },
      '/v1/workspaces/{workspace}/deliveries/{id}/dismiss': { as: 'sent', reason: 'x' },
      '/v1/workspaces/{workspace}/consents': { person: 'ada', target: 'all', opted_out: true },
      '/v1/workspaces/{workspace}/suppressions': { channel: 'email', address: 'a@example.com' },
      '/v1/workspaces/{workspace}/suppressions/remove': { channel: 'email', address: 'a@example.com' },
      '/v1/workspaces/{workspace}/rules/{name}/test': { event: '{}' },
      '/v1/workspaces/{workspace}/templates/{name}/preview': { event: '{}' },
      '/v1/workspaces/{workspace}/notifications/{name}/test-send': {
        event: '{}',
        channel: 'email',
        to: 'a@example.com',
      },
      '/v1/workspaces/{workspace}/cadence/explain': { notification: 'order-paid', person: 'ada' },
      '/v1/workspaces/{workspace}/receipts/{id}/dismiss': {},
      '/v1/doctor': {},
      '/v1/owner-links': {},
      '/v1/dead-letters/{id}/redrive': {},
      '/v1/workspaces/{workspace}/accounts/{name}/check': {},
      '/v1/workspaces/{workspace}/integrations/{name}/check': { user_ids: ['ada'] },
      '/v1/workspaces/{workspace}/jwt-providers/{name}/check': { token: 'a.b.c' },
      '/v1/workspaces/{workspace}/deliveries/{id}/cancel': {},
      '/v1/workspaces/{workspace}/deliveries/{id}/resend': {},
    };
    // A file is no object whose fields are known.
    const taking = operations().filter(({ operation }) => 'application/json' in (operation.requestBody?.content ?? {}));
    for (const { method, path } of taking) {
      const answer = await shop.api(method, filled(path), { ...bodies[path], colour: 'blue' });
      expect({ path, status: answer.status }).toEqual({ path, status: 400 });
      expect(answer.body).toMatchObject({
        code: 'invalid_request',
        detail: expect.stringContaining('colour') as unknown,
      });
    }
    expect(taking.map(({ path }) => path).toSorted()).toEqual(Object.keys(bodies).toSorted());
    // An action that takes nothing is asked for without a body, or with an empty one.
    expect((await shop.api('POST', '/v1/doctor')).status).toBe(200);
    expect((await shop.api('POST', '/v1/doctor', {})).status).toBe(200);
    const keys = await shop.api<{ items: { name: string }[] }>('GET', '/v1/workspaces/shop/api-keys');
    expect(keys.body.items.map((one) => one.name)).toEqual(['backend']);
  });

  it('refuses a filter that it does not know, instead of showing everything', async () => {
    for (const path of ['events', 'deliveries', 'dead-letters', 'suppressions']) {
      const answer = await shop.api('GET', `/v1/workspaces/shop/${path}?stat=FAILED`);
      expect({ path, status: answer.status }).toEqual({ path, status: 400 });
      expect(answer.body.detail).toContain('stat');
    }
    for (const query of ['limit=0', 'limit=501', 'limit=x', 'cursor=%00junk', 'state=DONE', 'since=now']) {
      const answer = await shop.api('GET', `/v1/workspaces/shop/deliveries?${query}`);
      expect({ query, status: answer.status }).toEqual({ query, status: 400 });
    }
  });

  it('tells a problem for what is not JSON, too large, of another method, or not there', async () => {
    const send = (body: string, headers: Readonly<Record<string, string>> = {}) =>
      request<{ code: string }>(`${shop.product.controlUrl}/v1/secrets/A`, {
        method: 'PUT',
        body,
        headers: { authorization: `Bearer ${shop.product.token}`, 'content-type': 'application/json', ...headers },
      });
    expect(await send('{')).toMatchObject({ status: 400, body: { code: 'invalid_json' } });
    expect(await send('<a/>', { 'content-type': 'text/xml' })).toMatchObject({ status: 415 });
    expect(await send(JSON.stringify({ value: 'x'.repeat(2_000_000) }))).toMatchObject({ status: 413 });
    expect(await send('{"__proto__": {"a": 1}, "value": "b"}')).toMatchObject({
      status: 400,
    });
    expect(await shop.api('PUT', '/v1/status')).toMatchObject({ status: 405, body: { code: 'method_not_allowed' } });
    expect(await shop.api('GET', '/v1/nothing')).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });
});

describe('Another workspace', () => {
  it('cannot see or touch what is not its own: 404, as for what is not there', async () => {
    const event = await shop.send(order('X-1'));
    const { id } = await shop.delivered(event, 'SENT');
    const calls: readonly (readonly [string, string, unknown?])[] = [
      ['GET', `deliveries/${id}`],
      ['GET', `deliveries/${id}/trace`],
      ['GET', `events/${event}/trace`],
      ['POST', `deliveries/${id}/resend`, {}],
      ['POST', `deliveries/${id}/cancel`, {}],
      ['POST', `deliveries/${id}/dismiss`, { as: 'sent', reason: 'x' }],
      ['DELETE', 'api-keys/backend'],
      ['POST', 'rules/order-paid.paid/test', { event: '{}' }],
    ];
    for (const [method, path, body] of calls) {
      const other = await shop.api(method, `/v1/workspaces/club/${path}`, body);
      expect({ path, status: other.status }).toEqual({ path, status: 404 });
      const nobody = await shop.api(method, `/v1/workspaces/nobody/${path}`, body);
      expect({ path, status: nobody.status }).toEqual({ path, status: 404 });
      expect(nobody.body.detail).toBe('there is no workspace nobody; known: club, shop');
    }
    for (const path of ['events', 'deliveries', 'dead-letters', 'suppressions', 'api-keys']) {
      const { body } = await shop.api<{ items: unknown[] }>('GET', `/v1/workspaces/club/${path}`);
      expect({ path, items: body.items }).toEqual({ path, items: [] });
    }
    expect((await shop.deliveries(`&event=${event}`))[0]).toMatchObject({ id, state: 'SENT' });
  });
});
