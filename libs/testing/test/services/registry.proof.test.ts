import { existsSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWith } from '../../../../test/support/requirements.ts';
import { startRegistry, type RegistryService } from '../../src/services/index.ts';

const TIMEOUT = 300_000;
const headers = { 'content-type': 'application/vnd.schemaregistry.v1+json' };

const record = (...fields: readonly { name: string; type: string }[]): string =>
  JSON.stringify({ type: 'record', name: 'Thing', fields });

describeWith('registry', 'Apicurio Registry for tests', () => {
  let registry: RegistryService;
  beforeAll(async () => {
    registry = await startRegistry();
  }, TIMEOUT);
  afterAll(() => registry?.stop(), TIMEOUT);

  const post = (path: string, method: string, body: unknown): Promise<Response> =>
    fetch(`${registry.url}${path}`, { method, headers, body: JSON.stringify(body) });

  test('stores schemas, and refuses an incompatible one', async () => {
    const accepted = await post('/subjects/thing-value/versions', 'POST', {
      schema: record({ name: 'a', type: 'string' }),
    });
    expect(accepted.status).toBe(200);
    expect((await post('/config/thing-value', 'PUT', { compatibility: 'BACKWARD' })).status).toBe(200);
    const refused = await post('/subjects/thing-value/versions', 'POST', {
      schema: record({ name: 'a', type: 'string' }, { name: 'b', type: 'int' }),
    });
    expect(refused.status).toBe(409);
  });

  test(
    'keeps schemas, ids and rules after kill -9',
    async () => {
      const schema = record({ name: 'c', type: 'long' });
      const { id } = (await (await post('/subjects/kept-value/versions', 'POST', { schema })).json()) as { id: number };
      await registry.kill();
      await expect(fetch(`${registry.url}/subjects`)).rejects.toThrow('fetch failed');
      await registry.restart();
      const kept = (await (await fetch(`${registry.url}/schemas/ids/${id}`)).json()) as { schema: string };
      expect(JSON.parse(kept.schema)).toEqual(JSON.parse(schema));
      const config = (await (await fetch(`${registry.url}/config/thing-value`)).json()) as Record<string, string>;
      expect(Object.values(config)).toEqual(['BACKWARD']);
    },
    TIMEOUT,
  );

  test(
    'leaves nothing behind when it is stopped',
    async () => {
      await registry.stop();
      expect(existsSync(registry.dataDir)).toBe(false);
    },
    TIMEOUT,
  );
});
