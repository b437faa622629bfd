import type { LogRecord } from '@carillon/ports';
import { logRecord } from '@carillon/testing';
import { openTopology, type Topology } from '@carillon/testing/topology';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { projections } from '../../src/index.ts';

let topology: Topology;
beforeEach(async () => {
  topology = await openTopology({ partitions: 2 });
});
afterEach(() => topology.close());

/** Appends an event under this id, and answers its record. */
async function append(id: string, total: number, partition = 0): Promise<LogRecord> {
  const headers = { kind: 'event', enc: '0', event_id: id, workspace: 'shop', stream: 'shop/orders' };
  const { log } = topology.ports;
  const [offset = 0] = await log.append([logRecord(JSON.stringify({ total }), { headers, partition })]);
  const [record] = await log.read('carillon.events', partition, offset, 1);
  if (!record) throw new Error('what was appended is not there');
  return record;
}

async function project(...records: readonly LogRecord[]): Promise<void> {
  const stage = projections(topology.ports).find(({ topic }) => topic === 'carillon.events')?.stage;
  await stage?.handle(records, { partition: records[0]?.partition ?? 0, configNumber: 0, watermark: 0 });
}
/** Of every event with this id, oldest first, whether it stands as one whose id had another body before. */
const reused = async (id: string): Promise<readonly boolean[]> =>
  (await topology.ports.readModels.event(id)).map((row) => row.reused);

it('the trace id of a request is stored with its event, and the event is found by it', async () => {
  const headers = { kind: 'event', enc: '0', event_id: 'evt_1', workspace: 'shop', stream: 'shop/orders' };
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const { log, readModels } = topology.ports;
  await log.append([logRecord('{}', { headers: { ...headers, traceparent }, partition: 0 })]);
  await log.append([logRecord('{}', { headers: { ...headers, event_id: 'evt_2' }, partition: 0 })]);
  await project(...(await log.read('carillon.events', 0, 0, 10)));
  const { items } = await readModels.events({ traceId: '0af7651916cd43dd8448eb211c80319c' }, 10);
  expect(items.map(({ id }) => id)).toEqual(['evt_1']);
  expect((await readModels.event('evt_2')).map(({ traceId }) => traceId)).toEqual([null]);
});

describe('an event id that arrives again with another body is shown as reused', () => {
  it('within a batch, and not if the body is the same', async () => {
    await project(await append('a', 1), await append('b', 1), await append('a', 1), await append('a', 2));
    expect(await reused('a')).toEqual([false, false, true]);
    expect(await reused('b')).toEqual([false]);
  });

  it('across batches, each id separately', async () => {
    await project(await append('a', 1), await append('b', 2));
    await project(await append('a', 2), await append('b', 2), await append('c', 1));
    expect([await reused('a'), await reused('b'), await reused('c')]).toEqual([[false, true], [false, false], [false]]);
  });

  it('across partitions', async () => {
    await project(await append('a', 1, 1));
    await project(await append('a', 2, 0));
    expect(new Set(await reused('a'))).toEqual(new Set([false, true]));
  });

  it('also when the batch is read again, and beside records that are no events', async () => {
    const first = await append('a', 1);
    const second = await append('a', 2);
    const [offset = 0] = await topology.ports.log.append([logRecord('of another kind')]);
    const strange = await topology.ports.log.read('carillon.events', 0, offset, 1);
    await project(first, second, ...strange);
    await project(first, second, ...strange);
    expect(await reused('a')).toEqual([false, true]);
  });
});
