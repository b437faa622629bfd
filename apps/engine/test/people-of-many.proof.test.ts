import { traceEvent, whyAddress } from '@carillon/insight';
import { createCustodyStage, projections } from '@carillon/stages';
import { answersEverybody } from '@carillon/testing';
import { untilFound } from '@carillon/testing/topology';
import { expect, it } from 'vitest';
import { lookupFixture } from './lookup-fixture.ts';

const fixture = lookupFixture();
const MANY = 50_000;
const STATE = { partition: 0, configNumber: -1, watermark: 0 };

it('The people of an event that asks about 50,000 are counted, paged and found', async () => {
  fixture.partner().follow(answersEverybody);
  await fixture.configure();
  await fixture.start();
  const topology = fixture.topology();
  const id = await topology.event({ watchers: Array.from({ length: MANY }, (_, at) => `w${at}`) });
  const intents = await untilFound(
    'every answer is resolved',
    async () => {
      const records = await topology.records('carillon.intents');
      return records.length >= MANY ? records : undefined;
    },
    300_000,
  );
  const custody = createCustodyStage({ ...topology.ports, due: () => undefined });
  for (let at = 0; at < intents.length; at += 1000) await custody.handle(intents.slice(at, at + 1000), STATE);
  for (const { topic, stage } of projections(topology.ports)) {
    const records = await topology.records(topic);
    if (topic === 'carillon.events') await stage.handle(records, STATE);
  }
  const first = await traceEvent(id, topology.tracePorts);
  expect(first?.people?.summary?.counts).toEqual({ told: 0, waiting: MANY, in_doubt: 0, not_told: 0 });
  expect(first?.people?.items).toHaveLength(100);
  expect(first?.steps.length).toBeLessThan(500);
  const last = await traceEvent(id, topology.tracePorts, { from: MANY - 10, limit: 100 });
  expect([last?.people?.items.length, last?.people?.next, last?.people?.summary]).toEqual([10, null, null]);
  const found = await traceEvent(id, topology.tracePorts, { to: 'W49999@', from: 0, limit: 10 });
  expect(found?.people?.items).toMatchObject([{ recipient: { address: 'w49999@example.com' }, outcome: 'waiting' }]);
  const why = await whyAddress({ workspace: 'shop', address: 'w31415@example.com', limit: 10 }, topology.tracePorts);
  expect(why.items).toMatchObject([{ eventId: id, outcome: 'waiting' }]);
}, 900_000);
