import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGuardedHttp, createAddressGuard } from '@carillon/adapter-guarded-http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { sharedServer } from '../../support/shared-servers.ts';
import { createSchemaRegistry, createTenantSchemas } from '@carillon/adapter-schema-registry';

describeWith('registry', 'schemas of a tenant’s registry', () => {
  const http = createGuardedHttp({ guard: createAddressGuard({ allowed: ['127.0.0.1/32'] }) });
  const schemas = createTenantSchemas(http);
  const NOBODY = { username: null, password: null };
  let answer: (request: IncomingMessage, response: ServerResponse) => void = () => undefined;
  const server = createServer((request, response) => answer(request, response));
  let scripted = '';
  let url = '';
  beforeAll(async () => {
    url = (await sharedServer('registry')).url;
    await once(server.listen(0, '127.0.0.1'), 'listening');
    scripted = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    await http.close();
    server.close();
  });

  it('are found by their id', async () => {
    const registry = createSchemaRegistry({ url });
    const text = '{"type":"record","name":"Tenant","fields":[{"name":"id","type":"long"}]}';
    const id = await registry.register(`tenant-schemas-${process.pid}`, text);
    registry.close();
    const found = await schemas.schema({ url: `${url}/`, ...NOBODY }, id);
    expect(found.ok && found.value !== null && (JSON.parse(found.value) as unknown)).toEqual(JSON.parse(text));
    expect(await schemas.schema({ url, ...NOBODY }, 2_000_000_000)).toEqual({ ok: true, value: null });
  });

  it('are asked for with user name and password', async () => {
    let credential: string | undefined;
    answer = (request, response) => {
      credential = request.headers.authorization;
      response.end('{"schema":"\\"long\\""}');
    };
    expect(await schemas.schema({ url: scripted, username: 'u', password: 'p' }, 1)).toEqual({
      ok: true,
      value: '"long"',
    });
    expect(credential).toBe(`Basic ${Buffer.from('u:p').toString('base64')}`);
  });

  it.each<[string, number, string]>([
    ['refuses user name or password', 401, '{}'],
    ['status 500', 500, '{}'],
    ['no schema', 200, '<html>'],
    ['no schema', 200, '{"id":1}'],
    ['', 200, `{"schema":"${'x'.repeat(3 * 1024 * 1024)}"}`],
  ])('are not there: %s', async (why, status, body) => {
    answer = (_request, response) => void response.writeHead(status).end(body);
    const found = await schemas.schema({ url: scripted, ...NOBODY }, 1);
    expect(found).toMatchObject({ ok: false, error: expect.stringContaining(why) as string });
  });

  it('are not asked for at an address that the deployment does not list', async () => {
    expect(await schemas.schema({ url: 'http://10.0.0.1:8081', ...NOBODY }, 1)).toMatchObject({ ok: false });
  });
});
