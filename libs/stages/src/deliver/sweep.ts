import {
  deliverySettings,
  findNotification,
  leaseRanOut,
  type Delivery,
  type DeliverySettings,
  type Moment,
} from '@carillon/domain/deliveries';
import type { DeliveryId } from '@carillon/kernel';
import type { Clock, ConfigurationView, DeliveryLedger, EventLog, Ids, RecordCodecs } from '@carillon/ports';
import { publishOutcomes } from './outcomes.ts';
import { publishTogether, transitionAndPublish, type PublicationBatch } from './transition.ts';

export type SweepPorts = {
  readonly log: EventLog;
  readonly ledger: DeliveryLedger;
  readonly configuration: ConfigurationView;
  readonly codecs: Pick<RecordCodecs, 'outcome'>;
  readonly ids: Ids;
  readonly clock: Clock;
};

const PAGE = 200;
/** Age below which an outcome is left to its own publisher. */
const PUBLISH_GRACE_MS = 5_000;

const HOLD: DeliverySettings = deliverySettings({ channels: {}, rules: {} });

/**
 * One round of the sweeper: moves SENDING whose lease ended before `leaseBefore` to IN_DOUBT, and appends unpublished
 * outcomes. It never sends. On the embedded backend the first round after a start passes the far future, because the
 * lock proves that no predecessor runs.
 */
export async function sweep(ports: SweepPorts, leaseBefore: number): Promise<{ doubted: number; published: number }> {
  const { ledger, clock, ids } = ports;
  let doubted = 0;
  const moment = (): Moment => ({ now: clock.now(), derive: ids.derive });
  const expired = await ledger.leaseExpired(leaseBefore, PAGE);
  await publishTogether(ports, async (batch) => {
    for (const delivery of expired) {
      const next = leaseRanOut(delivery, settingsOf(delivery, ports.configuration), moment());
      if (next && (await transitionAndPublish(next, ports, { batch }))) doubted += 1;
    }
  });
  const left = await ledger.unpublished(clock.now() - PUBLISH_GRACE_MS, PAGE);
  return { doubted, published: await publishOutcomes(left, ports) };
}

/**
 * Moves deliveries whose calls outlive the process to IN_DOUBT now instead of at the next start. Only for calls of this
 * process, right before it exits. Marks all before it publishes, and a failure does not stop the others. Rejects with
 * the first failure at the end.
 */
export async function abandon(ports: SweepPorts, ids: readonly DeliveryId[]): Promise<void> {
  const marked = await publishTogether(ports, (batch) =>
    Promise.allSettled(ids.map((id) => markAbandoned(id, ports, batch))),
  );
  const failed = marked.find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}

/** Moves a delivery to IN_DOUBT, unless its call ended meanwhile. */
async function markAbandoned(id: DeliveryId, ports: SweepPorts, batch: PublicationBatch): Promise<void> {
  const { ledger, configuration, clock, ids } = ports;
  for (;;) {
    const delivery = await ledger.get(id);
    const moment: Moment = { now: clock.now(), derive: ids.derive };
    const next = delivery && leaseRanOut(delivery, settingsOf(delivery, configuration), moment);
    // A failed compare-and-set means that this process renewed the lease in the same moment.
    if (!next || (await transitionAndPublish(next, ports, { batch }))) return;
  }
}

function settingsOf(delivery: Delivery, configuration: ConfigurationView): DeliverySettings {
  const notification = findNotification(configuration.current(), delivery.slot);
  return notification ? deliverySettings(notification.body) : HOLD;
}
