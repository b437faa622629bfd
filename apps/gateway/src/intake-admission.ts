import type { FastifyRequest } from 'fastify';
import type { GatewaySettings } from './config.ts';
import {
  createAdmissionControl,
  type Holder,
  type AdmissionRefusal,
  type AdmissionControl,
} from './admission-control.ts';

/** Permits of a gateway: one budget of requests and bytes, shared by events and cohorts. */
export type IntakeAdmission = {
  /** For requests with a verified credential. */
  readonly proved: AdmissionControl;
  /**
   * For unverified requests: tokens during verification, and bodies that must be read before their signature can be
   * checked.
   */
  readonly unproved: AdmissionControl;
};

/** Shares of the gateway's budgets that requests may hold before their signature is verified. */
const UNPROVED_REQUESTS = 1 / 4;
const UNPROVED_BYTES = 1 / 8;

export function createIntakeAdmission(
  { maxInFlightBytes, maxInFlightRequests, maxCohortBytes }: GatewaySettings,
  refused: (why: AdmissionRefusal | 'unproved') => void,
): IntakeAdmission {
  // The largest signed body must fit besides the reserve for others.
  const least = Math.min(maxCohortBytes * 1.25, maxInFlightBytes / 2);
  const bytes = Math.ceil(Math.max(maxInFlightBytes * UNPROVED_BYTES, least));
  const requests = Math.ceil(maxInFlightRequests * UNPROVED_REQUESTS);
  return {
    proved: createAdmissionControl({ maxInFlightRequests, maxInFlightBytes: maxInFlightBytes - bytes }, refused),
    unproved: createAdmissionControl({ maxInFlightRequests: requests, maxInFlightBytes: bytes }, () =>
      refused('unproved'),
    ),
  };
}

/**
 * Returns the owner of an unverified request: its client address at the workspace in the path. It does not depend on
 * whether the workspace exists, because a stranger must not learn that.
 */
export const strangerOf = (request: FastifyRequest, workspace: string): Holder => ({
  workspace,
  credential: request.ip,
});
