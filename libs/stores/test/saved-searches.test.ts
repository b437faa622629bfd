import { createMemoryStores } from '@carillon/testing/memory';
import { describe, expect, it } from 'vitest';
import type { SavedSearch } from '../src/saved-searches.ts';

const search = (id: string, more: Partial<SavedSearch> = {}): SavedSearch => ({
  id,
  version: 1,
  workspace: 'shop',
  name: id,
  query: 'state:FAILED',
  createdAt: 1,
  ...more,
});

describe('Saved searches', () => {
  it('keeps one search for each name of a workspace', async () => {
    const { savedSearches } = createMemoryStores().connect();
    expect(await savedSearches.put(search('a', { name: 'failed' }))).toBe('done');
    expect(await savedSearches.put(search('b', { name: 'failed' }))).toBe('taken');
    expect(await savedSearches.put(search('b', { name: 'failed', workspace: 'club' }))).toBe('done');
    expect((await savedSearches.named('club', 'failed'))?.id).toBe('b');
  });

  it('lists the searches of a workspace, newest first', async () => {
    const { savedSearches } = createMemoryStores().connect();
    for (const createdAt of [1, 3, 2]) await savedSearches.put(search(`at-${createdAt}`, { createdAt }));
    await savedSearches.put(search('other', { workspace: 'club' }));
    expect((await savedSearches.list('shop')).map(({ id }) => id)).toEqual(['at-3', 'at-2', 'at-1']);
  });
});
