import { createIds, createSealing, loadKeys } from '@carillon/adapter-system';
import { CHANGED_BY_OWNER } from '@carillon/domain/configuration';
import type { DraftStore } from '@carillon/ports';
import { publishConfiguration } from '@carillon/stages';
import { changesOf, givenIds, settableClock } from '@carillon/testing/given';
import { createMemoryStores } from '@carillon/testing/memory';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openPeople, type Browser, type PeopleFixture } from '../../apps/control/test/people-fixture.ts';

const BOB = 'bob@example.com';
const BY = { kind: 'cli', id: 'owner' } as const;

let folder = '';
let fixture: PeopleFixture;
let owner: Browser;
let vault: ReturnType<typeof createSealing>['vault'];
let drafts: DraftStore;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'carillon-former-'));
  const keys = loadKeys(folder, { CARILLON_MASTER_KEY: 'a1'.repeat(32) });
  const store = createMemoryStores().connect().secretStore;
  const parts = { store, masterKeys: keys.masterKeys, ids: createIds(keys.ledgerKey), clock: settableClock() };
  ({ vault } = createSealing({ ...parts, ledgerKey: keys.ledgerKey, alone: (work) => work() }));
  drafts = createMemoryStores().connect().drafts;
  fixture = await openPeople({ vault, drafts });
  owner = await fixture.owner();
  for (const name of ['shop', 'club']) await make(name);
});
afterEach(async () => {
  await fixture.control.app.close();
  rmSync(folder, { recursive: true, force: true });
});

const make = async (workspace: string, key = 'k') => {
  const made = await owner.call('POST', `/v1/workspaces/${workspace}/api-keys`, { name: key, new_workspace: true });
  expect(made.status).toBe(201);
};

/** Removes a workspace with all that is in it, as a process does that dies right after it. */
async function removeWorkspace(workspace: string): Promise<void> {
  const { log, codecs, configuration, clock } = fixture;
  const ports = { log, codec: codecs.configuration, view: configuration, ids: givenIds, clock };
  const current = await configuration.refresh();
  const gone = [...current.resources.values()].filter(({ ref }) => ref.workspace === workspace);
  const wishes = gone.map(({ ref }) => ({ ref, body: null }));
  await publishConfiguration(
    { ...ports, readEverywhere: async () => undefined },
    changesOf(current, wishes),
    CHANGED_BY_OWNER,
  );
}

describe('A workspace that was removed', () => {
  it('and created again has no roles, tokens, invitations, secrets or drafts of the former one, and others keep theirs', async () => {
    const bob = await fixture.addPerson(BOB, { shop: 'editor', club: 'viewer' });
    const tokens = await Promise.all(
      [['shop'], ['shop', 'club'], ['club']].map(async (workspaces) => {
        const { body } = await owner.call<{ id: string }>('POST', '/v1/tokens', {
          name: 'job',
          scopes: ['read'],
          workspaces,
        });
        return body.id;
      }),
    );
    await owner.call('POST', '/v1/invitations', {
      email: 'eve@example.com',
      memberships: [{ workspace: 'shop', role: 'viewer' }],
    });
    await vault.set('shop', 'CRM_KEY', 'of the shop before', BY);
    await vault.set('club', 'CRM_KEY', 'of the club', BY);

    for (const workspace of ['shop', 'club']) {
      const ref = { kind: 'partial', workspace, name: 'foot' } as const;
      const body = { text: 'of before' };
      await drafts.replace({ ref, body, basedOn: null, revision: 'r1', begun: 'r1', by: BY, at: 0 }, null);
    }

    await removeWorkspace('shop');
    await make('shop', 'another');

    expect((await fixture.people.find('person', bob))?.body.memberships).toEqual([
      { workspace: 'club', role: 'viewer' },
    ]);
    const left = await Promise.all(tokens.map((id) => fixture.people.find('token', id)));
    expect(left.map((one) => one?.id ?? null)).toEqual([null, null, tokens[2]]);
    expect((await fixture.people.list('invitation', {}, 10)).items).toEqual([]);
    expect(await vault.list('shop')).toEqual([]);
    expect(await vault.list('club')).toHaveLength(1);
    expect((await drafts.held('shop')).drafts).toBe(0);
    expect((await drafts.held('club')).drafts).toBe(1);
  });

  it('keeps roles granted after its re-creation when it is changed', async () => {
    await removeWorkspace('shop');
    await make('shop', 'another');
    const bob = await fixture.addPerson(BOB, { shop: 'editor' });
    await make('shop', 'third');
    expect((await fixture.people.find('person', bob))?.body.memberships).toHaveLength(1);
  });
});
