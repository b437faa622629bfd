import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OPERATIONS, type ProperCall } from './operations.ts';
import { openShop, order, request, shopFiles, type Shop } from './shop.ts';

type Operation = {
  readonly security?: readonly unknown[];
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

/** Routes that need no credential: sign-in, invitations and links in mails. Any other open route is a mistake. */
const OPEN = [
  'GET /v1/sign-in',
  'POST /v1/invitations/accept',
  'POST /v1/invitations/look',
  'POST /v1/mailed-links/open',
  'POST /v1/session',
];

const operations = () =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
const PLACES: Readonly<Record<string, string>> = { workspace: 'shop', kind: 'notifications', number: '1' };
/** The path with something plausible in each place. */
const filled = (path: string): string =>
  path
    .replace('/secrets/{name}', '/secrets/NONE')
    .replaceAll(/\{(\w+)\}/g, (_, name: string) => PLACES[name] ?? 'none');

/** The precondition of whoever has just read what is there, or of whoever read what never was. */
async function preconditionOf(path: string, { precondition }: ProperCall): Promise<Readonly<Record<string, string>>> {
  if (precondition === undefined) return {};
  if (precondition === 'stale') return { 'if-match': '"999999"' };
  const etag = (await shop.api('GET', path)).headers.get('etag');
  return etag === null ? { 'if-none-match': '*' } : { 'if-match': etag };
}

/** Calls an operation as its row in the table says, with more fields in its body. */
async function callOf(
  operation: string,
  more: object = {},
): Promise<{ readonly status: number; readonly text: string }> {
  const [method = '', template = ''] = operation.split(' ');
  const path = filled(template);
  const call = OPERATIONS[operation] ?? {};
  const json = call.body && JSON.stringify({ ...call.body, ...more }).replace('{folder}', shop.folder);
  const body = call.csv ?? json;
  const query = call.query === undefined ? '' : `?${call.query}`;
  const answer = await fetch(`${shop.product.controlUrl}${path}${query}`, {
    method,
    headers: {
      authorization: `Bearer ${shop.product.token}`,
      ...(body !== undefined && { 'content-type': call.csv === undefined ? 'application/json' : 'text/csv' }),
      ...(await preconditionOf(path, call)),
    },
    ...(body !== undefined && { body }),
  });
  return { status: answer.status, text: await answer.text() };
}

describe('The description of the API', () => {
  it('is OpenAPI 3.1 and lists every route', () => {
    expect(document.openapi).toMatch(/^3\.1\.\d$/);
    expect(document.info).toMatchObject({
      title: expect.any(String) as unknown,
      version: expect.any(String) as unknown,
    });
    const listed = operations().map(({ method, path }) => `${method} ${path}`);
    expect(listed.toSorted()).toEqual(Object.keys(OPERATIONS).toSorted());
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
    const open = operations().filter(({ operation }) => operation.security?.length === 0);
    expect(open.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(OPEN);
  });
});

describe('Every route', () => {
  it('needs the token, and says how to get one', async () => {
    const routes = [...operations(), { method: 'GET', path: '/v1/openapi.json' }];
    for (const { method, path } of routes) {
      if (OPEN.includes(`${method} ${path}`)) continue;
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

  it('refuses an unknown field, and names it', async () => {
    // A file is no object whose fields are known.
    const taking = operations().filter(({ operation }) => 'application/json' in (operation.requestBody?.content ?? {}));
    const named = taking.map(({ method, path }) => `${method} ${path}`);
    for (const operation of named) {
      const { status, text } = await callOf(operation, { colour: 'blue' });
      if (OPERATIONS[operation]?.ofResource) {
        // Asking what a write would do answers with the mistakes; the write itself is refused for them.
        expect({ operation, status }).toEqual({ operation, status: operation.startsWith('POST ') ? 200 : 400 });
        expect(text, operation).toContain('colour');
        continue;
      }
      expect({ operation, status }).toEqual({ operation, status: 400 });
      expect(JSON.parse(text), operation).toMatchObject({
        code: 'invalid_request',
        detail: expect.stringContaining('colour') as unknown,
      });
    }
    const withBodies = Object.keys(OPERATIONS).filter((operation) => OPERATIONS[operation]?.body);
    expect(named.toSorted()).toEqual(withBodies.toSorted());
    // An action that takes nothing is asked for without a body, or with an empty one.
    expect((await shop.api('POST', '/v1/doctor')).status).toBe(200);
    expect((await shop.api('POST', '/v1/doctor', {})).status).toBe(200);
    const keys = await shop.api<{ items: { name: string }[] }>('GET', '/v1/workspaces/shop/api-keys');
    expect(keys.body.items.map((one) => one.name)).toEqual(['backend']);
  });

  it('refuses an unknown filter, instead of ignoring it', async () => {
    const filtered = operations().filter(({ operation }) => operation.parameters?.some((one) => one.in === 'query'));
    expect(filtered.length).toBeGreaterThan(20);
    for (const { method, path } of filtered.filter((one) => one.method === 'GET' || one.method === 'DELETE')) {
      const { query = '' } = OPERATIONS[`${method} ${path}`] ?? {};
      const answer = await shop.api(method, `${filled(path)}?${query}&stat=FAILED`);
      expect({ method, path, status: answer.status }).toEqual({ method, path, status: 400 });
      expect(answer.body.detail, path).toContain('stat');
    }
    for (const query of ['limit=0', 'limit=501', 'limit=x', 'cursor=%00junk', 'state=DONE', 'since=now']) {
      const answer = await shop.api('GET', `/v1/workspaces/shop/deliveries?${query}`);
      expect({ query, status: answer.status }).toEqual({ query, status: 400 });
    }
  });

  it('returns a problem for invalid JSON, a large body, a wrong method and an unknown path', async () => {
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

describe('A caller of another workspace', () => {
  it('gets 404 for foreign resources, the same as for missing ones', async () => {
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

describe('Every operation', () => {
  it('responds as its description says to valid requests', async () => {
    const unlike: unknown[] = [];
    for (const { method, path, operation } of operations()) {
      const { status, text } = await callOf(`${method} ${path}`);
      const isRefused = status === 400 && OPERATIONS[`${method} ${path}`]?.isRefused;
      const improper = !isRefused && [400, 413, 415, 428, 500, 503].includes(status);
      if (improper || !(status in operation.responses)) unlike.push({ method, path, status, text });
    }
    expect(unlike).toEqual([]);
  });
});
