import { MAX_COHORT_BYTES } from '@carillon/domain/cohorts';
import { EVENT_LIMITS } from '@carillon/domain/events';
import type { Duration } from '@carillon/kernel';
import type { BounceSettings } from '@carillon/ports';
import type { HttpLimits } from '@carillon/runtime';

/** Settings that an operator may change. Everything except the address has a default that fits most deployments. */
export type GatewayConfig = {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  readonly maxBodyBytes?: number;
  /** Maximum bytes of one cohort request: platforms send a thousand members with their properties. */
  readonly maxCohortBytes?: number;
  /** Bytes of bodies held at once, from their arrival until the log answered; beyond it requests get 503. */
  readonly maxInFlightBytes?: number;
  /**
   * Requests held at once, from their head until the log answered; beyond it they get 503 at once. Far fewer than the
   * connections that the server takes, and as many as the log takes in about a second: who waits longer is better refused.
   */
  readonly maxInFlightRequests?: number;
  /** How long an append may take before the client is told that its outcome is unknown. */
  readonly appendDeadline?: Duration;
  /** Time in which the gateway reads the events of a batch. It responds about those that arrived by then and does not read the rest. */
  readonly batchDeadline?: Duration;
  /** How long ago the configuration may have been read to its end: what a revoked key lives on at most. */
  readonly freshFor?: Duration;
  /** Maximum time that a request waits while the gateway reads a stale configuration again. */
  readonly refreshDeadline?: Duration;
  readonly closeDeadline?: Duration;
  /** Interval of reporting the uses of API keys. */
  readonly tellUsesEvery?: Duration;
  readonly http?: Partial<HttpLimits>;
  /** Where mail that comes back is taken; null: nowhere. */
  readonly bounces?: BounceSettings | null;
  /** Folder of the built documentation, to which the `type` of an error body leads. Null if this server has none. */
  readonly docsFolder?: string | null;
  /** Addresses and ranges of proxies, whose word about the client's address counts. */
  readonly trustedProxies?: readonly string[];
};

export type GatewaySettings = Required<GatewayConfig>;

export const GATEWAY_PORT_SETTING = '--gateway-port or CARILLON_GATEWAY_PORT';

/** How old a reading of the configuration may be (architecture section 5): a revoked key ends within it. */
export const CONFIGURATION_FRESH_FOR: Duration = 2000;

export const withDefaults = (config: GatewayConfig): GatewaySettings => ({
  maxBodyBytes: EVENT_LIMITS.bytes,
  maxCohortBytes: MAX_COHORT_BYTES,
  maxInFlightBytes: 64 * 1024 * 1024,
  maxInFlightRequests: 512,
  appendDeadline: 5000,
  batchDeadline: 7000,
  freshFor: CONFIGURATION_FRESH_FOR,
  refreshDeadline: 1000,
  closeDeadline: 10_000,
  tellUsesEvery: 5000,
  http: {},
  bounces: null,
  docsFolder: null,
  trustedProxies: [],
  ...config,
});
