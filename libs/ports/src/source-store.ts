import type { SourceKind, SourcePosition, SourceState, TopicStart } from '@carillon/domain/changes';
import type { Actor } from '@carillon/domain/people';
import type { Instant } from '@carillon/kernel';
import type { TableReading } from './change-sources.ts';
import type { NewRecord } from './event-log.ts';

export type SourceRef = { readonly workspace: string; readonly integration: string };

/** A person's request to begin again. `span` is what was shown and is not read. */
export type ResetRequest = {
  readonly by: Actor;
  readonly reason: string;
  readonly at: Instant;
  /** Position that was shown to the person. */
  readonly from: SourcePosition | null;
  /** The person says that slot and publication are gone, so that a `leaving` source can end. */
  readonly gone: boolean;
  /** Where a Kafka source continues. Defaults to the oldest record. */
  readonly start?: TopicStart;
};

export type SourceSecrets = { readonly url: string; readonly ca: string | null };

export type StoredSource = SourceRef & {
  readonly kind: SourceKind;
  /** Counts the writes. */
  readonly version: number;
  /**
   * Names of the secrets with URL and CA, so that the slot can be dropped after the integration was removed. `ca` is null if
   * there is none. Null for Kafka, where nothing has to be dropped.
   */
  readonly secrets: SourceSecrets | null;
  /** Position of the source's kind. Null until slot and publication were made, or the topics were found. */
  readonly position: SourcePosition | null;
  readonly state: SourceState;
  /** Since when it is in this state, for this reason. */
  readonly since: Instant;
  readonly tables: readonly TableReading[];
  /** Append time of the newest change. */
  readonly lastChangeAt: Instant | null;
  /** Bytes of the database's log that are not read yet. Null for Kafka. */
  readonly lagBytes: number | null;
  /**
   * Records of the topics that are not read yet. If the source is stopped: records that the topics held then. Absent for PostgreSQL,
   * and until it is known.
   */
  readonly lagRecords?: number | null;
  /** When state and lag were reported. */
  readonly reportedAt: Instant;
  readonly reset: ResetRequest | null;
  /** Taken over by `carillon move`, and its integration was not in the configuration since. */
  readonly moved: boolean;
};

/**
 * Positions of sources on the log, and the state of each source. The positions are the source of truth: the database is
 * never told a later one. Writes are durable when they resolve. A rejected write may have happened.
 */
export type SourceStore = {
  load(ref: SourceRef): Promise<StoredSource | null>;
  /** Sources of a workspace, or of all. They are few: one for each database or Kafka cluster. */
  list(workspace?: string): Promise<readonly StoredSource[]>;
  /**
   * Appends records and replaces the source by `next` if the stored one has the version `next.version - 1`, or if there is
   * none and it is 1. Embedded, both happen in one commit or not at all. On a cluster the records are appended first, so a crash
   * repeats them under the same event ids. `stale`: another version is stored; embedded, nothing was appended then.
   */
  advance(next: StoredSource, records: readonly NewRecord[]): Promise<'done' | 'stale'>;
  /** Stores a person's request if the version is the given one. The reader takes it within seconds and clears it with `advance`. */
  requestReset(ref: SourceRef, version: number, request: ResetRequest): Promise<'done' | 'stale'>;
  /** Forgets the source, if the version is the given one. */
  remove(ref: SourceRef, version: number): Promise<'done' | 'stale'>;
};
