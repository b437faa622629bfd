import type { Delivery } from '@carillon/domain/deliveries';
import type { DigestHead } from '@carillon/domain/digests';
import { partitionOf } from '@carillon/domain/events';
import type { EventLog } from '@carillon/ports';
import { intentKeyOf } from '@carillon/stages';

/**
 * The share of all work that this process does. Each process sends the deliveries of the partitions that it holds, so that
 * processes do not compete for the same ones. If two pick the same delivery, the compare-and-set lets one win; the other only wastes work.
 */
export type WorkShare = {
  readonly hasDelivery: (delivery: Delivery) => boolean;
  readonly hasDigestHead: (head: DigestHead) => boolean;
  /** The share as a number between 0 and 1. */
  readonly fraction: () => number;
  /**
   * Returns true if attempts may begin. A role that just started must first read all consents, suppressions and
   * reports.
   */
  readonly mayBegin: () => boolean;
};

/** The share that comes with the partitions of `carillon.intents` in `held`, which the consumer updates. */
export function createWorkShare(
  log: Pick<EventLog, 'partitions'>,
  held: ReadonlySet<number>,
  mayBegin: () => boolean,
): WorkShare {
  const partitions = log.partitions('carillon.intents');
  return {
    hasDelivery: (delivery) => held.has(partitionOf(intentKeyOf(delivery), partitions)),
    hasDigestHead: ({ id }) => held.has(partitionOf(id, partitions)),
    // A process without partitions only sends abandoned deliveries, at the rate of one partition.
    fraction: () => Math.max(1, held.size) / partitions,
    mayBegin,
  };
}
