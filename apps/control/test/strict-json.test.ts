import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openControl, publishWishes, TOKEN, type Fixture } from './control-fixture.ts';

let fixture: Fixture;
/** Every operation that takes a JSON body: method and path. */
let operations: readonly (readonly [string, string])[];
beforeAll(async () => {
  fixture = await openControl();
  await publishWishes(fixture, [{ ref: { kind: 'workspace', workspace: 'x', name: '' }, body: { name: 'X' } }]);
  operations = Object.entries(fixture.control.description().paths ?? {}).flatMap(([path, methods]) =>
    Object.entries(methods ?? {}).flatMap(([method, operation]) => {
      const { requestBody } = operation as { requestBody?: { content: Record<string, unknown> } };
      return requestBody?.content['application/json'] ? [[method.toUpperCase(), path] as const] : [];
    }),
  );
});
afterAll(() => fixture.control.app.close());

async function codeOf(method: string, path: string, payload: string | Buffer): Promise<string> {
  const url = path.replaceAll(/\{\w+\}/g, 'x');
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
  const answer = await fixture.control.app.inject({ method: method as 'POST', url, headers, payload });
  return answer.json<{ code: string }>().code;
}

describe('Every operation of the management API that takes JSON', () => {
  const nested = `${'['.repeat(40)}${']'.repeat(40)}`;
  const many = JSON.stringify(Object.fromEntries(Array.from({ length: 20_001 }, (_, at) => [`k${at}`, 0])));
  it.each([
    ['a field that is there twice', '{"a":1,"a":2}', 'duplicate_key'],
    ['an escaped spelling of the same field', '{"a":1,"\\u0061":2}', 'duplicate_key'],
    ['text behind the value', '{"a":1} {}', 'invalid_json'],
    ['a field named __proto__', '{"__proto__":{"a":1}}', 'forbidden_key'],
    ['half a character', '{"a":"\\ud800"}', 'invalid_json'],
    ['bytes that are not UTF-8', Buffer.from([0x22, 0xff, 0x22]), 'invalid_json'],
    ['more than 32 levels', nested, 'too_deep'],
    ['a number that doubles cannot hold', '{"a":1e999}', 'number_out_of_range'],
  ])('refuses %s', async (_words, payload, code) => {
    expect(operations.length).toBeGreaterThan(50);
    const refused = await Promise.all(
      operations.map(async ([method, path]) => [`${method} ${path}`, await codeOf(method, path, payload)]),
    );
    expect(refused.filter(([, found]) => found !== code)).toEqual([]);
  });

  it('refuses 20,000 fields, except on routes with larger bodies', async () => {
    expect(await codeOf('POST', '/v1/session', many)).toBe('too_many_keys');
    expect(await codeOf('POST', '/v1/configuration/plan', many)).toBe('invalid_request');
  });
});
