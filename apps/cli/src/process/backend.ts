import type { KafkaLogLine } from '@carillon/adapter-kafka';
import type { Check } from '@carillon/control';
import type { CarillonError, Instant } from '@carillon/kernel';
import type {
  CheckpointStore,
  Clock,
  ConfigurationStore,
  DeliveryLedger,
  DueTasks,
  EventLog,
  Inbox,
  LeaseStore,
  ReadModels,
  RuleStateStore,
  SchemaRegistry,
  SuppressionList,
} from '@carillon/ports';
import type { ReadinessCheck } from '@carillon/runtime';
import type { ProcessSettings } from './settings.ts';

/** Log, stores and schemas: all that the roles know of where they are. */
export type Backend = {
  readonly kind: 'embedded' | 'cluster';
  /** For the first line of the screen: `embedded, data in ./carillon-data`. */
  readonly place: string;
  readonly log: EventLog;
  readonly checkpoints: CheckpointStore;
  readonly ruleStates: RuleStateStore;
  readonly tasks: DueTasks;
  readonly ledger: DeliveryLedger;
  readonly suppressions: SuppressionList;
  readonly configurationStore: ConfigurationStore;
  readonly leases: LeaseStore;
  readonly readModels: ReadModels;
  readonly registry: SchemaRegistry;
  readonly inbox: Inbox;
  /** No other process has this data open: whatever a predecessor left under way is over. */
  readonly alone: boolean;
  /** What this process depends on, for `/readyz`. */
  readiness(): readonly ReadinessCheck[];
  /** What `doctor` says of it; looks at it now. */
  checks(): Promise<readonly Check[]>;
  /** Writes a consistent copy to a file. */
  backup(file: string): Promise<void>;
  /** Removes what is past its time. */
  applyRetention(now: Instant): Promise<void>;
  close(): Promise<void>;
};

export type BackendOptions = {
  readonly settings: ProcessSettings;
  readonly clock: Clock;
  /** Names the process to whoever finds it at work. */
  readonly holder: string;
  /** What the Kafka client says of its connections. */
  readonly kafkaSaid: (line: KafkaLogLine) => void;
  /** Called at most once: nothing that is done from now on can be right, so the process has to end. */
  readonly fatal: (error: CarillonError) => void;
};
