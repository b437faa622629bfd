import type { Moment } from '@carillon/domain/deliveries';
import type { ErasureCounts, ErasureMatcher, ErasurePlace, IsOfPerson } from '@carillon/domain/erasures';
import type { EntityMemory } from '@carillon/domain/rules';
import type { Instant } from '@carillon/kernel';
import type { EventLog, LogRecord, TopicName } from './event-log.ts';

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
  /** Records of `carillon.events` have to be judged first, because others are judged by which events were erased. */
  readonly judge: (record: LogRecord) => Promise<RecordVerdict>;
  /** Returns true for an event whose record was erased or judged as `erased`, now or in an earlier erasure. */
  readonly isErasedEvent: (id: string | null) => boolean;
};

export type ErasureFindings = {
  readonly counts: ErasureCounts;
  /** Hash over the keys of everything that was found. Equal checksums mean that the same was found. */
  readonly checksum: string;
  /** Deliveries that are being sent or in doubt, by id, and questions to partners that are under way. They are not emptied. */
  readonly undecided: readonly string[];
};

/** Record of the person with its new headers and value. */
export type FoundRecord = Pick<LogRecord, 'offset' | 'headers' | 'value'> & {
  /** True if the new value is empty. */
  readonly isErased: boolean;
  /** Value from which the new one was made. */
  readonly found: Uint8Array;
};

/** Records of the person in one page of the log. `streams`: whose events are among them. */
export type FoundPage = {
  readonly topic: TopicName;
  readonly partition: number;
  readonly records: readonly FoundRecord[];
  readonly streams: readonly string[];
};

/** Entry of a store that is of the person. */
export type FoundEntry = {
  readonly place: ErasurePlace;
  readonly key: string;
  /** Id of a delivery or question that is undecided, so that the entry stays for now. Null: it can be emptied. */
  readonly undecided: string | null;
  /** Empties or deletes the entry, unless somebody has written it since it was read. */
  erase(): Promise<void>;
};

/** Steps of an erasure that differ by backend. Each is safe to repeat. */
export type ErasureSteps = {
  readonly log: Pick<EventLog, 'partitions' | 'bounds' | 'read'>;
  /** Topics whose records may hold something of the people who are notified. */
  readonly topics: readonly TopicName[];
  /** Gives other work a turn between two pages. */
  pause(): Promise<unknown>;
  /** Reads the stores, and yields what of each page is of the person. */
  entries(work: ErasureWork, moment: Moment): AsyncIterable<readonly FoundEntry[]>;
  /**
   * Puts what takes their place in the place of records, for every reader. Empties samples of fields of their streams, and dismisses dead
   * letters whose records are among them. Durable when it resolves.
   */
  eraseRecords(page: FoundPage, moment: Moment): Promise<void>;
  /**
   * Ends the workers of all consumers, because their memory could be of the person. Resolves to a function that lets new ones begin. On a cluster
   * they begin at once.
   */
  pauseConsumers(): Promise<() => void>;
  /**
   * Called once everything is emptied. On one file: rewrites it, so that no byte of what was emptied is left. Rejects with `no_room` if the disk
   * is too full. On a cluster: resolves when no process shows a record that was erased.
   */
  finish(): Promise<void>;
  /**
   * Resolves to the instant by which retention has removed records that are on the log now, or to null if they are overwritten. Rejects with
   * CarillonError `wrong_state` if a topic with personal data is kept forever, naming the topic.
   */
  bytesUntil(now: Instant): Promise<Instant | null>;
};

/** Empties what the backend holds of a person. Everything is safe to repeat. */
export type Eraser = Pick<ErasureSteps, 'pauseConsumers' | 'finish' | 'bytesUntil'> & {
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
};
