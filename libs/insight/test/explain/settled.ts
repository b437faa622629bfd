import { untilFound, type Topology } from '@carillon/testing/topology';
import { createCustodyStage, projections } from '@carillon/stages';

const STATE = { partition: 0, configNumber: -1, watermark: 0 };

/** Runs evaluate, custody and the projections over everything that is on the log. */
export async function settle(topology: Topology): Promise<void> {
  await topology.evaluates();
  const end = (await topology.records('carillon.events')).length;
  await untilFound('everything is judged', async () => {
    const checkpoint = await topology.data.checkpoints.load('engine', 'carillon.events', 0);
    return checkpoint && checkpoint.next >= end ? true : undefined;
  });
  const custody = createCustodyStage({ ...topology.ports, due: () => undefined });
  await custody.handle(await topology.records('carillon.intents'), STATE);
  await project(topology);
}

export async function project(topology: Topology): Promise<void> {
  for (const { topic, stage } of projections(topology.ports)) {
    const records = await topology.records(topic);
    if (records.length > 0) await stage.handle(records, STATE);
  }
}
