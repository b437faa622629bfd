import type { Duration, EventId, Instant, JobId, LogId, RunId } from '@carillon/kernel';
import type { ResourceRef } from '../configuration/resources.ts';
import type { Actor } from '../people/actor.ts';
import type { RunCounts } from './counts.ts';
import type { VerifyCounts } from './finding.ts';

/** The time range of a run if the caller names none. */
export const DEFAULT_RUN_RANGE: Duration = 30 * 24 * 3_600_000;
/** Rows that a run keeps. Its counts cover all rows. */
export const MAX_RUN_ROWS = 100_000;
/** Rows that the child process sends to its parent in one message. */
export const ROW_BATCH_SIZE = 500;

/** The part of one partition of `carillon.events` that a run reads: from offset `first` up to and without `end`. */
export type RunOffsets = { readonly partition: number; readonly first: number; readonly end: number };

/** An edited resource without its body. */
export type RunChange = {
  readonly ref: ResourceRef;
  readonly action: 'create' | 'update' | 'delete';
  /** Revision of the draft that it comes from. Null if it comes from a folder or a body. */
  readonly revision: string | null;
};

/** Records of `carillon.events`: read so far, and in the range. */
export type RunProgress = { readonly read: number; readonly total: number };

/**
 * Fields of every kind of run. A run is one pass over a fixed range of the log, and fixes everything that its result
 * depends on.
 */
export type RunBase = {
  readonly id: RunId;
  readonly workspace: string;
  readonly by: Actor;
  /** Start of the time range, included. */
  readonly from: Instant;
  /** End of the time range, not included. */
  readonly to: Instant;
  /** Append time of the oldest event on the log if that is later than `from`; else null. */
  readonly logStartsAt: Instant | null;
  readonly logId: LogId;
  readonly offsets: readonly RunOffsets[];
  /** Number of the published configuration when the run was created. */
  readonly published: number;
  readonly progress: RunProgress;
  /** SHA-256 over the result, as 64 hexadecimal digits. Null until the run is done. */
  readonly checksum: string | null;
  /** The job that executes the run. State, end and reason of the run are those of the job. */
  readonly job: JobId;
  readonly createdAt: Instant;
  /** Grows by one with every write. */
  readonly version: number;
};

/** Evaluates each event by two configurations and keeps the messages on which they differ. */
export type CompareRun = RunBase & {
  readonly kind: 'compare';
  /** Number of the configuration of the side *before*. The side *after* is the published configuration with the edit applied. */
  readonly before: number;
  /** The edit; the run store keeps its bodies beside the run. Empty: *after* is the published configuration. */
  readonly changes: readonly RunChange[];
  /** Names of the notifications that differ between the sides, or those of them that the caller chose. Only their rules are evaluated. */
  readonly notifications: readonly string[];
  /** Integrations, streams and workspace settings that differ between the sides. The run does not compare what they change. */
  readonly notCompared: readonly Pick<ResourceRef, 'kind' | 'name'>[];
  /** Drafts of other people that have mistakes. They are no part of the edit. */
  readonly leftOut: readonly Pick<ResourceRef, 'kind' | 'name'>[];
  /** Null until the child process has reported for the first time. */
  readonly counts: RunCounts | null;
};

/** Part of one partition of a topic: from offset `first` up to and without `end`. */
export type TopicOffsets = RunOffsets & { readonly topic: VerifiedTopic };
/** Topics that a verification reads besides the events. */
export const VERIFIED_TOPICS = [
  'carillon.intents',
  'carillon.triggers',
  'carillon.lookups',
  'carillon.dead-letters',
] as const;
export type VerifiedTopic = (typeof VERIFIED_TOPICS)[number];

/** Evaluates each event again and compares the outputs with those on the log. Its offsets end where the engine had evaluated. */
export type VerifyRun = RunBase & {
  readonly kind: 'verify';
  readonly others: readonly TopicOffsets[];
  /** Offset behind the last answer of a partner that the engine had resolved, by partition of `carillon.lookups`. */
  readonly resolved: readonly number[];
  /** Records of the range that the engine had not evaluated. */
  readonly notEvaluated: number;
  /** Null until the child process has reported for the first time. */
  readonly counts: VerifyCounts | null;
};

/** Counts of a search, over events of the run's workspace. */
export type FindCounts = {
  readonly events: number;
  readonly found: number;
};

/** Searches past events for a text. The text itself is sealed beside the run until the run ends. */
export type FindRun = RunBase & {
  readonly kind: 'find';
  /** Keyed hash of the text. */
  readonly textHash: string;
  /** Null until the child process has reported for the first time. */
  readonly counts: FindCounts | null;
};

/** Events that a search keeps, the newest. Its counts cover all of them. */
export const MAX_FOUND_EVENTS = 1_000;

/** An event that holds the text of a search. */
export type FoundEvent = {
  readonly eventId: EventId;
  /** As text `topic/partition@offset`. */
  readonly position: string;
  /** Append time of the event. */
  readonly at: Instant;
};
export type RunEvent = FoundEvent & { readonly run: RunId };

/** Runs by kind. A new kind is one more line here, in `RUN_KINDS` of this file and of the control role, and in the child process. */
type Runs = { readonly compare: CompareRun; readonly verify: VerifyRun; readonly find: FindRun };

export type RunKindName = keyof Runs;
export type RunOf<Kind extends RunKindName> = Runs[Kind];
export type Run = RunOf<RunKindName>;
export const RUN_KINDS = ['compare', 'verify', 'find'] as const satisfies readonly RunKindName[];

/** Returns true if a run is of a kind. */
export const isRunOf = <Kind extends RunKindName>(run: Run, kind: Kind): run is RunOf<Kind> => run.kind === kind;
