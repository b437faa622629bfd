import type { FastifyRequest } from 'fastify';
import type { GatewaySettings } from './config.ts';
import {
  createAdmissionControl,
  type Holder,
  type AdmissionRefusal,
  type AdmissionControl,
} from './admission-control.ts';

/** The places of a gateway: one budget of requests and of bytes for events and cohorts together. */
export type IntakePlaces = {
  /** For whoever has shown a credential. */
  readonly places: AdmissionControl;
  /** For what is not proved yet: tokens while they are verified, bodies that have to be read before their signature can be. */
  readonly unproved: AdmissionControl;
};

/** Parts of the budget that are for what is not proved. */
const UNPROVED_REQUESTS = 1 / 4;
const UNPROVED_BYTES = 1 / 8;

export function createIntakePlaces(
  { maxInFlightBytes, maxInFlightRequests, maxCohortBytes }: GatewaySettings,
  refused: (why: AdmissionRefusal | 'unproved') => void,
): IntakePlaces {
  // A signed body of the largest size has to fit, beside what is spared for others.
  const least = Math.min(maxCohortBytes * 1.25, maxInFlightBytes / 2);
  const bytes = Math.ceil(Math.max(maxInFlightBytes * UNPROVED_BYTES, least));
  const requests = Math.ceil(maxInFlightRequests * UNPROVED_REQUESTS);
  return {
    places: createAdmissionControl({ maxInFlightRequests, maxInFlightBytes: maxInFlightBytes - bytes }, refused),
    unproved: createAdmissionControl({ maxInFlightRequests: requests, maxInFlightBytes: bytes }, () =>
      refused('unproved'),
    ),
  };
}

/**
 * Whoever has not proved who he is: an address, at the workspace that the path names. Whether there is such a workspace makes no
 * difference, or a stranger could find out.
 */
export const strangerOf = (request: FastifyRequest, workspace: string): Holder => ({
  workspace,
  credential: request.ip,
});
