import type { SourceProblem, StoppedReason, WaitingReason } from '@carillon/domain/changes';

export type WaitingProblem = SourceProblem<WaitingReason>;
export type Failure =
  | ({ readonly kind: 'waiting' } & WaitingProblem)
  | ({ readonly kind: 'stopped' } & SourceProblem<StoppedReason>);

/** Ends a reader or a request with a state of the source. Its message holds no secret. */
export class TopicFailure extends Error {
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(failure.detail ?? failure.reason);
    this.failure = failure;
  }
}

export const waiting = (reason: WaitingReason, detail: string | null = null, fix: string | null = null): TopicFailure =>
  new TopicFailure({ kind: 'waiting', reason, detail, fix });

export const stopped = (reason: StoppedReason, detail: string | null = null): TopicFailure =>
  new TopicFailure({ kind: 'stopped', reason, detail, fix: null });

const CERTIFICATE = /^(?:ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HOSTNAME_MISMATCH|EPROTO)/;
const CERTIFICATES: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'is for another host',
};
const NETWORK: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'no server listens there',
  EHOSTUNREACH: 'no network route leads to it',
  ENETUNREACH: 'no network route leads to it',
  ETIMEDOUT: 'it did not answer in time',
};

/** Returns the state that an error of a connection to a broker leads to. What the broker wrote is left out. */
export function failureAt(broker: string, error: unknown): TopicFailure {
  if (error instanceof TopicFailure) return error;
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code, name } = cause as Error & { readonly code?: unknown };
    const known = typeof code === 'string' ? code : '';
    if (name === 'KafkaJSSASLAuthenticationError') return waiting('refused_login');
    if (CERTIFICATE.test(known)) {
      return waiting('refused_certificate', `That of ${broker} ${CERTIFICATES[known] ?? `was refused with ${known}`}.`);
    }
    if (NETWORK[known] !== undefined) return waiting('unreachable', `${broker}: ${NETWORK[known]}.`);
  }
  return waiting('unreachable', `${broker}: the connection broke, or the broker speaks in another way.`);
}
