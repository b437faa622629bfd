import type { Duration, ErrorCode, EventId } from '@carillon/kernel';
import type {
  BounceMail,
  Clock,
  CohortReaders,
  ConfigurationView,
  ConsentStore,
  EventLog,
  Ids,
  KeyUseStore,
  LinkTokens,
  ReceiptReaders,
  RecordCodecs,
  Secrets,
  TokenVerifier,
} from '@carillon/ports';
import type { AnsweredRequest, CutReason, HealthSources, HttpLog, ReadinessCheck } from '@carillon/runtime';
import type { ChangeResult } from '@carillon/stages';
import type { AdmissionRefusal } from './admission-control.ts';

/** The part of API keys that the gateway needs; the pepper stays with whoever made this. */
export type PresentedKeys = {
  /** The public id in a key, or null for text that is no key. */
  parse(text: string): string | null;
  /** Returns true if the key has this digest, in constant time. */
  verify(presented: string, digest: string): boolean;
};

/** Why a request or connection was refused or cut off for the sake of others. */
export type CutOffReason = CutReason | AdmissionRefusal | 'unproved';
export const CUT_OFF_REASONS: readonly CutOffReason[] = [
  'connections',
  'pipelined',
  'full',
  'others_need',
  'slow',
  'too_many_slow',
  'unproved',
];

/** Result of a mail at the bounce listener. */
export const RETURNED_MAIL = ['report', 'none', 'unreadable', 'recipient', 'too_large', 'unavailable'] as const;
export type ReturnedMail = (typeof RETURNED_MAIL)[number];

export type RequestSpan = {
  /** Goes into the record, so that what follows continues the trace. */
  readonly traceparent: string | null;
  /** Said before the append, so that a trace leads to the event also where the answer is lost. */
  event(event: { readonly id: EventId; readonly workspace: string; readonly stream: string }): void;
  end(status: number): void;
};

/** Where spans and counts go. Without it the client's traceparent is passed on as it came. */
export type GatewayTelemetry = {
  /** A request was let in; `traceparent` is the client's, if it is a valid one, `route` the pattern of the address. */
  startRequest(traceparent: string | null, route: string): RequestSpan;
  /** Events are on the log. */
  accepted(stream: string, count: number): void;
  /** An envelope of Debezium was taken. Counted beside `accepted`. */
  envelope(stream: string, result: ChangeResult): void;
  /** An event of a batch was refused. */
  refused(code: ErrorCode): void;
  /** The log acknowledged an append. */
  appended(span: Duration): void;
  answered(request: AnsweredRequest): void;
  /** A request or connection was refused or cut off, so that others get their share. */
  cutOff(why: CutOffReason): void;
  /** A mail came back, or was refused. */
  returned(what: ReturnedMail): void;
  /** A bounce listener was started; `check` says whether it still takes mail. */
  takesMail(check: () => ReadinessCheck): void;
  /** Work beside the requests failed and will be tried again. */
  trouble(where: string, error: unknown): void;
  /** An operator should look: a platform is not set up as it should be, here or there. */
  partnerAlert(partner: string, detail: string): void;
  /** Members of a cohort came without a usable user id; `integration` with its workspace. */
  membersSkipped(integration: string, count: number): void;
  /** Counts webhook calls of a cohort platform that concern no audience. `integration` includes its workspace. */
  callsPassedOver(integration: string, count: number): void;
};

export type GatewayPorts = Pick<HealthSources, 'checks'> & {
  readonly log: Pick<EventLog, 'append' | 'partitions' | 'logId'>;
  readonly configuration: Pick<ConfigurationView, 'current' | 'readToEndAt' | 'refresh'>;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly apiKeys: PresentedKeys;
  /** Secrets with which integrations sign their requests. */
  readonly secrets: Secrets;
  /** Opt-outs of people, and the links with which people change them. */
  readonly consents: ConsentStore;
  readonly links: Pick<LinkTokens, 'open'>;
  readonly codecs: Pick<RecordCodecs, 'cohort' | 'receipt' | 'consent' | 'deadLetter'>;
  /** Prove and read what platforms say of cohorts. */
  readonly cohortReaders: CohortReaders;
  /** Prove and read what providers report. */
  readonly receipts: ReceiptReaders;
  readonly bounceMail: BounceMail;
  readonly tokens: Pick<TokenVerifier, 'verify'>;
  /** Where it is kept when API keys were used; may be away without anybody being refused. */
  readonly keyUses: Pick<KeyUseStore, 'record'>;
  readonly telemetry?: GatewayTelemetry;
  readonly httpLog?: HttpLog;
};
