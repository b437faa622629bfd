import { createCustodyStage, projections } from '@carillon/stages';
import { untilFound } from '../smtp/deadline.ts';
import type { Topology } from './topology.ts';

const STATE = { partition: 0, configNumber: -1, watermark: 0 };

/** Starts the engine of a topology with one partition, and resolves when it has evaluated all records on the log. */
export async function evaluateAll(topology: Topology): Promise<void> {
  await topology.evaluates();
  const end = (await topology.records('carillon.events')).length;
  await untilFound('all records are evaluated', async () => {
    const checkpoint = await topology.data.checkpoints.load('engine', 'carillon.events', 0);
    return checkpoint && checkpoint.next >= end ? true : undefined;
  });
}

/** Projects all records on the log into the read models. */
export async function projectAll(topology: Topology): Promise<void> {
  for (const { topic, stage } of projections(topology.ports)) {
    const records = await topology.records(topic);
    if (records.length > 0) await stage.handle(records, STATE);
  }
}

/** Evaluates all records on the log, takes their intents into custody, and projects both. */
export async function settle(topology: Topology): Promise<void> {
  await evaluateAll(topology);
  const custody = createCustodyStage({ ...topology.ports, due: () => undefined });
  await custody.handle(await topology.records('carillon.intents'), STATE);
  await projectAll(topology);
}
