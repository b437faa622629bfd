import { listResources } from '@carillon/domain/configuration';
import { createRecordCodecs } from '@carillon/contracts';
import { expect, test } from 'vitest';
import { accessOf, openControl, personWith, TOKEN } from './control-fixture.ts';

/** Authors of the records of the configuration, oldest first. */
async function authorsOf({ log }: Awaited<ReturnType<typeof openControl>>): Promise<readonly string[]> {
  let schemas = 0;
  const registry = { register: async () => (schemas += 1), schema: async () => null };
  const { configuration } = await createRecordCodecs(registry, () => 0);
  const authors: string[] = [];
  for (const { value } of await log.read('carillon.config', 0, 0, 100)) {
    const decoded = configuration.decode(value);
    if (decoded.ok) authors.push(decoded.value.by.actor.id);
  }
  return authors;
}

test('Whoever changes the configuration is the author of its record, whatever the change is', async () => {
  const fixture = await openControl(accessOf(personWith('ann', ['configure'])));
  const { control, configuration } = fixture;
  const call = async (method: 'POST' | 'DELETE', url: string, payload?: object) => {
    const { statusCode } = await control.app.inject({ method, url, ...(payload && { payload }) });
    return statusCode;
  };
  expect(await call('POST', '/v1/workspaces/shop/api-keys', { name: 'backend' })).toBe(201);
  expect(await call('DELETE', '/v1/workspaces/shop/api-keys/backend')).toBe(200);
  expect(await authorsOf(fixture)).toEqual(['ann', 'ann']);
  expect(listResources(configuration.current(), 'api_key')).toEqual([]);
  await control.app.close();
});

test('A change with the owner token has the token as author; a change in a session opened with it has the person', async () => {
  const fixture = await openControl();
  const { app } = fixture.control;
  const opened = await app.inject({ method: 'POST', url: '/v1/session', payload: { word: TOKEN } });
  const [cookie = ''] = String(opened.headers['set-cookie']).split(';');
  const { person } = opened.json<{ person: string }>();
  for (const [name, headers] of [
    ['by-token', { authorization: `Bearer ${TOKEN}` }],
    ['by-session', { cookie, 'x-carillon': '1' }],
  ] as const) {
    const payload = { name };
    const made = await app.inject({ method: 'POST', url: '/v1/workspaces/shop/api-keys', headers, payload });
    expect(made.statusCode).toBe(201);
  }
  expect(await authorsOf(fixture)).toEqual(['owner', person]);
  await app.close();
});
