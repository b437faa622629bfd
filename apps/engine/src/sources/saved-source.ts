import type { SourceState } from '@carillon/domain/changes';
import type { ConfiguredSource } from '@carillon/domain/configuration';
import type { Instant } from '@carillon/kernel';
import type { Clock, NewRecord, SourceStore, StoredSource } from '@carillon/ports';
import { firstState, secretsToKeep } from './open-source.ts';

/** Another process or a person has written the source since it was read. */
export class StaleSource extends Error {
  constructor() {
    super('another process or a person has changed the source');
    this.name = 'StaleSource';
  }
}

type Written = Partial<Omit<StoredSource, 'workspace' | 'integration' | 'version' | 'since'>>;

/** A stored source, and the writes of its one reader, one after the other. */
export type SavedSource = {
  readonly current: () => StoredSource;
  /** Replaces these fields, and appends records with them. Rejects with StaleSource if another version is stored. */
  save(fields: Written, records?: readonly NewRecord[]): Promise<void>;
};

/** Returns a source that is not stored yet. The database reports what it waits for before its first position. */
export function newSource(source: ConfiguredSource, now: Instant): StoredSource {
  const { workspace, name, body } = source;
  return {
    workspace,
    integration: name,
    kind: body.kind,
    version: 0,
    secrets: secretsToKeep(source),
    position: null,
    state: firstState(source),
    since: now,
    tables: [],
    lastChangeAt: null,
    lagBytes: null,
    reportedAt: now,
    reset: null,
    moved: false,
  };
}

export function createSavedSource(
  first: StoredSource,
  { sources, clock }: { readonly sources: SourceStore; readonly clock: Clock },
): SavedSource {
  let current = first;
  let last: Promise<unknown> = Promise.resolve();

  async function write(fields: Written, records: readonly NewRecord[]): Promise<void> {
    const at = clock.now();
    const isSame = fields.state === undefined || isSameState(fields.state, current.state);
    const since = isSame ? current.since : at;
    const next = { ...current, ...fields, since, reportedAt: at, version: current.version + 1 };
    if ((await sources.advance(next, records)) === 'stale') throw new StaleSource();
    current = next;
  }

  return {
    current: () => current,
    save(fields, records = []) {
      const written = last.then(() => write(fields, records));
      // The caller gets the error. The next write only waits for this one.
      last = written.catch(() => undefined);
      return written;
    },
  };
}

const isSameState = (one: SourceState, other: SourceState): boolean =>
  one.kind === other.kind && ('reason' in one ? one.reason : null) === ('reason' in other ? other.reason : null);
