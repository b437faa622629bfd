import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { problem, sharedScriptedApi, type ScriptedApi } from './scripted-api.ts';

const LIST = 'GET /v1/workspaces/{workspace}/suppressions';
const ADD = 'POST /v1/workspaces/{workspace}/suppressions';

describe('the scripted API', () => {
  let api: ScriptedApi;
  beforeAll(async () => {
    api = await sharedScriptedApi();
  });
  afterEach(() => void api.reset());

  const ask = (path: string, body?: object): Promise<Response> =>
    fetch(
      `${api.url}/v1/workspaces/shop/${path}`,
      body && { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } },
    );

  it('answers a read with the example of the document unless the test has an answer', async () => {
    expect(await (await ask('suppressions')).json()).toEqual(api.example(LIST));
    api.answer(LIST, { items: [], next: null });
    expect(await (await ask('suppressions')).json()).toEqual({ items: [], next: null });
    expect(api.calls(LIST)).toHaveLength(2);
    expect(api.reset()).toEqual([]);
  });

  it.each([
    ['an operation that the document lacks', () => ask('nothing'), 'the document has no such operation'],
    ['a parameter that the document lacks', () => ask('suppressions?adress=bob'), 'adress: is no parameter'],
    ['a parameter with a wrong value', () => ask('suppressions?limit=0'), 'limit/value: must be >= 1'],
    [
      'a write without an answer',
      () => ask('suppressions', { channel: 'email', address: 'a@b.c' }),
      'no answer for it',
    ],
    [
      'a body that breaks the document',
      () => ask('suppressions', { channel: 'fax', address: 'a@b.c' }),
      'body/channel: must be equal to one of the allowed values',
    ],
  ])('reports %s', async (_what, call, fault) => {
    await call();
    expect(api.reset().join('\n')).toContain(fault);
  });

  it('reports an answer of the test that breaks the document', async () => {
    api.answer(LIST, { items: [{ address: 'bob@example.com' }], next: null });
    api.answer(ADD, problem(418, 'teapot', 'It is one.'));
    await ask('suppressions');
    await ask('suppressions', { channel: 'email', address: 'bob@example.com' });
    const faults = api.reset().join('\n');
    expect(faults).toContain("200/items/0: must have required property 'workspace'");
    expect(faults).toContain('has no response with status 418');
  });

  it('refuses an answer to an operation that the document lacks', () => {
    expect(() => api.answer('GET /v1/nothing', {})).toThrow('the document has no operation GET /v1/nothing');
  });

  it('prefers a path without parameters to one with them', async () => {
    await ask('deliveries/count?action=resend');
    expect(api.calls('GET /v1/workspaces/{workspace}/deliveries/count')).toHaveLength(1);
    expect(api.reset()).toEqual([]);
  });

  it('holds answers back until the test lets them go', async () => {
    const release = api.hold(LIST);
    const asked = ask('suppressions');
    await expect.poll(() => api.calls(LIST).length).toBe(1);
    release();
    expect((await asked).status).toBe(200);
  });
});
