import type { PlanOptions } from '@carillon/configuration';
import type { TopicRetention } from '@carillon/contracts';
import type {
  AuditSeals,
  ChangeSources,
  CheckpointStore,
  Clock,
  CohortPages,
  CohortStore,
  ConsentStore,
  DraftStore,
  DeliveryLedger,
  DueTasks,
  Eraser,
  ErasureStore,
  EventLog,
  ExpressionLanguage,
  IdentityProviders,
  Ids,
  Inbox,
  JobStore,
  IdempotencyStore,
  KeyRotation,
  KeyUseStore,
  LeaseStore,
  LimitStore,
  LinkTokens,
  LookupClaims,
  PartnerLookup,
  PeopleStore,
  ReadModels,
  RuleStateStore,
  RecordCodecs,
  RunStore,
  SecretPlaces,
  SecretVault,
  Secrets,
  SourceStore,
  SenderFactory,
  SuppressionList,
  MjmlCompiler,
  TemplateRenderer,
  TokenVerifier,
  EventLoopSlice,
  TopicName,
  TopicSources,
} from '@carillon/ports';
import type { AuditSeal } from '@carillon/domain/audit';
import type { Duration, Instant } from '@carillon/kernel';
import type { ConsumerWatch } from '@carillon/runtime';
import type { RunChild } from './runs/run-child.ts';
import type { CompileRule, FollowedConfiguration, RuleBook } from '@carillon/stages';

/** Keys of the intake, as the management API makes them. */
export type ApiKeyMaker = { make(): { readonly key: string; readonly keyId: string; readonly digest: string } };

/** Seals what has to be read again, each text bound to what it is of: the secret of an authenticator to its person. */
export type FactorSealer = {
  seal(boundTo: readonly string[], text: string): string;
  /** Decrypts a text. Null if it was encrypted with another key, or bound to something else. */
  open(boundTo: readonly string[], sealed: string): string | null;
};

export type ErasingPorts = {
  readonly eraser: Eraser;
  /** Resolves to the first offset of each partition that a consumer has not read, infinite without a consumer. */
  readonly unreadOffsets: () => Promise<(topic: TopicName, partition: number) => number>;
  /** Topics that a consumer reads. */
  readonly readTopics: readonly TopicName[];
  /** Runs while no backup is written and no other erasure runs. */
  readonly alone: <Value>(work: () => Promise<Value>) => Promise<Value>;
  /** Throws CarillonError `no_room` if the disk has no room to rewrite the data file. */
  readonly requireRoom: () => Promise<void>;
};

export type Check = {
  readonly step: string;
  readonly ok: boolean;
  readonly detail: string;
  /** SQL, command or line to copy. Left out: none. */
  readonly fix?: string | null;
};

