import type { SentToPerson } from '@carillon/domain';
import type { LimitStore } from '@carillon/ports';
import { pageOf } from './pages.ts';
import type { Wire } from './wire.ts';

/** What was sent to people, as far as limits count it: a document for each person. */
export function createMemoryLimits() {
  const stored = new Map<string, SentToPerson>();
  const keyOf = (workspace: string, person: string): string => JSON.stringify([workspace, person]);
  return {
    /** The document of a person, for a test that looks. */
    get: (workspace: string, person: string): SentToPerson | null => stored.get(keyOf(workspace, person)) ?? null,
    connect: (wire: Wire): LimitStore => ({
      find: (workspace, person) => wire.ask('limits.find', () => stored.get(keyOf(workspace, person)) ?? null),
      replace: (next, before) => {
        const key = keyOf(next.workspace, next.person);
        const replace = (): 'done' | 'stale' => {
          if ((stored.get(key)?.revision ?? null) !== before) return 'stale';
          stored.set(key, structuredClone(next));
          return 'done';
        };
        return wire.ask('limits.replace', replace, { writes: true, about: () => `${key} ${next.revision}` });
      },
      list: (workspace, limit, cursor) =>
        wire.ask('limits.list', () =>
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
