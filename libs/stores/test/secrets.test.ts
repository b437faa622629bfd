import type { DataKey, SealedSecret } from '@carillon/ports';
import { describe, expect, it } from 'vitest';
import { freshName } from '@carillon/testing';
import { createMemoryStores } from '@carillon/testing/memory';

const secret = (workspace: string, name: string, more: Partial<SealedSecret> = {}): SealedSecret => ({
  workspace,
  name,
  version: 1,
  dataKey: 'dk_1',
  sealed: 'v2.a.b.c',
  fingerprint: 'ABCD',
  updatedAt: 1,
  updatedBy: { kind: 'cli', id: 'owner' },
  ...more,
});

const dataKey = (workspace: string, generation: number, more: Partial<DataKey> = {}): DataKey => ({
  id: `dk_${workspace}_${generation}`,
  workspace,
  generation,
  revision: 1,
  wraps: [{ master: 'M1', wrapped: 'w1.a.b.c' }],
  madeAt: 1,
  ...more,
});

describe('Secrets', () => {
  const store = createMemoryStores().connect().secretStore;
  const ofWorkspace = async (workspace: string): Promise<readonly DataKey[]> =>
    (await store.dataKeys()).filter((one) => one.workspace === workspace);

  it('stores a sealed secret, replaces the expected one, and removes it', async () => {
    const workspace = freshName('shop');
    expect(await store.secret(workspace, 'SMTP')).toBeNull();
    const first = secret(workspace, 'SMTP');
    expect(await store.putSecret(first, null)).toBe('done');
    const newer = secret(workspace, 'SMTP', {
      version: 2,
      dataKey: 'dk_2',
      sealed: 'v2.x.y.z',
      fingerprint: 'WXYZ',
      updatedAt: 2,
      updatedBy: { kind: 'person', id: 'per_1' },
    });
    expect(await store.putSecret(newer, first.sealed)).toBe('done');
    expect(await store.putSecret(newer, first.sealed)).toBe('done');
    expect(await store.secret(workspace, 'SMTP')).toEqual(newer);
    expect(await store.putSecret(secret(workspace, 'SMTP', { sealed: 'late' }), first.sealed)).toBe('stale');
    expect(await store.putSecret(secret(workspace, 'SMTP', { sealed: 'late' }), null)).toBe('stale');
    expect(await store.secret(workspace, 'SMTP')).toEqual(newer);
    expect(await store.removeSecret(workspace, 'SMTP')).toBe(true);
    expect(await store.removeSecret(workspace, 'SMTP')).toBe(false);
    expect(await store.secret(workspace, 'SMTP')).toBeNull();
    expect(await store.putSecret(newer, first.sealed)).toBe('stale');
  });

  it('accepts one of many concurrent replacements of a secret', async () => {
    const workspace = freshName('shop');
    const wishes = Array.from({ length: 10 }, (_, at) => secret(workspace, 'A', { sealed: `v2.${at}` }));
    const said = await Promise.all(wishes.map((wish) => store.putSecret(wish, null)));
    expect(said.filter((one) => one === 'done')).toHaveLength(1);
    expect((await store.secret(workspace, 'A'))?.sealed).toBe(wishes[said.indexOf('done')]?.sealed);
  });

  it('keeps workspaces apart, and lists by name', async () => {
    const [one, two] = [freshName('one'), freshName('two')];
    await store.putSecret(secret(two, 'B'), null);
    await store.putSecret(secret(one, 'A'), null);
    await store.putSecret(secret(two, 'A', { sealed: 'v2.other' }), null);
    expect((await store.secrets(two)).map(({ name: found }) => found)).toEqual(['A', 'B']);
    expect((await store.secret(one, 'A'))?.sealed).toBe('v2.a.b.c');
    const all = await store.secrets();
    expect(all.filter(({ workspace }) => workspace === one || workspace === two)).toHaveLength(3);
  });

  it('gives a key generation of a workspace to one of many concurrent writers', async () => {
    const workspace = freshName('shop');
    const made = Array.from({ length: 10 }, (_, at) => dataKey(workspace, 1, { id: `dk_${workspace}_${at}` }));
    const said = await Promise.all(made.map((key) => store.insertDataKey(key)));
    expect(said.filter(Boolean)).toHaveLength(1);
    expect(await ofWorkspace(workspace)).toEqual([made[said.indexOf(true)]]);
    expect(await store.insertDataKey(dataKey(workspace, 2))).toBe(true);
    expect((await ofWorkspace(workspace)).map(({ generation }) => generation)).toEqual([1, 2]);
  });

  it('stores another wrap of a data key only over the expected revision', async () => {
    const key = dataKey(freshName('shop'), 1);
    await store.insertDataKey(key);
    const second = { master: 'M2', wrapped: 'w1.d.e.f' };
    const both = { ...key, revision: 2, wraps: [...key.wraps, second] };
    expect(await store.rewrapDataKey(both)).toBe('done');
    expect(await store.rewrapDataKey(both)).toBe('done');
    expect(await store.rewrapDataKey({ ...key, revision: 2, wraps: [second] })).toBe('stale');
    expect(await ofWorkspace(key.workspace)).toEqual([both]);
    expect(await store.rewrapDataKey({ ...both, revision: 3, wraps: [second] })).toBe('done');
    expect((await ofWorkspace(key.workspace)).map(({ wraps }) => wraps)).toEqual([[second]]);
    expect(await store.rewrapDataKey({ ...dataKey(freshName('gone'), 1), revision: 2 })).toBe('stale');
  });

  it('removes a data key once no secret is sealed under it', async () => {
    const workspace = freshName('shop');
    const key = dataKey(workspace, 1);
    await store.insertDataKey(key);
    await store.putSecret(secret(workspace, 'A', { dataKey: key.id }), null);
    expect(await store.removeDataKey(key)).toBe(false);
    await store.putSecret(secret(workspace, 'A', { dataKey: 'another', sealed: 'v2.new' }), 'v2.a.b.c');
    expect(await store.removeDataKey(key)).toBe(true);
    expect(await ofWorkspace(workspace)).toEqual([]);
  });
});
