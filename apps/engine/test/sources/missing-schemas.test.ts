import type { TopicReport } from '@carillon/ports';
import { SYSTEM_ACTOR } from '@carillon/domain/people';
import { ok } from '@carillon/kernel';
import { integration, stream } from '@carillon/testing/given';
import { untilFound } from '@carillon/testing/topology';
import { beforeEach, describe, expect, it } from 'vitest';
import { counts, openForEachTest, start, topology, troubles } from './reading-fixture.ts';
import { createScriptedTopics, offsetAt, type OpenedTopics } from './scripted-topics.ts';

const REF = { workspace: 'shop', integration: 'bus' };
const SCHEMA = JSON.stringify({ type: 'record', name: 'Envelope', fields: [] });
/** The mark of Confluent's framing, and the schema 7. */
const AVRO = {
  topic: 'orders',
  topicId: 'orders-1',
  partition: 0,
  key: null,
  headers: {},
  at: 1,
  timestamp: 1,
  unreadable: null,
};
const record = (offset: number) => ({ ...AVRO, offset, value: new Uint8Array([0, 0, 0, 0, 7, 0]) });
const reportOf = (lagRecords: number | null): TopicReport => ({
  tables: [{ table: 'orders', since: 1, problem: null }],
  lagRecords,
});

openForEachTest();

let bus: ReturnType<typeof createScriptedTopics>;
let schema: string | null;
/** Each state that was stored, with its reason. */
let states: string[];

beforeEach(async () => {
  bus = createScriptedTopics();
  schema = null;
  states = [];
  await topology.publish(
    integration('bus', { kind: 'kafka', brokers: ['kafka:9092'], registry: { url: 'https://registry.example.com' } }),
    stream('orders', {
      format: 'debezium',
      from: { integration: 'bus', topics: { orders: 'event.id', people: 'event.id' } },
    }),
  );
  const { sources } = topology.data;
  start({
    topicSources: bus.load,
    avroSchemas: async () => ({ schema: async () => ok(schema) }),
    sources: {
      ...sources,
      async advance(next, records) {
        const done = await sources.advance(next, records);
        if (done === 'done') states.push('reason' in next.state ? next.state.reason : next.state.kind);
        return done;
      },
    },
  });
});

const reader = (number: number): Promise<OpenedTopics> => untilFound(`reader ${number}`, () => bus.readers[number - 1]);
const stored = () => topology.data.sources.load(REF);
/** Acts as the Kafka reader: stores the ends of the topics, reports, hands over records, and ends with the error of `take`. */
async function connect(number: number): Promise<OpenedTopics> {
  const opened = await reader(number);
  if (opened.from === null) await opened.handlers.take({ records: [], position: offsetAt(0) });
  opened.handlers.report(reportOf(null));
  return opened;
}
async function meetRecord(opened: OpenedTopics): Promise<void> {
  opened.handlers.report(reportOf(2));
  const taken = opened.handlers.take({ records: [record(0)], position: offsetAt(1) });
  await expect(taken).rejects.toThrow('a schema of the records is missing');
  opened.end({ kind: 'closed', error: await taken.catch((error: unknown) => error) });
}
async function missThreeTimes(): Promise<void> {
  for (const number of [1, 2, 3]) await meetRecord(await connect(number));
}
const isRunning = (): Promise<true> =>
  untilFound('the running source', async () => ((await stored())?.state.kind === 'running' ? true : undefined));

describe('A Kafka source whose record has no schema in the registry', () => {
  it('stays waiting through its retries, and runs once the record was taken', async () => {
    await missThreeTimes();
    const opened = await connect(4);
    expect(states.slice(states.indexOf('schema_unknown'))).not.toContain('running');
    expect(await stored()).toMatchObject({ state: { kind: 'waiting', reason: 'schema_unknown' }, lagRecords: 2 });
    schema = SCHEMA;
    await opened.handlers.take({ records: [record(0)], position: offsetAt(1) });
    await isRunning();
    expect(troubles).toEqual([]);
  });

  it('continues at the end of its topic, and reads other topics on, once a person passes over its unread records', async () => {
    const others = { ...offsetAt(0).topics, people: { id: 'topic-2', partitions: { 0: 5 } } };
    const first = await reader(1);
    await first.handlers.take({ records: [], position: { ...offsetAt(0), topics: others } });
    await meetRecord(first);
    await untilFound('the missing schema', async () => {
      const state = (await stored())?.state;
      return state?.kind === 'waiting' && state.topic === 'orders' ? true : undefined;
    });
    const request = { reason: 'the schema was deleted', at: 1, from: offsetAt(0), gone: false, start: 'end' } as const;
    await untilFound('the stored request', async () => {
      const { version = 0 } = (await stored()) ?? {};
      const done = await topology.data.sources.requestReset(REF, version, { ...request, by: SYSTEM_ACTOR });
      return done === 'done' ? true : undefined;
    });
    const atEnd = await untilFound('the reader at the end', () => {
      // A reader that was open when the request came meets the record too.
      for (const opened of bus.readers) {
        opened.end({ kind: 'waiting', reason: 'schema_unknown', detail: null, fix: null });
      }
      return bus.readers.find(({ from }) => from?.topics['orders']?.partitions[0] === 9);
    });
    expect(atEnd.topics).toEqual(['orders', 'people']);
    expect(bus.resets).toEqual([[['orders'], 'end']]);
    const topics = { ...others, ...offsetAt(9).topics };
    expect(await stored()).toMatchObject({ position: { ...offsetAt(9), topics }, reset: null });
  });

  it('runs when the record is gone and no other is left', async () => {
    await missThreeTimes();
    (await connect(4)).handlers.report(reportOf(0));
    await isRunning();
  });
});

describe('A batch of a topic that cannot be unpacked', () => {
  it('is counted with all of its records', async () => {
    const opened = await connect(1);
    const unreadable = { ...record(0), value: null, unreadable: 'it is compressed with zstd', lastOffset: 9 };
    await opened.handlers.take({ records: [unreadable], position: offsetAt(10) });
    expect(counts).toEqual(['dead_letter 10']);
  });
});

describe('A batch of tombstones only', () => {
  it('moves the position on and becomes neither event nor dead letter', async () => {
    const opened = await connect(1);
    const tombstones = [0, 1, 2].map((offset) => ({ ...record(offset), value: null }));
    await opened.handlers.take({ records: tombstones, position: offsetAt(3) });
    expect(counts).toEqual(['skipped 3']);
    expect(await stored()).toMatchObject({ position: offsetAt(3) });
    expect(troubles).toEqual([]);
  });
});
