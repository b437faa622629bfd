import { TERMINAL_STATES, type DeliveryState } from '@carillon/domain/deliveries';
import { findGaps } from './audit.ts';
import type { Evidence } from './evidence.ts';
import { findingsOf, type Finding } from './promises.ts';

/** What callers and providers saw of a run, and what the product left behind. Crash runs and simulation report the same facts. */
export type Facts = {
  readonly evidence: Evidence;
  /** Ids of the events and changes that were answered with success. */
  readonly acknowledged: readonly string[];
  /** The delivery of each message that a provider took; a delivery stands here once for each of its messages. */
  readonly taken: readonly string[];
  /** Deliveries whose state a person chose, right or wrong. Defaults to none. */
  readonly decided?: ReadonlySet<string>;
};

/** States that say that a provider took the message. */
const ACCEPTED: ReadonlySet<DeliveryState> = new Set(['SENT', 'DELIVERED', 'BOUNCED', 'COMPLAINED']);
const hasEnded = (state: DeliveryState): boolean => TERMINAL_STATES.has(state) || state === 'IN_DOUBT';

/** Compares the facts of a run that has come to rest with the promises that every run keeps. */
export const judgeFacts = (facts: Facts): readonly Finding[] => [
  ...findGaps(facts.evidence),
  ...findingsOf('lost', missingEvents(facts)),
  ...findingsOf('twice', repeatedMessages(facts)),
  ...findingsOf('stuck', openDeliveries(facts)),
  ...findingsOf('untrue', [...wrongStates(facts), ...untoldEnds(facts)]),
];

function missingEvents({ acknowledged, evidence }: Facts): readonly string[] {
  const logged = new Set(evidence.events.values());
  return acknowledged.filter((id) => !logged.has(id)).map((id) => `acknowledged, and not on the log: ${id}`);
}

const repeatedMessages = ({ taken, decided }: Facts): readonly string[] =>
  [...Map.groupBy(taken, (id) => id)]
    .filter(([id, { length }]) => length > 1 && !decided?.has(id))
    .map(([id, { length }]) => `${id}: ${length} messages`);

const openDeliveries = ({ evidence: { deliveries, unread } }: Facts): readonly string[] => [
  ...deliveries.filter(({ state }) => !hasEnded(state)).map(({ id, state, reason }) => `${id} is ${state} (${reason})`),
  ...unread,
];

/** The ledger says of a message what the provider says of it, or is in doubt. */
function wrongStates({ evidence: { deliveries }, taken, decided }: Facts): readonly string[] {
  const tookOf = new Set(taken);
  const known = new Set<string>(deliveries.map(({ id }) => id));
  return [
    ...[...tookOf].filter((id) => !known.has(id)).map((id) => `a message of ${id}, which is not in the ledger`),
    ...deliveries
      .filter(({ id, state }) => state !== 'IN_DOUBT' && !decided?.has(id) && ACCEPTED.has(state) !== tookOf.has(id))
      .map(({ id, state, reason }) =>
        tookOf.has(id)
          ? `the provider took ${id}, which is ${state} (${reason})`
          : `${id} is ${state}, and no provider took it`,
      ),
  ];
}

/** Each end is told of on the log, or waits in the ledger to be told. */
function untoldEnds({ evidence: { deliveries, outcomes } }: Facts): readonly string[] {
  const told = new Set(outcomes.map(({ deliveryId, state }) => `${deliveryId} ${state}`));
  return deliveries
    .filter(({ state }) => hasEnded(state))
    .filter(
      ({ id, state, unpublished }) =>
        !told.has(`${id} ${state}`) && unpublished.every((outcome) => outcome.state !== state),
    )
    .map(({ id, state }) => `${id} is ${state}, and no outcome says so`);
}
