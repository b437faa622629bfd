import type { Moment } from '@carillon/domain/deliveries';
import type { ErasureCounts, ErasureMatcher, IsOfPerson } from '@carillon/domain/erasures';
import type { EntityMemory } from '@carillon/domain/rules';
import type { LogRecord, TopicName } from './event-log.ts';

/** Verdict on a record: null keeps it, `value` replaces its value, and `erased` empties it. */
export type RecordVerdict = null | 'erased' | { readonly value: Uint8Array };

/** Says what of the log and of the stores is of a person. */
export type ErasureWork = {
  readonly matcher: ErasureMatcher;
  readonly isOfPerson: IsOfPerson;
  /** Returns true if an entity is the person itself, so that its whole memory is of the person. */
  readonly isEntityOfPerson: (entity: EntityMemory['entity']) => boolean;
  /**
   * Takes undecided things too. For a restored backup that no product runs over: nobody decides about what it holds any more.
   */
  readonly takesUndecided?: boolean;
  readonly judge: (record: LogRecord) => Promise<RecordVerdict>;
};

export type ErasureFindings = {
  readonly counts: ErasureCounts;
  /** Hash over the keys of everything that was found. Equal checksums mean that the same was found. */
  readonly checksum: string;
  /** Deliveries that are being sent or in doubt, by id, and questions to partners that are under way. They are not emptied. */
  readonly undecided: readonly string[];
};

/** Empties what the backend holds of a person, in place. Everything is safe to repeat. */
export type Eraser = {
  /** Finds everything without changing it. */
  find(work: ErasureWork): Promise<ErasureFindings>;
  /**
   * Empties everything that is not undecided, and returns what it found. Records from `unreadFrom` on stay, because a consumer has not read them.
   */
  erase(
    work: ErasureWork,
    unreadFrom: (topic: TopicName, partition: number) => number,
    moment: Moment,
  ): Promise<ErasureFindings>;
  /**
   * Ends the workers of all consumers, so that none holds in memory what was erased. Resolves to a function that starts new ones.
   */
  pauseConsumers(): Promise<() => void>;
  /** Rewrites the files, so that no byte of what was emptied is left in them. Rejects with `no_room` if the disk is too full. */
  rewrite(): Promise<void>;
};
