import { headDueAt, type DigestHead } from '@carillon/domain';
import type { DigestHeads } from '@carillon/ports';
import { pageOf } from './pages.ts';
import type { Wire } from './wire.ts';

/** The windows that items are collected in. `moved` is told of each write that was done. */
export function createMemoryDigestHeads(moved: (after: DigestHead) => void = () => undefined) {
  const stored = new Map<string, DigestHead>();
  const dueAt = (head: DigestHead): number => headDueAt(head) ?? Number.POSITIVE_INFINITY;
  const replace = (next: DigestHead): 'done' | 'stale' => {
    if ((stored.get(next.id)?.version ?? 0) !== next.version - 1) return 'stale';
    stored.set(next.id, structuredClone(next));
    moved(next);
    return 'done';
  };
  return {
    all: (): readonly DigestHead[] => [...stored.values()],
    connect: (wire: Wire): DigestHeads => ({
      get: (id) => wire.ask('heads.get', () => stored.get(id) ?? null, { about: () => id.slice(0, 12) }),
      replace: (next) =>
        wire.ask('heads.replace', () => replace(next), {
          writes: true,
          about: () => `${next.id.slice(0, 12)} v${next.version} window ${next.n} of ${next.items.length}`,
        }),
      dueWorkspaces: (now) =>
        wire.ask('heads.dueWorkspaces', () => [
          ...new Set([...stored.values()].filter((one) => dueAt(one) <= now).map(({ workspace }) => workspace)),
        ]),
      due: (workspace, now, limit) =>
        wire.ask('heads.due', () =>
          [...stored.values()]
            .filter((one) => one.workspace === workspace && dueAt(one) <= now)
            .toSorted((a, b) => dueAt(a) - dueAt(b))
            .slice(0, limit),
        ),
      nextDueAt: (until) =>
        wire.ask('heads.nextDueAt', () => {
          const next = Math.min(...[...stored.values()].map(dueAt));
          return next <= until && Number.isFinite(next) ? next : null;
        }),
      list: (limit, cursor) =>
        wire.ask('heads.list', () =>
          pageOf(
            [...stored.values()],
            ({ id }) => [0, id],
            (one) => one,
            limit,
            cursor,
          ),
        ),
    }),
  };
}
