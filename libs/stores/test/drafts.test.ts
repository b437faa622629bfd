import type { Draft } from '@carillon/domain/configuration';
import { describe, expect, it } from 'vitest';
import { allPages, freshName } from '@carillon/testing';
import { createMemoryStores } from '@carillon/testing/memory';

const draft = (workspace: string, name: string, revision: string, more: Partial<Draft> = {}): Draft => ({
  ref: { kind: 'notification', workspace, name },
  body: { name: 'Order paid' },
  basedOn: 4,
  revision,
  begun: 'r0',
  by: { kind: 'person', id: 'prs_ada' },
  at: 10,
  ...more,
});

describe('Drafts', () => {
  const store = createMemoryStores().connect().drafts;

  it('finds the draft of a resource by workspace, kind and name, as it was written', async () => {
    const workspace = freshName('shop');
    const paid = draft(workspace, 'paid', 'r1', {
      body: { rules: { constructor: { when: 'true' } }, text: 'Grüße ✓' },
    });
    const { ref } = paid;
    expect(await store.find(ref)).toBeNull();
    expect(await store.replace(paid, null)).toBe('done');
    expect(await store.find(ref)).toEqual(paid);
    expect(await store.find({ ...ref, kind: 'template' })).toBeNull();
    expect(await store.find({ ...ref, name: 'Paid' })).toBeNull();
    expect(await store.find({ ...ref, workspace: freshName('other') })).toBeNull();
  });

  it('stores a removal, and the draft of a new resource', async () => {
    const workspace = freshName('shop');
    const removal = draft(workspace, 'paid', 'r1', { body: null });
    const fresh = draft(workspace, 'new', 'r2', { basedOn: null });
    for (const one of [removal, fresh]) await store.replace(one, null);
    expect(await store.find(removal.ref)).toEqual(removal);
    expect(await store.find(fresh.ref)).toEqual(fresh);
  });

  it('writes only over the expected revision', async () => {
    const workspace = freshName('shop');
    const [first, second] = [draft(workspace, 'paid', 'r1'), draft(workspace, 'paid', 'r2', { body: null })];
    expect(await store.replace(second, 'r1')).toBe('stale');
    expect(await store.find(first.ref)).toBeNull();
    expect(await store.replace(first, null)).toBe('done');
    expect(await store.replace(second, null)).toBe('stale');
    expect(await store.replace(second, 'r0')).toBe('stale');
    expect(await store.find(first.ref)).toEqual(first);
    expect(await store.replace(second, 'r1')).toBe('done');
    expect(await store.replace(draft(workspace, 'paid', 'r3'), 'r1')).toBe('stale');
    expect(await store.find(first.ref)).toEqual(second);
  });

  it('lets one of many concurrent writers of a revision win, the first as well as a later one', async () => {
    const workspace = freshName('shop');
    for (const before of [null, 'r0']) {
      const resource = `after-${before}`;
      if (before !== null) await store.replace(draft(workspace, resource, before), null);
      const many = Array.from({ length: 8 }, (_, at) => draft(workspace, resource, `r${at + 1}`));
      const answers = await Promise.all(many.map((one) => store.replace(one, before)));
      expect(answers.filter((answer) => answer === 'done')).toHaveLength(1);
      expect(await store.find(draft(workspace, resource, '').ref)).toEqual(many[answers.indexOf('done')]);
    }
  });

  it('removes only the draft of the given revision; a removal may be repeated', async () => {
    const workspace = freshName('shop');
    const [first, second] = [draft(workspace, 'paid', 'r1'), draft(workspace, 'paid', 'r2')];
    await store.replace(first, null);
    await store.replace(second, 'r1');
    expect(await store.remove(first.ref, 'r1')).toBe('stale');
    expect(await store.find(first.ref)).toEqual(second);
    expect(await store.remove(first.ref, 'r2')).toBe('done');
    expect(await store.find(first.ref)).toBeNull();
    expect(await store.remove(first.ref, 'r2')).toBe('done');
    expect(await store.replace(draft(workspace, 'paid', 'r3'), null)).toBe('done');
    expect(await store.remove(first.ref, 'r2')).toBe('stale');
  });

  it('counts the drafts of a workspace and their bytes', async () => {
    const workspace = freshName('shop');
    expect(await store.held(workspace)).toEqual({ drafts: 0, bytes: 0 });
    for (const one of ['a', 'b', 'c']) await store.replace(draft(workspace, one, 'r1'), null);
    await store.replace(draft(freshName('other'), 'a', 'r1'), null);
    await store.remove(draft(workspace, 'b', 'r1').ref, 'r1');
    const { drafts, bytes } = await store.held(workspace);
    expect(drafts).toBe(2);
    const long = draft(workspace, 'a', 'r2', { body: { text: 'ü'.repeat(1000) } });
    await store.replace(long, 'r1');
    const grown = (await store.held(workspace)).bytes - bytes;
    expect(grown).toBeGreaterThan(1900);
    expect(grown).toBeLessThan(2100);
  });

  it('reads the revisions of the drafts of a workspace', async () => {
    const workspace = freshName('shop');
    expect(await store.revisions(workspace)).toEqual([]);
    for (const one of ['a', 'b', 'c']) await store.replace(draft(workspace, one, `r-${one}`), null);
    await store.replace(draft(freshName('other'), 'a', 'r-other'), null);
    await store.replace(draft(workspace, 'a', 'r-later'), 'r-a');
    await store.remove(draft(workspace, 'b', '').ref, 'r-b');
    expect((await store.revisions(workspace)).toSorted()).toEqual(['r-c', 'r-later']);
  });

  it('stores a body of a mebibyte', async () => {
    const long = draft(freshName('shop'), 'long', 'r1', { body: { text: 'ü'.repeat(512 * 1024) } });
    await store.replace(long, null);
    expect(await store.find(long.ref)).toEqual(long);
  });

  it('lists pages that neither repeat nor skip while drafts arrive and change', async () => {
    const workspace = freshName('shop');
    const made = Array.from({ length: 5 }, (_, at) => `paid-${at}`);
    for (const one of made) await store.replace(draft(workspace, one, 'r0'), null);
    await store.replace(draft(freshName('other'), 'paid', 'r0'), null);
    let revision = 0;
    const seen = await allPages(
      (cursor) => store.list(workspace, 2, cursor),
      async () => {
        await store.replace(draft(workspace, freshName('new'), 'r0'), null);
        await store.replace(draft(workspace, 'paid-0', `r${revision + 1}`), `r${revision}`);
        revision += 1;
      },
    );
    expect(new Set(seen.map(({ ref }) => ref.workspace))).toEqual(new Set([workspace]));
    const names = seen.map(({ ref }) => ref.name).filter((one) => made.includes(one));
    expect(names.toSorted()).toEqual(made);
    expect((await store.list(undefined, 3)).items).toHaveLength(3);
  });
});
