import type { ScratchFile } from '@carillon/adapter-embedded';
import type { VerifiedTopic, VerifyCounts, VerifyRun } from '@carillon/domain/runs';
import type { Instant } from '@carillon/kernel';
import type { EventHistory, Ids, RecordCodecs } from '@carillon/ports';
import type { FollowedConfiguration, PassPosition, RuleBook } from '@carillon/stages';
import type { StreamGap } from './gaps.ts';
import type { Pace } from './pace.ts';

/** What a verification needs. */
export type VerifyParts = {
  readonly run: VerifyRun;
  readonly history: Omit<EventHistory, 'registry' | 'close'>;
  readonly scratch: ScratchFile;
  readonly codecs: Pick<RecordCodecs, 'intent' | 'trigger' | 'lookup' | 'deadLetter'>;
  readonly configuration: Pick<FollowedConfiguration, 'at' | 'history'>;
  readonly book: RuleBook;
  readonly ids: Ids;
  readonly pace: Pace;
  /** Records of a page. Defaults to 500. */
  readonly pageRecords?: number | undefined;
};

/** Newest marker before an event. */
export type Mark = { readonly number: number; readonly semantics: number };

/** Topic and partition. */
export type RemovedFrom = `${VerifiedTopic}/${number}`;

/** State of a verification in its scratch file. */
export type VerifyState = {
  /** Other topics are copied first, then events are evaluated, then recorded answers, then what is left is named. */
  readonly phase: 'copy' | 'events' | 'answers' | 'rest';
  /** Index of the range that is read now, and the offset to read next. Null: its first offset. */
  readonly at: { readonly index: number; readonly next: number | null };
  /** Null: no marker was found yet. */
  readonly mark: Mark | null;
  /** How far rules with state have come in the range that is read now. Null: the range begins. */
  readonly pass: PassPosition | null;
  /** The newest gap of each stream and partition. */
  readonly gaps: readonly StreamGap[];
  /** Records of events that were read so far. */
  readonly read: number;
  /** Records of other topics that were read so far. */
  readonly copied: number;
  /** Append time up to which retention has removed records, by topic and partition. */
  readonly removedUntil: Readonly<Partial<Record<RemovedFrom, Instant>>>;
  readonly counts: VerifyCounts;
};
