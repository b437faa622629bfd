import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EMPTY_CONFIGURATION } from '@carillon/domain/configuration';
import { readSourceRecord } from '@carillon/stages';
import { changesOf, orderShop, recordOf } from '@carillon/testing/given';
import { openTopology, untilFound, type Topology } from '@carillon/testing/topology';
import type { EnginePorts } from '../src/index.ts';
import { startEngineOn, type WatchedEngine } from './engine-role.ts';

let topology: Topology;
const engines: WatchedEngine[] = [];
beforeEach(async () => {
  topology = await openTopology({ partitions: 2 });
});
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.close();
  await topology.close();
});

async function start(more: Partial<EnginePorts> = {}): Promise<WatchedEngine> {
  const engine = await startEngineOn(topology, more);
  engines.push(engine);
  return engine;
}
/** The numbers of the markers of each partition. */
async function markers(): Promise<number[][]> {
  const found: number[][] = [[], []];
  for (const record of await topology.records('carillon.events')) {
    const read = readSourceRecord(record, topology.data.log.logId);
    if (read.ok && read.value.kind === 'marker') found[record.partition]?.push(read.value.configNumber);
  }
  return found;
}
const everywhere = (number: number, times = 1) =>
  untilFound(`marker ${number} in every partition`, async () => {
    const all = await markers();
    return all.every((list) => list.filter((one) => one === number).length >= times) ? all : undefined;
  });
/** Counts how often the keeper of the clock lease asks for it: a round begins with that. */
function countingRounds() {
  const { leases } = topology.ports;
  let rounds = 0;
  const counted: Pick<EnginePorts, 'leases'> = {
    leases: {
      acquire(...given) {
        rounds += 1;
        return leases.acquire(...given);
      },
      release: (...given) => leases.release(...given),
    },
  };
  /** One more round has begun and ended. */
  const another = async (): Promise<void> => {
    const before = rounds;
    await untilFound('a round has passed', () => rounds >= before + 2 || undefined);
  };
  return { counted, another };
}
/** What a publisher leaves behind that dies between the record and its markers. */
const leaveBehind = () =>
  topology.data.log.append([
    {
      topic: 'carillon.config',
      partition: 0,
      key: 'configuration',
      value: topology.ports.codecs.configuration.encode(recordOf(changesOf(EMPTY_CONFIGURATION, orderShop()))),
      headers: {},
    },
  ]);
const paid = (order: string) => ({ status: 'paid', order_id: order, customer: { email: 'ada@example.com' } });
const intents = (count: number) =>
  untilFound(`${count} intents`, async () => {
    const records = await topology.records('carillon.intents');
    return records.length >= count ? records : undefined;
  });

describe('the engine', () => {
  it('turns events into intents, and continues at its position after a restart', async () => {
    await topology.publish(...orderShop());
    const engine = await start();
    await topology.event(paid('A-1'));
    await intents(1);
    await engine.close();
    engines.length = 0;
    await topology.restart();
    await start();
    await topology.event(paid('A-2'));
    expect(await intents(2)).toHaveLength(2);
    expect(topology.witness.failures).toEqual([]);
  });

  it('repeats the newest marker everywhere when it starts', async () => {
    await leaveBehind();
    await start();
    await everywhere(0);
    await topology.ports.configuration.refresh();
    await topology.event(paid('A-1'));
    await intents(1);
  });

  it('repeats unpublished markers once they are five seconds old, not earlier', async () => {
    await topology.publish(...orderShop());
    const { counted, another } = countingRounds();
    await start(counted);
    await everywhere(0, 2);
    // Stands still, or a slow round would make the record old.
    topology.clock.standStill();
    await leaveBehind();
    await another();
    expect((await markers()).flat()).not.toContain(1);
    topology.clock.pass(6000);
    await everywhere(1);
  });

  it('repeats the newest marker every hour', async () => {
    await topology.publish(...orderShop());
    await start();
    await everywhere(0, 2);
    topology.clock.pass(3_601_000);
    await everywhere(0, 3);
  });

  it('without the clock lease writes no markers, and takes the lease over when it expires', async () => {
    const now = topology.clock.now();
    expect(await topology.data.leases.acquire('clock', 'another', now, now + 60_000)).toBe(true);
    await leaveBehind();
    const { counted, another } = countingRounds();
    await start(counted);
    await another();
    expect(await markers()).toEqual([[], []]);
    topology.clock.pass(61_000);
    await everywhere(0);
  });

  it('releases the clock lease when it stops, so that the next engine need not wait', async () => {
    await leaveBehind();
    const engine = await start();
    await everywhere(0);
    await engine.close();
    engines.length = 0;
    const now = topology.clock.now();
    expect(await topology.data.leases.acquire('clock', 'next', now, now + 1000)).toBe(true);
  });

  it('reports an unavailable lease store, and continues evaluating', async () => {
    await topology.publish(...orderShop());
    const away = { acquire: () => Promise.reject(new Error('away')), release: () => Promise.reject(new Error('away')) };
    await start({ leases: away });
    await topology.event(paid('A-1'));
    await intents(1);
    expect(await untilFound('it is told', () => engines[0]?.troubles[0])).toMatchObject({ message: 'away' });
  });
});
