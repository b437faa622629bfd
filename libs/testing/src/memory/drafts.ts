import { resourceKey, type Draft } from '@carillon/domain';
import type { DraftStore } from '@carillon/ports';
import { pageOf } from './pages.ts';
import type { Wire } from './wire.ts';

/** What people prepare: a draft for each resource. */
export function createMemoryDrafts() {
  const stored = new Map<string, Draft>();
  return {
    connect: (wire: Wire): DraftStore => ({
      find: (ref) => wire.ask('drafts.find', () => stored.get(resourceKey(ref)) ?? null),
      replace: (next, before) => {
        const key = resourceKey(next.ref);
        const replace = (): 'done' | 'stale' => {
          if ((stored.get(key)?.revision ?? null) !== before) return 'stale';
          stored.set(key, structuredClone(next));
          return 'done';
        };
        return wire.ask('drafts.replace', replace, { writes: true, about: () => `${key} ${next.revision}` });
      },
      remove: (ref, revision) => {
        const key = resourceKey(ref);
        const remove = (): 'done' | 'stale' => {
          const found = stored.get(key);
          if (found && found.revision !== revision) return 'stale';
          stored.delete(key);
          return 'done';
        };
        return wire.ask('drafts.remove', remove, { writes: true, about: () => `${key} ${revision}` });
      },
      held: (workspace) =>
        wire.ask('drafts.held', () => {
          const own = [...stored.values()].filter(({ ref }) => ref.workspace === workspace);
          const bytes = own.reduce((sum, one) => sum + Buffer.byteLength(JSON.stringify(one)), 0);
          return { drafts: own.length, bytes };
        }),
      revisions: (workspace) =>
        wire.ask('drafts.revisions', () =>
          [...stored.values()].flatMap(({ ref, revision }) => (ref.workspace === workspace ? [revision] : [])),
        ),
      list: (workspace, limit, cursor) =>
        wire.ask('drafts.list', () =>
          pageOf(
            [...stored.entries()].filter(([, one]) => workspace === undefined || one.ref.workspace === workspace),
            ([key]) => [0, key],
            ([, one]) => one,
            limit,
            cursor,
          ),
        ),
    }),
  };
}
