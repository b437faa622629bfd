import type { PostgresPosition } from '@carillon/domain/changes';
import { ok, type Result } from '@carillon/kernel';
import type { ChangeSources, SourceEnd, SourceHandlers, SourceTarget } from '@carillon/ports';

/** A reader that was opened. The test says what it reads and how it ends. */
export type OpenedReader = {
  readonly target: SourceTarget;
  readonly tables: readonly string[];
  readonly from: PostgresPosition | null;
  readonly handlers: SourceHandlers;
  readonly isClosed: () => boolean;
  end(end: SourceEnd): void;
};

export const positionAt = (lsn: string, at = 1000): PostgresPosition => ({
  kind: 'postgres',
  systemId: '7301234567890123456',
  timeline: 1,
  slot: 'carillon_1',
  publication: 'carillon_1',
  publicationOid: 16_400,
  lsn,
  partial: null,
  at,
});

/** A database whose behaviour a test scripts. */
export function createScriptedSources() {
  const readers: OpenedReader[] = [];
  const dropped: string[] = [];
  const script = {
    readers,
    dropped,
    /** Number of times that an engine loaded the adapter. */
    loads: 0,
    reset: ok(positionAt('0/900', 9000)) as Awaited<ReturnType<ChangeSources['reset']>>,
    drop: ok(null) as Result<null, Extract<Awaited<ReturnType<ChangeSources['drop']>>, { ok: false }>['error']>,
    load: async (): Promise<ChangeSources> => {
      script.loads += 1;
      return sources;
    },
  };
  const sources: ChangeSources = {
    check: async () => ({ server: null, problems: [], warnings: [], tables: [] }),
    tables: async () => ok([]),
    open(target, tables, from, handlers) {
      const { promise, resolve } = Promise.withResolvers<SourceEnd>();
      let isClosed = false;
      readers.push({ target, tables, from, handlers, isClosed: () => isClosed, end: resolve });
      return {
        ended: promise,
        async close() {
          isClosed = true;
          resolve({ kind: 'closed', error: null });
        },
      };
    },
    reset: async () => script.reset,
    async drop(target, { slot }) {
      if (script.drop.ok) dropped.push(`${target.url} ${slot}`);
      return script.drop;
    },
    dropSql: ({ slot }) => `SELECT pg_drop_replication_slot('${slot}')`,
  };
  return script;
}
