import { NOWHERE, postgresPosition, type PostgresPosition, type SourceState } from '@carillon/domain/changes';
import {
  text,
  integer,
  type Collection,
  type Documents,
  type EventLog,
  type SourceRef,
  type SourceStore,
  type StoredSource,
  type WriteWithRecords,
} from '@carillon/ports';
import { readAll } from './documents.ts';
import type { Move } from './move.ts';

const SLOT_AHEAD: SourceState = { kind: 'stopped', reason: 'slot_ahead', detail: null, fix: null };

export const SOURCES: Collection<StoredSource> = {
  name: 'sources',
  key: ['workspace', 'integration'],
  version: { field: 'version', kind: 'counter' },
  fields: {
    workspace: text(({ workspace }) => workspace),
    integration: text(({ integration }) => integration),
    version: integer(({ version }) => version),
  },
  indexes: { workspace: { by: ['workspace', '_id'] } },
  restore: {
    // The restored log lacks the changes that the newer folder read. A slot of which the backup knows nothing would fill the
    // database's disk unseen. A Kafka source reads again from the position in the backup.
    carryOver(theirs, ours) {
      const slot = postgresPosition(theirs.position);
      return slot === null || readsSlot(ours, slot) ? null : { ...theirs, state: SLOT_AHEAD, reset: null };
    },
    // The span that a person saw ended when the backup was made. A slot that was made since then may have been read.
    settle: (source) => {
      const isUnmade = postgresPosition(source.position)?.lsn === NOWHERE && source.state.kind !== 'stopped';
      if (source.reset === null && !isUnmade) return source;
      const state = isUnmade ? SLOT_AHEAD : source.state;
      return { ...source, version: source.version + 1, state, reset: null };
    },
  },
};

/** Returns true if the source has a position in this slot, so that the reader sees what is missing. */
function readsSlot(source: StoredSource | null, { slot }: PostgresPosition): boolean {
  const ours = postgresPosition(source?.position ?? null);
  return ours?.slot === slot && ours.lsn !== NOWHERE;
}

const keyOf = ({ workspace, integration }: SourceRef) => [workspace, integration] as const;
const doneOrStale = (answer: string): 'done' | 'stale' => (answer === 'done' ? 'done' : 'stale');

export function createSourceStore(documents: Documents, writeWithRecords: WriteWithRecords): SourceStore {
  const sources = documents.collection(SOURCES);
  async function advance(...[next, records]: Parameters<SourceStore['advance']>): Promise<'done' | 'stale'> {
    const expected = next.version === 1 ? null : next.version - 1;
    return doneOrStale(
      records.length > 0
        ? await writeWithRecords(SOURCES, next, expected, records)
        : await sources.write(next, expected),
    );
  }
  return {
    load: (ref) => sources.get(keyOf(ref)),
    list: (workspace) => readAll(sources, { index: 'workspace', where: { workspace }, order: 'ascending' }),
    advance,
    async requestReset(ref, version, reset) {
      const source = await sources.get(keyOf(ref));
      return source?.version === version ? advance({ ...source, version: version + 1, reset }, []) : 'stale';
    },
    async remove(ref, version) {
      return doneOrStale(await sources.remove(keyOf(ref), version));
    },
  };
}

/** Appends before it writes the document, because log and documents are two stores. A crash in between repeats records and loses none. */
export const appendBeforeWrite =
  (log: Pick<EventLog, 'append'>, documents: Documents): WriteWithRecords =>
  async (collection, item, expected, records) => {
    await log.append(records);
    return documents.collection(collection).write(item, expected);
  };

/** The other deployment continues at the position. A source that it reads already stays as it is there. */
export const sourceMove: Move<SourceStore, StoredSource> = {
  async *read(store) {
    yield* await store.list();
  },
  async write(store, source) {
    return (await store.advance({ ...source, version: 1, reset: null, moved: true }, [])) === 'done';
  },
};
