import { ok } from '@carillon/kernel';
import type { SourceTarget } from '@carillon/ports';
import { describe, expect, it } from 'vitest';
import { createLazyChangeSources } from './lazy-change-sources.ts';

const target: SourceTarget = { workspace: 'shop', integration: 'shop-db', url: 'postgres://db', ca: null };
const looking = {
  check: async () => ({ server: 'PostgreSQL 15', problems: [], warnings: [] }),
  tables: async () => ok([]),
};

describe('the reader of databases', () => {
  it('is loaded once, when it is first asked', async () => {
    let loads = 0;
    const sources = createLazyChangeSources(async () => {
      loads += 1;
      return looking;
    });
    expect(loads).toBe(0);
    const [check, tables] = await Promise.all([sources.check(target), sources.tables(target)]);
    expect([check.server, tables.ok, loads]).toEqual(['PostgreSQL 15', true, 1]);
  });

  it('is loaded again after a load that failed', async () => {
    let loads = 0;
    const sources = createLazyChangeSources(async () => {
      loads += 1;
      if (loads === 1) throw new Error('no file descriptor left');
      return looking;
    });
    await expect(sources.check(target)).rejects.toThrow('no file descriptor left');
    expect((await sources.check(target)).server).toBe('PostgreSQL 15');
  });
});