export type ControlPorts = {
  readonly log: EventLog;
  readonly checkpoints: CheckpointStore;
  readonly ruleStates: Pick<RuleStateStore, 'load' | 'waiting'>;
  readonly ledger: DeliveryLedger;
  readonly limits: Pick<LimitStore, 'find'>;
  readonly tasks: DueTasks;
  readonly claims: LookupClaims;
  /** Only for `integration check`. The engine makes the real calls to partners. */
  readonly partners: PartnerLookup;
  /** Only for `integration check`, as `partners`. */
  readonly cohortPages: CohortPages;
  readonly cohorts: CohortStore;
  readonly sources: Pick<SourceStore, 'load' | 'list' | 'requestReset'>;
  /** Loads what checks databases and lists their tables. The engine reads their changes. */
  readonly changeSources: () => Promise<Pick<ChangeSources, 'check' | 'tables'>>;
  /** Checks Kafka clusters and lists their topics. */
  readonly topicSources: () => Promise<Pick<TopicSources, 'check' | 'topics'>>;
  readonly suppressions: SuppressionList;
  readonly consents: ConsentStore;
  readonly drafts: DraftStore;
  readonly jobs: JobStore;
  readonly runs: RunStore;
  readonly runChild: RunChild;
  /** Returns how long the log keeps an open dead letter. Null if it stays until a person redrives or dismisses it. */
  readonly deadLettersKept: () => Duration | null;
  /** Retention that a topic gets when `carillon.yaml` names it no longer. Null on Kafka, where it keeps its own. */
  readonly unnamedRetention: TopicRetention | null;
  readonly idempotency: IdempotencyStore;
  /** Seals answers that are kept: some show a key or a link this once. */
  readonly answerSealer: FactorSealer;
  readonly readModels: ReadModels;
  readonly inbox: Inbox;
  readonly erasures: ErasureStore;
  /** What erases a person. */
  readonly erasing: ErasingPorts;
  readonly configuration: FollowedConfiguration;
  readonly codecs: RecordCodecs;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly slice: EventLoopSlice;
  readonly secrets: Secrets & SecretPlaces;
  readonly vault: SecretVault;
  readonly rotation: KeyRotation;
  readonly apiKeys: ApiKeyMaker;
  readonly auditSeals: AuditSeals;
  /** Leases for work that one control process does for all, such as sealing the audit. */
  readonly leases: Pick<LeaseStore, 'acquire' | 'release'>;
  readonly keyUses: Pick<KeyUseStore, 'lastUses'>;
  readonly people: PeopleStore;
  readonly factorSealer: FactorSealer;
  /** Seals what a browser keeps while its person is at an identity provider. */
  readonly signInSealer: FactorSealer;
  /** Encrypts the data that an undo restores, while the client keeps it. */
  readonly undoSealer: FactorSealer;
  /** Seals the text that a run searches for, until the run ends. */
  readonly runSealer: FactorSealer;
  readonly identityProviders: IdentityProviders;
  readonly senders: readonly SenderFactory[];
  readonly expressions: ExpressionLanguage;
  readonly templates: TemplateRenderer;
  readonly mjml: MjmlCompiler;
  /** Only for the links of previews. */
  readonly links: Pick<LinkTokens, 'seal'>;
  readonly tokens: Pick<TokenVerifier, 'inspect'>;
  readonly compileRule: CompileRule;
  /** Resolves when no gateway admits requests any more with a configuration that it read before this time. */
  readonly readEverywhere: (since: Instant) => Promise<void>;
  /** Writes a consistent copy of data and keys to a new file of this machine. */
  readonly backup: (file: string) => Promise<{ readonly bytes: number }>;
  /**
   * Checks that need the composition root: stores, indexes, clock, keys. Never rejects, and resolves within seconds.
   */
  readonly diagnose: () => Promise<readonly Check[]>;
  readonly watch: ConsumerWatch & {
    trouble(where: string, error: unknown): void;
    /** Reports an audit seal, so that others can store it. */
    sealed(seal: Pick<AuditSeal, 'hash' | 'mac' | 'through'>, contents: string): void;
  };
};

export type ControlConfig = {
  readonly version: string;
  readonly backend: 'embedded' | 'cluster';
  readonly host: string;
  readonly port: number;
  /** `<gateway>/events` */
  readonly eventsUrl: string;
  /** Bearer of the management API, and what sessions are derived from. */
  readonly ownerToken: string;
  /** Folder of the portal's files. */
  readonly portalFolder: string;
  /** Folder of the built documentation. */
  readonly docsFolder: string;
  /** Addresses and ranges of trusted proxies, whose forwarded client addresses are used. Defaults to none. */
  readonly trustedProxies?: readonly string[];
};

/** Ports with objects that are created once for all routes. */
export type RoutePorts = ControlPorts & { readonly book: RuleBook };

/** Ports for planning a configuration change. */
export type PlanningPorts = Pick<
  ControlPorts,
  | 'clock'
  | 'configuration'
  | 'expressions'
  | 'templates'
  | 'mjml'
  | 'ids'
  | 'secrets'
  | 'ledger'
  | 'log'
  | 'ruleStates'
  | 'slice'
  | 'unnamedRetention'
> & {
  /** Ids of new notifications and rules. Defaults to random ids. */
  readonly newId?: PlanOptions['newId'];
};

/** Ports for publishing a change of the configuration. */
export type PublishingPorts = Pick<
  ControlPorts,
  'configuration' | 'log' | 'codecs' | 'ids' | 'clock' | 'readEverywhere' | 'people' | 'vault' | 'drafts' | 'slice'
>;
