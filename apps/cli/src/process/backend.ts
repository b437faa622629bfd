import type { FoundWal } from '@carillon/adapter-embedded';
import type { KafkaLogLine } from '@carillon/adapter-kafka';
import type { Check } from '@carillon/control';
import type { TopicRetention } from '@carillon/contracts';
import type { NamedRetention } from '@carillon/domain/configuration';
import type { CarillonError, Instant, JobId } from '@carillon/kernel';
import type { Clock, ErasureSteps, EventLog, SchemaRegistry, EventLoopSlice } from '@carillon/ports';
import type { Stores } from '@carillon/stores';
import type { ReadinessCheck } from '@carillon/runtime';
import type { ErasedRecords } from './erased-records.ts';
import type { ProcessSettings } from './settings.ts';

/** Log, stores and schemas: all that the roles know of where they are. */
export type Backend = Stores & {
  readonly kind: 'embedded' | 'cluster';
  /** Text for the first line of the screen: `embedded, data in ./carillon-data`. */
  readonly place: string;
  readonly log: EventLog;
  readonly registry: SchemaRegistry;
  /** No other process has this data open: whatever a predecessor left under way is over. */
  readonly alone: boolean;
  /** Offsets by partition of `carillon.events`. A restore cancels messages of events below them. */
  readonly calledOffBelow: ReadonlyMap<number, number>;
  /** Offsets by partition of `carillon.cohorts`. A restore cancels the effects of messages below them. */
  readonly calledOffCohortsBelow: ReadonlyMap<number, number>;
  /** Sending jobs whose messages a restore called off. */
  readonly calledOffJobs: ReadonlySet<JobId>;
  /** The write-ahead log of the data file that a process left which did not stop in order; null where there was none. */
  readonly foundWal: FoundWal | null;
  /** Returns the dependencies of this process for `/readyz`. */
  readiness(): readonly ReadinessCheck[];
  /**
   * Returns the checks of `doctor` for this backend, within seconds. The checks `Kafka` and `database` fail if the
   * servers are unreachable. Never rejects.
   */
  checks(retention: NamedRetention): Promise<readonly Check[]>;
  /** How an erasure empties log and stores. */
  readonly erasure: ErasureSteps;
  /** Records of a log that cannot be changed. Null on one machine, where they are overwritten. */
  readonly erasedRecords: ErasedRecords | null;
  /** Rejects with CarillonError `wrong_usage` if roles of other processes work on this data. */
  refuseRunningRoles(): Promise<void>;
  /** Writes a consistent copy to a file. */
  backup(file: string): Promise<void>;
  /** Retention of topics that the configuration does not name. */
  readonly defaultRetention: TopicRetention;
  /** Removes what is past its time. */
  applyRetention(now: Instant, retention: NamedRetention): Promise<void>;
  close(): Promise<void>;
};

export type BackendOptions = {
  readonly settings: ProcessSettings;
  readonly clock: Clock;
  /** Event loop slice of the process, if other roles run beside the backend. */
  readonly slice?: EventLoopSlice;
  /** Name of this process in leases and locks, for other processes. */
  readonly holder: string;
  /** Is told when the data of an older version begins to be brought forward. */
  readonly migrating?: (from: number, to: number) => void;
  /** Called with each connection log line of the Kafka client. */
  readonly kafkaSaid: (line: KafkaLogLine) => void;
  /** Called at most once: nothing that is done from now on can be right, so the process has to end. */
  readonly fatal: (error: CarillonError) => void;
};
