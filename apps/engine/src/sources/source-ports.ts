import type { SourceState } from '@carillon/domain/changes';
import type { Duration, Instant } from '@carillon/kernel';
import type {
  AvroSchemaSource,
  ChangeSources,
  ConfigurationView,
  EventLog,
  EventLoopSlice,
  LeaseStore,
  RecordCodecs,
  Secrets,
  SourceRef,
  SourceStore,
  TopicSources,
} from '@carillon/ports';
import type { Progress } from '@carillon/runtime';
import type { ChangePorts, ChangeResult } from '@carillon/stages';

/** How a source is, for metrics and log. */
export type SourceFacts = {
  readonly state: SourceState;
  /** Everything up to then was read. Null if no position is known. */
  readonly readUntil: Instant | null;
  readonly lagBytes: number | null;
  /** Records behind the end of the topics. Null for a database. */
  readonly lagRecords: number | null;
};

export type SourceWatch = {
  trouble(where: string, error: unknown): void;
  /** Called every few seconds for each source that this process reads. `source` has its workspace. */
  sourceState(source: string, facts: SourceFacts): void;
  /** This process does not read the source any more. */
  sourceLeft(source: string): void;
  sourceChanges(source: string, result: ChangeResult, count: number): void;
  /** A reset was executed. `detail` says what was not read. */
  sourceReset(source: string, detail: string): void;
};

/** Times of the loop. Tests have shorter ones. */
export type SourceTiming = {
  /** How often requests of people are looked for. */
  readonly roundMs: Duration;
  readonly firstPauseMs: Duration;
  readonly longestPauseMs: Duration;
  /** How often state and lag are stored if nothing else is. */
  readonly reportMs: Duration;
  /** Time after which another engine takes over the source of a dead engine. */
  readonly leaseMs: Duration;
};

export type SourcePorts = ChangePorts & {
  readonly codecs: Pick<RecordCodecs, 'audit'>;
  readonly sources: SourceStore;
  /** Loads the adapters. Called for the first source, so that an engine without sources loads none. */
  readonly changeSources: () => Promise<ChangeSources>;
  /** Loads the adapter of Kafka, likewise. */
  readonly topicSources: () => Promise<TopicSources>;
  /** Loads the reader of schema registries, likewise. */
  readonly avroSchemas: () => Promise<AvroSchemaSource>;
  readonly configuration: Pick<ConfigurationView, 'current' | 'refresh'>;
  readonly secrets: Secrets;
  readonly leases: LeaseStore;
  readonly log: Pick<EventLog, 'logId' | 'partitions' | 'bounds'>;
  /** No other process has this store open, so no lease is needed. */
  readonly aloneOnStore?: boolean;
  readonly slice: EventLoopSlice;
  /** How far this process has evaluated events. */
  readonly progress: Progress;
  readonly watch: SourceWatch;
};

export const DEFAULT_TIMING: SourceTiming = {
  roundMs: 1_000,
  firstPauseMs: 500,
  longestPauseMs: 10_000,
  reportMs: 10_000,
  leaseMs: 10_000,
};

export const nameOf = ({ workspace, integration }: SourceRef): string => `${workspace}/${integration}`;
