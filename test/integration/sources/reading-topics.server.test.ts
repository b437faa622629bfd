import { OWNER_ACTOR } from '@carillon/domain/people';
import type { TopicStart } from '@carillon/domain/changes';
import zlib from 'node:zlib';
import { createAddressGuard } from '@carillon/adapter-guarded-http';
import { createTopicSources } from '@carillon/adapter-kafka';
import { untilFound } from '@carillon/testing/topology';
import kafkajs from 'kafkajs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { sharedServer } from '../../support/shared-servers.ts';
import { ReadingTopics, REF } from './reading-topics.ts';

const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

describeWith('kafka', 'An embedded engine that reads topics of Kafka', () => {
  let bus: ReadingTopics;
  beforeEach(async () => {
    bus = await ReadingTopics.create((await sharedServer('kafka')).brokers);
    await bus.make('orders', 2);
    await bus.open();
  }, 60_000);
  afterEach(() => bus.drop());

  const restart = async (): Promise<void> => {
    await bus.close();
    await bus.open();
  };
  async function reset(start: TopicStart): Promise<void> {
    const source = await bus.stored();
    const request = { by: OWNER_ACTOR, reason: 'looked', at: 1, from: source?.position ?? null, gone: false, start };
    expect(await bus.topology.data.sources.requestReset(REF, source?.version ?? 0, request)).toBe('done');
  }
  const letters = async () => {
    const records = await bus.topology.records('carillon.dead-letters');
    return records.map(({ value }) => {
      const letter = bus.topology.ports.codecs.deadLetter.decode(value);
      if (!letter.ok) throw new Error('no dead letter');
      return letter.value;
    });
  };

  it('makes an event of each record, byte for byte, from the end of the topic on', async () => {
    await bus.send('orders', { value: '{"id":0}', partition: 0 });
    await bus.publish('orders');
    await bus.untilState('running');
    const value = '{ "id": 1, "total": 12.50 }';
    await bus.send('orders', { value, partition: 0, headers: { traceparent: TRACE }, timestamp: '1790000000000' });
    expect(await bus.untilEvents(1)).toEqual([value]);
    const [event] = await bus.events();
    expect(event?.headers).toMatchObject({
      key: '1',
      principal: 'source:bus',
      stream: 'shop/orders',
      time: '1790000000000',
      traceparent: TRACE,
    });
    // The records that come while nobody reads are read after a restart, with compressed ones.
    await bus.close();
    const messages = [2, 3, 4].map((id) => ({ value: JSON.stringify({ id }), partition: 1 }));
    await bus.sendCompressed('orders', kafkajs.CompressionTypes.GZIP, messages);
    await bus.send('orders', { key: '2', value: null, partition: 1 }, { value: '{"id":5}', partition: 1 });
    await bus.open();
    expect((await bus.untilEvents(5)).slice(1)).toEqual(expect.arrayContaining(['{"id":2}', '{"id":5}']));
    const source = await bus.untilStored('no lag', ({ lagRecords }) => lagRecords === 0);
    expect(source).toMatchObject({ secrets: null, lagBytes: null, tables: [{ problem: null }] });
  });

  it('puts a record that is no event among the dead letters, and reads on behind it', async () => {
    await bus.publish('orders');
    await bus.untilState('running');
    const large = JSON.stringify({ id: 1, text: 'x'.repeat(300 * 1024) });
    const bad = ['not json', '[1]', '{"id":1,"id":2}', large].map((value) => ({ value, partition: 0 }));
    await bus.send('orders', ...bad, { value: '{"id":9}', partition: 0 }, { value: '{"no":"key"}', partition: 0 });
    expect(await bus.untilEvents(2)).toEqual(expect.arrayContaining(['{"id":9}', '{"no":"key"}']));
    const found = await letters();
    expect(found.map(({ partition, offset }) => [partition, offset])).toEqual(bad.map((_, offset) => [0, offset]));
    expect(found[0]).toMatchObject({
      stage: 'append',
      topic: `source bus, topic ${bus.name('orders')}`,
      detail: expect.stringContaining(`${bus.name('orders')}/0 at offset 0`) as string,
    });
  });

  it('stops when a topic is made again, also with more records than before, until a person resets it', async () => {
    await bus.publish('orders');
    await bus.untilState('running');
    await bus.send('orders', { value: '{"id":1}', partition: 0 });
    await bus.untilEvents(1);
    await bus.close();
    await bus.remove('orders');
    await bus.make('orders', 2);
    const made = [1, 2, 3].map((id) => ({ value: JSON.stringify({ id }), partition: 0 }));
    await bus.send('orders', ...made);
    await bus.open();
    const stopped = await bus.untilState('stopped', 'topic_made_again');
    expect(stopped.lagRecords).toBe(3);
    await restart();
    expect(await bus.stored()).toEqual(stopped);
    await reset('oldest');
    expect(await bus.untilEvents(4)).toHaveLength(4);
    const ids = (await bus.events()).map(({ headers }) => headers['event_id']);
    // The cluster, topic, partition and offset of the first record are those of a record before.
    expect(new Set(ids).size).toBe(3);
  });

  it('notices while it reads that a topic was made again', async () => {
    await bus.publish('orders');
    await bus.untilState('running');
    await bus.remove('orders');
    await bus.untilStored('no topic', ({ tables }) => tables[0]?.problem?.reason === 'no_topic');
    await bus.make('orders');
    await bus.untilState('stopped', 'topic_made_again');
  });

  it('stops when retention has deleted records that it has not read, and passes over the rest if a person says so', async () => {
    await bus.publish('orders');
    await bus.untilState('running');
    await bus.untilStored('a position', ({ position }) => position !== null);
    await bus.close();
    const sent = [1, 2, 3].map((id) => ({ value: JSON.stringify({ id }), partition: 0 }));
    await bus.send('orders', ...sent);
    await bus.deleteRecords('orders', 2);
    await bus.open();
    const stopped = await bus.untilState('stopped', 'records_gone');
    expect(stopped).toMatchObject({
      lagRecords: 1,
      state: { detail: expect.stringContaining('begins at 2') as string },
    });
    await reset('end');
    await bus.untilStored('the reset', ({ state, reset: request }) => state.kind === 'running' && request === null);
    await bus.send('orders', { value: '{"id":4}', partition: 0 });
    expect(await bus.untilEvents(1)).toEqual(['{"id":4}']);
  });

  it('reads a topic from its beginning that is made after a stream names it, and so a new partition', async () => {
    await bus.publish('orders', 'later');
    await bus.untilStored('no topic', ({ tables }) => tables.some(({ problem }) => problem?.reason === 'no_topic'));
    await bus.make('later');
    await bus.send('later', { value: '{"id":"later"}' });
    expect(await bus.untilEvents(1)).toEqual(['{"id":"later"}']);
    await bus.admin.createPartitions({ topicPartitions: [{ topic: bus.name('orders'), count: 3 }] });
    await untilFound('the partition', async () => {
      const sending = bus.send('orders', { value: '{"id":"new"}', partition: 2 });
      return sending.then(
        () => true,
        () => undefined,
      );
    });
    expect(await bus.untilEvents(2)).toContain('{"id":"new"}');
  });

  it('reads records whatever they are compressed with', async () => {
    const codecs = ['gzip', 'snappy', 'lz4', 'zstd'];
    for (const codec of codecs) await bus.make(codec, 1, codec);
    await bus.publish(...codecs);
    await bus.untilState('running');
    const words = Array.from({ length: 60 }, (_, word) => `word ${word} `.repeat(1 + (word % 9))).join('');
    const bodies = Array.from({ length: 20 }, (_, id) => JSON.stringify({ id, words, noise: crypto.randomUUID() }));
    for (const codec of codecs) await bus.send(codec, ...bodies.map((value) => ({ value })));
    const isUnpacked = (codec: string): boolean => codec !== 'zstd' || typeof zlib.zstdDecompressSync === 'function';
    const readable = codecs.filter(isUnpacked);
    const found = await bus.untilEvents(readable.length * bodies.length);
    expect(found.toSorted()).toEqual(readable.flatMap(() => bodies).toSorted());
    if (readable.length < codecs.length) {
      const [letter] = await untilFound('the dead letter', async () => {
        const all = await letters();
        return all.length > 0 ? all : undefined;
      });
      expect(letter).toMatchObject({ reason: 'record_unreadable', detail: expect.stringContaining('zstd') as string });
    }
  });

  it('forgets a source that was removed', async () => {
    await bus.publish('orders');
    await bus.untilState('running');
    await bus.publish();
    await untilFound('the end', async () => ((await bus.stored()) === null ? true : undefined));
  });

  it('connects to no broker that the address guard refuses', async () => {
    const guarded = createTopicSources({ guard: createAddressGuard({ allowed: [] }) });
    const target = { workspace: 'shop', integration: 'bus', brokers: bus.brokers, tls: null, sasl: null };
    expect(await guarded.topics(target)).toMatchObject({
      ok: false,
      error: { reason: 'refused_address', fix: 'allowed_private_addresses: ["127.0.0.1"]' },
    });
    const topics = await bus.sources.topics(target);
    expect(topics.ok && topics.value).toContainEqual({ topic: bus.name('orders'), partitions: 2, problem: null });
    expect(await bus.sources.check(target, [bus.name('orders'), 'nowhere'])).toEqual({
      server: 'Kafka with 1 broker',
      problems: [],
      topics: [
        { topic: bus.name('orders'), partitions: 2, problem: null },
        { topic: 'nowhere', partitions: 0, problem: { reason: 'no_topic', detail: null, fix: null } },
      ],
    });
  });
});
