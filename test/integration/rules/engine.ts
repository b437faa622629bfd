import { createTicker } from '@carillon/engine';
import { Progress, startStageConsumer } from '@carillon/runtime';
import { createEvaluateStage } from '@carillon/stages';
import { openTopology } from '@carillon/testing/topology';
import { expect } from 'vitest';
import type { RealBackend } from './backends.ts';

/** What evaluates and what appends ticks, as in a process of the engine. */
export async function startEngine({ backing }: RealBackend) {
  const topology = await openTopology({ backing });
  const progress = new Progress();
  const { log, checkpoints, ruleStates } = topology.data;
  const stage = createEvaluateStage(topology.ports);
  const common = { group: 'engine', topic: 'carillon.events', log, checkpoints, progress } as const;
  const consumption = await startStageConsumer({ ...common, stage, sink: topology.liveSink, watch: topology.witness });
  return {
    topology,
    tick: createTicker({ log, ruleStates, clock: topology.clock, progress }),
    async stop() {
      await consumption.stop();
      await topology.close();
    },
  };
}
export type Engine = Awaited<ReturnType<typeof startEngine>>;

/** Orders with a message on the log. */
export async function notified({ topology }: Engine): Promise<readonly string[]> {
  const { intent } = topology.ports.codecs;
  const orders = (await topology.records('carillon.intents')).map(({ value }) => {
    const read = intent.decode(value);
    if (!read.ok) throw new Error(read.error.detail);
    expect(read.value.deadline).toBe(read.value.causedAt);
    return read.value.slot.uniqueId;
  });
  return orders.toSorted();
}

/** Documents of entities that wait. */
export async function waiting({ topology }: Engine): Promise<readonly string[]> {
  const { log, ruleStates } = topology.data;
  const partitions = Array.from({ length: log.partitions('carillon.events') }, (_, partition) => partition);
  const due = await Promise.all(partitions.map((partition) => ruleStates.due(partition, Number.MAX_SAFE_INTEGER, 10)));
  return due.flat().map(({ id }) => id);
}
