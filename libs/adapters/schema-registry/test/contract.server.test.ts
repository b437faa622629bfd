import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { createRecordCodecs, RECORD_SCHEMAS } from '@carillon/contracts';
import { describeSchemaRegistry } from '@carillon/testing';
import { beforeAll, expect, test } from 'vitest';
import { describeWith } from '../../../../test/support/requirements.ts';
import { sharedServer } from '../../../../test/support/shared-servers.ts';
import { createSchemaRegistry, type KafkaSchemaRegistry } from '../src/index.ts';

const START_TIMEOUT = 300_000;

test('the registry client refuses an invalid address', () => {
  expect(() => createSchemaRegistry({ url: 'registry:8081' })).toThrow('needs an http or https address');
});

test('the registry client rejects within its timeout if nothing responds', async () => {
  const registry = createSchemaRegistry({ url: 'http://127.0.0.1:9', timeout: 300 });
  await expect(registry.schema(1)).rejects.toMatchObject({ code: 'log_unavailable' });
});

test('the registry client treats a refused connection as a transient outage, not as invalid configuration', async () => {
  const registry = createSchemaRegistry({ url: 'http://127.0.0.1:9', timeout: 20_000 });
  const asked = registry.schema(1);
  await expect(asked).rejects.toMatchObject({
    code: 'log_unavailable',
    detail: 'reading schema 1 (schema registry 127.0.0.1:9): connect ECONNREFUSED 127.0.0.1:9',
  });
});

describeWith('registry', 'schemas in Apicurio', () => {
  let service: { readonly url: string };
  const open = (): KafkaSchemaRegistry => createSchemaRegistry({ url: `${service.url}/` });
  beforeAll(async () => {
    service = await sharedServer('registry');
  }, START_TIMEOUT);

  describeSchemaRegistry('the schema registry', async () => {
    const port = open();
    return { port, close: async () => port.close() };
  });

  const sample = (...fields: readonly object[]): string => JSON.stringify({ type: 'record', name: 'Sample', fields });

  test('registers a schema that can read the previous one’s data, and refuses one that cannot', async () => {
    const registry = open();
    const first = await registry.register('evolving', sample({ name: 'a', type: 'string' }));
    const grown = sample({ name: 'a', type: 'string' }, { name: 'b', type: 'string', default: '' });
    expect(await registry.register('evolving', grown)).not.toBe(first);
    const broken = registry.register('evolving', sample({ name: 'a', type: 'long' }));
    await expect(broken).rejects.toMatchObject({ code: 'invalid_configuration' });
    await expect(broken).rejects.toThrow('registering evolving');
    registry.close();
  });

  test('sets the compatibility of a subject that an interrupted registration left without one', async () => {
    const body = JSON.stringify({ schema: sample({ name: 'a', type: 'string' }) });
    const headers = { 'content-type': 'application/vnd.schemaregistry.v1+json' };
    await fetch(`${service.url}/subjects/cut-short/versions`, { method: 'POST', headers, body });
    const registry = open();
    await registry.register('cut-short', sample({ name: 'a', type: 'string' }));
    await expect(registry.register('cut-short', sample({ name: 'a', type: 'long' }))).rejects.toThrow();
    registry.close();
  });

  test('accepts a subject that another program registers at the same moment', async () => {
    const schema = sample({ name: 'a', type: 'string' });
    const headers = { 'content-type': 'application/vnd.schemaregistry.v1+json' };
    const ask = (path: string, init: RequestInit = {}): Promise<Response> =>
      fetch(`${service.url}${path}`, { headers, ...init });
    let raced = false;
    // Right after our program heard that nobody knows the subject, the other one brings it.
    const pass = async (request: IncomingMessage, answer: ServerResponse): Promise<void> => {
      const body = await text(request);
      const given = await ask(request.url ?? '', { method: request.method ?? '', ...(body !== '' && { body }) });
      if (!raced && given.status === 404) {
        raced = true;
        await ask('/subjects/raced/versions', { method: 'POST', body: JSON.stringify({ schema }) });
      }
      answer.writeHead(given.status, { 'content-type': 'application/json' }).end(await given.text());
    };
    const between = createServer((request, answer) => void pass(request, answer));
    await new Promise<void>((listening) => void between.listen(0, '127.0.0.1', listening));
    const { port } = between.address() as AddressInfo;
    const registry = createSchemaRegistry({ url: `http://127.0.0.1:${port}` });
    expect(await registry.register('raced', schema)).toBeGreaterThan(0);
    expect(raced).toBe(true);
    registry.close();
    between.close();
  });

  test('finds registered schemas, and registers nothing by searching', async () => {
    const registry = open();
    const schema = sample({ name: 'looked_for', type: 'string' });
    expect(await registry.find('looked-for', schema)).toBeNull();
    expect(await registry.find('looked-for', schema)).toBeNull();
    const id = await registry.register('looked-for', schema);
    expect(await registry.find('looked-for', JSON.stringify(JSON.parse(schema), null, 2))).toBe(id);
    expect(await registry.find('looked-for', sample({ name: 'other', type: 'string' }))).toBeNull();
    for (const { subject, current } of Object.values(RECORD_SCHEMAS)) {
      const registered = await registry.register(subject, current);
      expect(await registry.find(subject, current)).toBe(registered);
    }
    registry.close();
  });

  test('gives two programs that start at once the same ids', async () => {
    const [one, two] = [open(), open()];
    const [first, second] = await Promise.all([createRecordCodecs(one, Date.now), createRecordCodecs(two, Date.now)]);
    expect(Object.keys(first)).toEqual(Object.keys(RECORD_SCHEMAS));
    expect(second).toBeDefined();
    for (const { subject, current } of Object.values(RECORD_SCHEMAS)) {
      expect(await one.register(subject, current)).toBe(await two.register(subject, current));
    }
    for (const registry of [one, two]) registry.close();
  });
});
