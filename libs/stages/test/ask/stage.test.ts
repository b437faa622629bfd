import type { Trigger } from '@carillon/domain/lookups';
import { givenTrigger, MORNING, SENT_BY_ADA } from '@carillon/testing/given';
import { openTopology, type Topology } from '@carillon/testing/topology';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createAskStage, REDRIVE_HEADER } from '../../src/index.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

let topology: Topology;
beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
});
afterEach(() => topology.close());

/** Hands a record of a trigger to the stage. */
async function ask(trigger: Trigger, time: number, redrive?: string): Promise<void> {
  const value = topology.ports.codecs.trigger.encode(trigger);
  const headers = { workspace: 'shop', ...(redrive !== undefined && { [REDRIVE_HEADER]: redrive }) };
  const record = { topic: 'carillon.triggers', partition: 0, offset: 0, key: 'k', value, headers, time } as const;
  const stage = createAskStage({ ...topology.ports, due: () => undefined });
  await stage.handle([record], { partition: 0, configNumber: 0, watermark: 0 });
}

async function giveUp(id: string): Promise<void> {
  const { tasks } = topology.ports;
  const task = await tasks.get(id);
  if (!task) throw new Error('nobody asked');
  const ended = { kind: 'parked', reason: 'partner_refused', deadLetterId: null };
  const data = JSON.stringify({ ...(JSON.parse(task.data) as object), trigger: null, ended });
  await tasks.replace(task.version, { ...task, done: true, data, version: task.version + 1 });
}

describe('a question to a partner that an operator redrives (processes again)', () => {
  it.each([
    { name: 'of the live rule', more: {}, asked: MORNING, usefulFor: DAY },
    { name: 'of a sending job', more: { sentBy: SENT_BY_ADA }, asked: MORNING + 5 * DAY, usefulFor: HOUR },
  ])('$name has the same lifetime as at first, at each redrive', async ({ more, asked, usefulFor }) => {
    const trigger = givenTrigger({ causedAt: MORNING, notAfter: asked + usefulFor, ...more });
    await ask(trigger, asked);
    expect(await topology.ports.tasks.get(trigger.id)).toMatchObject({ deadline: asked + usefulFor });
    for (const [redrive, at] of [
      ['first', asked + DAY],
      ['second', asked + 2 * DAY],
    ] as const) {
      await giveUp(trigger.id);
      await ask(trigger, at, redrive);
      expect(await topology.ports.tasks.get(trigger.id)).toMatchObject({ deadline: at + usefulFor, done: false });
    }
  });
});
