import { ORDER_PAID, orderShop } from '@carillon/testing/given';
import { openTopology, untilFound } from '@carillon/testing/topology';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { traceEvent } from '../../src/index.ts';

let topology: Awaited<ReturnType<typeof openTopology>>;
beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
});
afterEach(() => topology.close());

it('the timeline of an expensive event shows from which recipient on it was too complex', async () => {
  const dear = {
    stream: 'orders',
    when: 'event.dear',
    recipients: {
      from: 'event' as const,
      for_each: 'event.watchers',
      to: { email: 'item.email' },
      unique_id: 'item.email',
      where: 'event.text.matches("(a+)+$")',
    },
  };
  await topology.publish(...orderShop({ ...ORDER_PAID, rules: { dear } }));
  const watchers = Array.from({ length: 500 }, (_, at) => ({ email: `p${at}@example.com` }));
  const id = await topology.event({ dear: true, text: 'a'.repeat(2_000), watchers });
  await topology.evaluates();
  await topology.projects();
  const said = await untilFound('the story says what was dropped', async () => {
    const trace = await traceEvent(id, topology.tracePorts);
    return trace?.steps.flatMap(({ lines }) => lines).find((line) => line.includes(' to 500 dropped: too_complex'));
  });
  const told = (await topology.records('carillon.intents')).length;
  expect(told).toBeGreaterThan(5);
  expect(said).toContain(`recipients ${told + 1} to 500 dropped: too_complex`);
});
