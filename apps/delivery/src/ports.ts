import type { LinkTokens } from '@carillon/ports';
import type {
  RecordCodecs,
  CheckpointStore,
  ConfigurationView,
  ConsentStore,
  DigestHeads,
  DeliveryLedger,
  LimitStore,
  EventLog,
  Ids,
  LeaseStore,
  LookupClaims,
} from '@carillon/ports';
import type { Clock, Secrets, SenderFactory, SuppressionList, TemplateRenderer } from '@carillon/ports';
import type { LocalityVariable } from '@carillon/domain/configuration';
import type { Delivery } from '@carillon/domain/deliveries';
import type { ConsumerWatch, ReadinessCheck } from '@carillon/runtime';

/** An attempt as metrics and traces show it. */
export type AttemptSummary = {
  /** Null where the provider was not called. */
  readonly attemptId: string | null;
  /** The account that was called. Null where the provider was not called. */
  readonly account: string | null;
  readonly verdict: string;
  readonly code: string;
  readonly seconds: number;
  /** Names in the template that the data did not have. */
  readonly missing: number;
  /** Reserved variables of the recipient that name nothing that exists. */
  readonly wrongLocality: readonly LocalityVariable[];
};

/** Events of provider calls, which the composition root connects to metrics and traces. */
export type DeliveryWatch = ConsumerWatch & {
  /** Called right before the provider is; the answer is called with what came of it. */
  attempt(delivery: Delivery): (ended: AttemptSummary) => void;
  queued(bytes: number): void;
  /** A provider account refused us or asks for attention: an operator should look. */
  alert(account: string, code: string, detail: string): void;
  /** A provider account refuses us, keeps failing, or takes messages again; told once for each change. */
  accountState(account: string, state: 'good' | 'suspended' | 'failing', why: string): void;
  /** Sets the readiness check of sending: whether sending has begun, or what it waits for. */
  sends(check: () => ReadinessCheck): void;
  readonly trouble: (where: string, error: unknown) => void;
};

export type DeliveryPorts = {
  readonly log: EventLog;
  readonly checkpoints: CheckpointStore;
  readonly ledger: DeliveryLedger;
  readonly suppressions: SuppressionList;
  /** Remembers the STOP and START messages that were carried out. */
  readonly claims: Pick<LookupClaims, 'get' | 'claim'>;
  readonly consents: ConsentStore;
  readonly limits: LimitStore;
  /** Decides which one of all processes tries an account that rests. */
  readonly leases: LeaseStore;
  readonly digestHeads: DigestHeads;
  readonly links: LinkTokens;
  readonly configuration: ConfigurationView;
  readonly templates: TemplateRenderer;
  readonly codecs: RecordCodecs;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly secrets: Secrets;
  readonly senders: readonly SenderFactory[];
  readonly watch: DeliveryWatch;
};
