import zlib from 'node:zlib';
import { createAddressGuard } from '@carillon/adapter-guarded-http';
import { createTopicSources } from '@carillon/adapter-kafka';
import type { KafkaPosition } from '@carillon/domain/changes';
import { untilFound } from '@carillon/testing/topology';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { sharedServer } from '../../support/shared-servers.ts';
import { ReadingTopics, type ReadSource } from './reading-topics.ts';

const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const inPartition0 = (...values: readonly string[]) => values.map((value) => ({ value, partition: 0 }));

describeWith('kafka', 'An embedded engine that reads topics of Kafka', () => {
  let shared: ReadingTopics;
  let bus: ReadSource;
  beforeAll(async () => {
    shared = await ReadingTopics.open((await sharedServer('kafka')).brokers);
  }, 60_000);
  afterAll(() => shared.drop());
  beforeEach(() => {
    bus = shared.source();
  });

  it('makes an event of each record, byte for byte, from the end of the topic on, also after a restart', async () => {
    await bus.make({ orders: 2 });
    await bus.send('orders', { value: '{"id":0}', partition: 0 });
    await bus.publish(['orders']);
    await bus.untilReads();
    const value = '{ "id": 1, "total": 12.50 }';
    await bus.send('orders', { value: 'not json', partition: 0 });
    await bus.send('orders', { value, partition: 0, headers: { traceparent: TRACE }, timestamp: '1790000000000' });
    expect(await bus.untilEvents(1)).toEqual([value]);
    const [event] = await bus.events();
    expect(event?.headers).toMatchObject({
      key: '1',
      principal: `source:${bus.integration}`,
      time: '1790000000000',
      traceparent: TRACE,
    });
    const [letter] = await bus.untilLetters(1);
    expect(letter).toMatchObject({ stage: 'append', partition: 0, offset: 1 });
    // The records that come while nobody reads are read after a restart.
    await shared.closeData();
    await bus.send('orders', ...[2, 3].map((id) => ({ value: JSON.stringify({ id }), partition: 1 })));
    await bus.send('orders', { key: '2', value: null, partition: 1 }, { value: '{"id":5}', partition: 1 });
    await shared.openData();
    expect((await bus.untilEvents(4)).toSorted()).toEqual([value, '{"id":2}', '{"id":3}', '{"id":5}'].toSorted());
    const source = await bus.untilStored('no lag', ({ lagRecords }) => lagRecords === 0);
    expect(source).toMatchObject({ secrets: null, lagBytes: null, tables: [{ problem: null }] });
  });

  it('stops when a topic is made again, also with more records than before, until a person resets it', async () => {
    await bus.make({ orders: 1 });
    await bus.publish(['orders']);
    await bus.untilReads();
    await bus.send('orders', ...inPartition0('{"id":1}'));
    await bus.untilEvents(1);
    await bus.remove('orders');
    await bus.untilStored('no topic', ({ tables }) => tables[0]?.problem?.reason === 'no_topic');
    await shared.stopReaders();
    await bus.make({ orders: 1 });
    await bus.send('orders', ...inPartition0('{"id":1}', '{"id":2}', '{"id":3}'));
    shared.startReaders();
    const stopped = await bus.untilState('stopped', 'topic_made_again');
    expect(stopped.lagRecords).toBe(3);
    await shared.stopReaders();
    shared.startReaders();
    expect(await bus.stored()).toEqual(stopped);
    await bus.reset('oldest');
    expect(await bus.untilEvents(4)).toHaveLength(4);
    const ids = (await bus.events()).map(({ headers }) => headers['event_id']);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('stops when retention has deleted records that it has not read, and passes over the rest if a person says so', async () => {
    await bus.make({ orders: 1 });
    await bus.publish(['orders']);
    await bus.untilReads();
    await shared.stopReaders();
    await bus.send('orders', ...inPartition0('{"id":1}', '{"id":2}', '{"id":3}'));
    const topic = bus.name('orders');
    // kafkajs finds the leader of a topic only if it asked about it before.
    await shared.admin.fetchTopicOffsets(topic);
    await shared.admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '2' }] });
    shared.startReaders();
    const stopped = await bus.untilState('stopped', 'records_gone');
    expect(stopped).toMatchObject({
      lagRecords: 1,
      state: { detail: expect.stringContaining('begins at 2') as string },
    });
    await bus.reset('end');
    await bus.untilStored('the reset', ({ state, reset: request }) => state.kind === 'running' && request === null);
    await bus.send('orders', ...inPartition0('{"id":4}'));
    expect(await bus.untilEvents(1)).toEqual(['{"id":4}']);
  });

  it.each<[string, string, (position: KafkaPosition, topic: string) => KafkaPosition]>([
    ['the brokers are of another cluster', 'other_database', (position) => ({ ...position, clusterId: 'another' })],
    [
      'a topic ends before the position',
      'went_back',
      (position, topic) => ({
        ...position,
        topics: { [topic]: { id: position.topics[topic]?.id ?? null, partitions: { 0: 7 } } },
      }),
    ],
  ])('stops when %s, and reads the oldest records after a reset', async (_, reason, alter) => {
    await bus.make({ orders: 1 });
    await bus.publish(['orders']);
    await bus.untilReads();
    await shared.stopReaders();
    await bus.send('orders', ...inPartition0('{"id":1}', '{"id":2}'));
    await bus.alterPosition((position) => alter(position, bus.name('orders')));
    shared.startReaders();
    expect(await bus.untilState('stopped', reason)).toMatchObject({ lagRecords: 2 });
    expect(await bus.events()).toEqual([]);
    await bus.reset('oldest');
    expect((await bus.untilEvents(2)).toSorted()).toEqual(['{"id":1}', '{"id":2}']);
  });

  it('reads a topic or partition created later from its beginning', async () => {
    await bus.make({ orders: 1 });
    await bus.publish(['orders', 'later']);
    await bus.untilStored('no topic', ({ tables }) => tables.some(({ problem }) => problem?.reason === 'no_topic'));
    await bus.make({ later: 1 });
    await bus.send('later', { value: '{"id":"later"}' });
    expect(await bus.untilEvents(1)).toEqual(['{"id":"later"}']);
    await shared.admin.createPartitions({ topicPartitions: [{ topic: bus.name('orders'), count: 2 }] });
    // kafkajs drops a record for a partition that its metadata does not have.
    await untilFound('the partition', async () => {
      const { topics } = await shared.admin.fetchTopicMetadata({ topics: [bus.name('orders')] });
      return topics.some(({ partitions }) => partitions.some(({ partitionId }) => partitionId === 1)) || undefined;
    });
    await bus.send('orders', { value: '{"id":"new"}', partition: 1 });
    expect(await bus.untilEvents(2)).toContain('{"id":"new"}');
  });

  it('reads records whatever they are compressed with', async () => {
    const codecs = ['gzip', 'snappy', 'lz4', 'zstd'];
    await Promise.all(codecs.map((codec) => bus.make({ [codec]: 1 }, codec)));
    await bus.publish(codecs);
    await bus.untilReads();
    const words = Array.from({ length: 60 }, (_, word) => `word ${word} `.repeat(1 + (word % 9))).join('');
    const bodies = Array.from({ length: 20 }, (_, id) => JSON.stringify({ id, words, noise: crypto.randomUUID() }));
    await Promise.all(codecs.map((codec) => bus.send(codec, ...bodies.map((value) => ({ value })))));
    const isUnpacked = (codec: string): boolean => codec !== 'zstd' || typeof zlib.zstdDecompressSync === 'function';
    const readable = codecs.filter(isUnpacked);
    const found = await bus.untilEvents(readable.length * bodies.length);
    expect(found.toSorted()).toEqual(readable.flatMap(() => bodies).toSorted());
    if (readable.length < codecs.length) {
      const [letter] = await bus.untilLetters(1);
      expect(letter).toMatchObject({ reason: 'record_unreadable', detail: expect.stringContaining('zstd') as string });
    }
  });

  it('reads the records of a committed transaction, and none of an aborted one', async () => {
    await bus.make({ orders: 1 });
    await bus.publish(['orders']);
    await bus.untilReads();
    const producer = shared.kafka.producer({ transactionalId: bus.name('writer'), maxInFlightRequests: 1 });
    await producer.connect();
    const write = async (end: 'commit' | 'abort', id: number): Promise<void> => {
      const transaction = await producer.transaction();
      await transaction.send({ topic: bus.name('orders'), messages: inPartition0(JSON.stringify({ id })) });
      await transaction[end]();
    };
    await write('abort', 1);
    await write('commit', 2);
    await write('abort', 3);
    await bus.send('orders', ...inPartition0('{"id":4}'));
    expect((await bus.untilEvents(2)).toSorted()).toEqual(['{"id":2}', '{"id":4}']);
    await producer.disconnect();
  });

  it('forgets a source that was removed', async () => {
    await bus.publish(['nowhere']);
    await bus.untilReads();
    await bus.publish([]);
    await untilFound('the end', async () => ((await bus.stored()) === null ? true : undefined));
  });

  it('connects to no broker that the address guard refuses', async () => {
    const guarded = createTopicSources({ guard: createAddressGuard({ allowed: [] }) });
    const target = { ...bus.ref, brokers: shared.brokers, tls: null, sasl: null };
    expect(await guarded.topics(target)).toMatchObject({
      ok: false,
      error: { reason: 'refused_address', fix: 'allowed_private_addresses: ["127.0.0.1"]' },
    });
    await bus.make({ orders: 2 });
    const topics = await shared.adapter.topics(target);
    expect(topics.ok && topics.value).toContainEqual({ topic: bus.name('orders'), partitions: 2, problem: null });
    expect(await shared.adapter.check(target, [bus.name('orders'), 'nowhere'])).toEqual({
      server: 'Kafka with 1 broker',
      problems: [],
      topics: [
        { topic: bus.name('orders'), partitions: 2, problem: null },
        { topic: 'nowhere', partitions: 0, problem: { reason: 'no_topic', detail: null, fix: null } },
      ],
    });
  });
});
