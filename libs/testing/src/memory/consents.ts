import type { Consents } from '@carillon/domain';
import type { ConsentStore } from '@carillon/ports';
import { pageOf } from './pages.ts';
import type { Wire } from './wire.ts';

/** What people want no more: a document for each person. */
export function createMemoryConsents() {
  const stored = new Map<string, Consents>();
  const keyOf = (workspace: string, person: string): string => JSON.stringify([workspace, person]);
  return {
    /** The document of a person, for a test that looks. */
    get: (workspace: string, person: string): Consents | null => stored.get(keyOf(workspace, person)) ?? null,
    connect: (wire: Wire): ConsentStore => ({
      find: (workspace, persons) =>
        wire.ask('consents.find', () =>
          [...new Set(persons)].flatMap((person) => stored.get(keyOf(workspace, person)) ?? []),
        ),
      replace: (next) => {
        const key = keyOf(next.workspace, next.person);
        const replace = (): 'done' | 'stale' => {
          if ((stored.get(key)?.version ?? 0) !== next.version - 1) return 'stale';
          stored.set(key, structuredClone(next));
          return 'done';
        };
        return wire.ask('consents.replace', replace, { writes: true, about: () => `${key} v${next.version}` });
      },
      unpublished: (before, limit) =>
        wire.ask('consents.unpublished', () =>
          [...stored.values()]
            .filter(({ unpublished, updatedAt }) => unpublished.length > 0 && updatedAt < before)
            .toSorted((a, b) => a.updatedAt - b.updatedAt)
            .slice(0, limit),
        ),
      list: (workspace, limit, cursor) =>
        wire.ask('consents.list', () =>
          pageOf(
            [...stored.entries()].filter(([, one]) => workspace === undefined || one.workspace === workspace),
            ([key]) => [0, key],
            ([, one]) => one,
            limit,
            cursor,
          ),
        ),
    }),
  };
}
