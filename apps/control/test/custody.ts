import type { DeliveryState } from '@carillon/domain/deliveries';
import type { DeliveryId } from '@carillon/kernel';
import { createRecordSink, startStageConsumer } from '@carillon/runtime';
import { createCustodyStage } from '@carillon/stages';
import { untilFound, type Topology } from '@carillon/testing/topology';

/** Takes the intents on the log into custody, as delivery does. */
export async function takeCustody(topology: Topology): Promise<void> {
  const { log, checkpoints } = topology.ports;
  const stage = createCustodyStage({ ...topology.ports, due: () => undefined });
  const shared = { group: 'delivery', sink: createRecordSink(log), log, checkpoints, watch: topology.witness };
  const consumption = await startStageConsumer({ ...shared, topic: 'carillon.intents', stage });
  const { end } = await log.bounds('carillon.intents', 0);
  await untilFound('all intents are in custody', async () => {
    const checkpoint = await checkpoints.load('delivery', 'carillon.intents', 0);
    return (checkpoint?.next ?? 0) >= end ? true : undefined;
  });
  await consumption.stop();
}

/** Puts a delivery into a state, as if it had come to it by itself. Resolves to false if there is none. */
export async function moveDelivery(topology: Topology, slot: DeliveryId, state: DeliveryState): Promise<boolean> {
  const { ledger } = topology.ports;
  const known = await ledger.get(slot);
  if (known) await ledger.replace({ ...known, state, nextAt: null, version: known.version + 1 });
  return known !== null;
}

/** Watermark of the checkpoints that tests write. */
const NO_ENGINE = 1;

/** Says that an engine has read all records. An engine that runs says so itself. */
export async function markEvaluated({ ports: { checkpoints, configuration, log } }: Topology): Promise<void> {
  for (const topic of ['carillon.events', 'carillon.triggers', 'carillon.lookups'] as const) {
    const known = await checkpoints.load('engine', topic, 0);
    if (known && known.watermark !== NO_ENGINE) continue;
    const { end } = await log.bounds(topic, 0);
    const place = { group: 'engine', topic, partition: 0, logId: log.logId };
    const { number } = configuration.current();
    await checkpoints.save({ ...place, next: end, watermark: NO_ENGINE, configNumber: number });
  }
}
