import type { TokenProvider } from '@carillon/ports';
import { workspaceOf } from '@carillon/testing/given';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Control } from '../src/index.ts';
import { accessOf, openControl, personWith } from './control-fixture.ts';
import { openResourceFixture, type ResourceFixture } from './resource-fixture.ts';

type Answer = {
  readonly steps: readonly {
    readonly step: string;
    readonly ok: boolean;
    readonly detail: string;
    readonly title?: string;
  }[];
};

const SETTINGS = { jwks_url: 'https://auth.example.com/jwks', audience: 'https://events.example.com' };

describe('a check of settings that nobody has published', () => {
  let fixture: ResourceFixture;
  let control: Control;
  const inspected: (readonly [TokenProvider, string | null])[] = [];
  beforeAll(async () => {
    fixture = await openResourceFixture();
    await fixture.topology.publish(workspaceOf({}));
    const tokens = {
      inspect: async (provider: TokenProvider, token: string | null) => {
        inspected.push([provider, token]);
        return { steps: [{ step: 'key set', ok: true, detail: 'k1' }], claims: null };
      },
    };
    const access = accessOf(personWith('editor', ['read', 'configure'], 'shop'));
    const ports = { ...fixture.ports, tokens } as never;
    ({ control } = await openControl(access, ports));
  });
  beforeEach(() => void inspected.splice(0));
  afterAll(async () => {
    await control.close();
    await fixture.close();
  });

  const check = async (workspace: string, payload: object) => {
    const answer = await control.app.inject({
      method: 'POST',
      url: `/v1/workspaces/${workspace}/jwt-providers/new/check`,
      headers: { authorization: 'Bearer editor' },
      payload,
    });
    return { status: answer.statusCode, body: answer.json<Answer & { readonly detail?: string }>() };
  };

  it('fetches the keys of an unpublished provider with the settings as they would be published', async () => {
    const { status, body } = await check('shop', { settings: SETTINGS, token: 'a.b.c' });
    expect(status).toBe(200);
    expect(body.steps.map(({ step, title, ok }) => [step, title, ok])).toEqual([
      ['provider', 'What is asked', true],
      ['key set', 'Public JWK set', true],
      ['streams', 'Event streams', true],
    ]);
    expect(inspected).toMatchObject([
      [
        { workspace: 'shop', name: 'new', settings: { jwksUrl: SETTINGS.jwks_url, audiences: [SETTINGS.audience] } },
        'a.b.c',
      ],
    ]);
    expect((await check('shop', { token: 'a.b.c' })).status).toBe(404);
  });

  it('reports each mistake in the settings with its fix, and then fetches nothing', async () => {
    const { body } = await check('shop', { settings: { jwks_url: 'nowhere', algorithms: ['HS256'] } });
    expect(body.steps.map(({ step, ok }) => [step, ok])).toEqual([
      ['settings', false],
      ['settings', false],
    ]);
    expect(body.steps.map(({ detail }) => detail).join('\n')).toMatch(/jwks_url: .*[\s\S]*algorithms/);
    expect((await check('shop', { settings: null })).body.steps).toMatchObject([{ step: 'settings', ok: false }]);
    expect(inspected).toEqual([]);
  });

  it('needs permission to configure or operate the workspace', async () => {
    expect((await check('lab', { settings: SETTINGS })).status).toBe(403);
    expect(inspected).toEqual([]);
  });
});
