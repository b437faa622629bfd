import type { KafkaPosition } from '@carillon/domain/changes';
import { ok } from '@carillon/kernel';
import type { AddressGuard, TopicBatch, TopicReport, TopicTarget } from '@carillon/ports';
import { untilFound } from '@carillon/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTopicSources } from '../src/index.ts';
import { batchOf } from './record-batches.ts';
import { NOT_AUTHORIZED, ScriptedBroker, TOPIC, TOPIC_ID } from './scripted-broker.ts';

const LOOPBACK: AddressGuard = {
  resolve: async () => ok([{ address: '127.0.0.1', family: 4, listed: true, isPublic: false }]),
};
const MIB = 1024 * 1024;

describe('the reader of a customer’s Kafka topics', () => {
  let broker: ScriptedBroker;
  let target: TopicTarget;
  const batches: TopicBatch[] = [];
  const reports: TopicReport[] = [];
  const sources = createTopicSources({ guard: LOOPBACK, timing: { refreshMs: 20, answerMs: 600_000 } });
  beforeEach(async () => {
    broker = await ScriptedBroker.start();
    target = { workspace: 'shop', integration: 'bus', brokers: [`127.0.0.1:${broker.port}`], tls: null, sasl: null };
    batches.length = 0;
    reports.length = 0;
  });
  afterEach(() => broker.stop());

  const open = (
    take: (batch: TopicBatch) => Promise<void> = async () => undefined,
    from: KafkaPosition | null = null,
  ) =>
    sources.open(target, [TOPIC], from, {
      async take(batch) {
        batches.push(batch);
        if (batch.records.length > 0) await take(batch);
      },
      report: (report) => void reports.push(report),
    });
  const nextOf = ({ topics }: KafkaPosition): number | undefined => topics[TOPIC]?.partitions[0];
  /** As a broker that has records without an end: each answer begins at the offset that was asked for. */
  const endless = (records: number, bytes: number) => (offset: number) =>
    batchOf(
      Array.from({ length: records }, () => ({ value: 'x'.repeat(bytes) })),
      { first: offset },
    );

  it('fetches nothing while a batch is being stored, and passes on at most 500 records or about 1 MiB at once', async () => {
    broker.script = { fetch: endless(1_200, 3_000) };
    const taken = Promise.withResolvers<void>();
    const reader = open(() => taken.promise);
    await untilFound('the first batch', () => (batches.length > 1 ? true : undefined));
    const reportsBefore = reports.length;
    await untilFound('some time', () => (reports.length > reportsBefore + 5 ? true : undefined));
    expect(broker.fetched).toEqual([0]);
    taken.resolve();
    await untilFound('the second answer', () => (broker.fetched.length > 2 ? true : undefined));
    await reader.close();
    const [, ...full] = batches;
    for (const { records } of full) {
      expect(records.length).toBeLessThanOrEqual(500);
      expect(records.length * 3_000).toBeLessThan(MIB + 3_000);
    }
    // One after the other, without a hole and without a repeat.
    const offsets = full.flatMap(({ records }) => records.map(({ offset }) => offset));
    expect(offsets).toEqual(offsets.map((_, place) => place));
    for (const { records, position } of full) expect(nextOf(position)).toBe((records.at(-1)?.offset ?? 0) + 1);
  });

  it('fetches records beyond 16 MiB of decompressed data again later', async () => {
    const batch = (first: number): Buffer => batchOf([{ value: 'x'.repeat(9 * MIB) }], { first });
    broker.script = { fetch: (offset) => (offset < 3 ? Buffer.concat([0, 1, 2].slice(offset).map(batch)) : null) };
    const reader = open();
    await untilFound('all records', () => (broker.fetched.at(-1) === 3 ? true : undefined));
    await reader.close();
    expect(broker.fetched).toEqual([0, 2, 3]);
    expect(batches.flatMap(({ records }) => records.map(({ offset }) => offset))).toEqual([0, 1, 2]);
  });

  it('ends with the error of a batch that could not be stored', async () => {
    broker.script = { fetch: endless(1, 1) };
    const error = new Error('the disk is full');
    const reader = open(() => Promise.reject(error));
    expect(await reader.ended).toEqual({ kind: 'closed', error });
  });

  it.each<[string, ScriptedBroker['script']]>([
    ['metadata', { metadataError: NOT_AUTHORIZED }],
    ['a fetch', { fetchError: NOT_AUTHORIZED }],
  ])('reports that it may not read a topic if %s is refused, and reads it once it may', async (_, script) => {
    broker.script = script;
    const reader = open();
    const problem = await untilFound('the problem', () => reports.at(-1)?.tables[0]?.problem ?? undefined);
    expect(problem).toEqual({
      reason: 'may_not_read',
      detail: null,
      fix: `kafka-acls --add --allow-principal User:NAME --operation Describe --operation Read --topic '${TOPIC}'`,
    });
    broker.script = { fetch: (offset) => (offset === 0 ? batchOf([{ value: 'a' }], { first: 0 }) : null) };
    await untilFound('the record', () => (batches.at(-1)?.records.length === 1 ? true : undefined));
    await reader.close();
  });

  const FROM: KafkaPosition = {
    kind: 'kafka',
    clusterId: 'cluster',
    topics: { [TOPIC]: { id: TOPIC_ID, partitions: { 0: 0, 1: 0 } } },
    at: 1,
  };
  const recordAt0 = (offset: number): Buffer | null => (offset === 0 ? batchOf([{ value: 'a' }], { first: 0 }) : null);

  it('reads the other partitions of a leader while one fails, and then waits with topic and error code', async () => {
    const patient = createTopicSources({ guard: LOOPBACK, timing: { refreshMs: 600_000, stalePauseMs: 1 } });
    broker.script = { partitions: [{ fetchError: 2 }, {}], fetch: recordAt0, end: 1 };
    const handlers = { take: async (batch: TopicBatch) => void batches.push(batch), report: () => undefined };
    expect(await patient.open(target, [TOPIC], FROM, handlers).ended).toMatchObject({
      kind: 'waiting',
      reason: 'unreachable',
      detail: `${TOPIC}/0: the broker answers with Kafka's error 2.`,
    });
    const read = batches.flatMap(({ records }) => records.map(({ partition, offset }) => [partition, offset]));
    expect(read).toEqual([[1, 0]]);
  });

  it('reads 200 partitions, each record once', async () => {
    const count = 200;
    broker.script = { partitions: Array.from({ length: count }, () => ({})), fetch: recordAt0, end: 1 };
    const numbers = Array.from({ length: count }, (_, partition) => partition);
    const partitions = Object.fromEntries(numbers.map((partition) => [partition, 0]));
    const reader = open(undefined, { ...FROM, topics: { [TOPIC]: { id: TOPIC_ID, partitions } } });
    const read = () => batches.flatMap(({ records }) => records.map(({ partition }) => partition));
    await untilFound('all records', () => (read().length >= count ? true : undefined));
    await untilFound('no lag of the topic', () => (reports.at(-1)?.tables[0]?.lagRecords === 0 ? true : undefined));
    await reader.close();
    expect(read().toSorted((one, other) => one - other)).toEqual(numbers);
    const position = batches.at(-1)?.position.topics[TOPIC]?.partitions ?? {};
    expect(Object.values(position)).toEqual(numbers.map(() => 1));
  });

  it('continues while another partition has no leader', async () => {
    broker.script = { partitions: [{}, { leader: -1 }], fetch: recordAt0 };
    const reader = open(undefined, FROM);
    await untilFound('later reports', () => (reports.length > 5 ? true : undefined));
    await reader.close();
    expect(await reader.ended).toEqual({ kind: 'closed', error: null });
    expect(batches.flatMap(({ records }) => records)).toHaveLength(1);
    expect(reports.at(-1)?.tables[0]?.problem).toEqual({ reason: 'no_leader', detail: 'partition 1', fix: null });
  });

  const MISSING = { [TOPIC]: { id: null, partitions: {} } };
  it.each([
    ['end', 'exists', 0, { [TOPIC]: { id: TOPIC_ID, partitions: { 0: 7 } } }],
    ['end', 'does not exist', 3, MISSING],
    // A reader begins at the end of a topic that its position does not know.
    ['end', 'may not be read', NOT_AUTHORIZED, {}],
    ['oldest', 'may not be read', NOT_AUTHORIZED, MISSING],
  ] as const)('resets to %s while the topic %s', async (start, _, metadataError, topics) => {
    broker.script = { end: 7, metadataError };
    const reset = await sources.reset(target, [TOPIC], start);
    expect(reset.ok && reset.value.topics).toEqual(topics);
  });

  it.each([{ metadataError: 5 }, { partitions: [{}, { leader: -1 }] }])('refuses a reset while %j', async (script) => {
    broker.script = script;
    const reset = await sources.reset(target, [TOPIC], 'end');
    expect(reset).toMatchObject({ ok: false, error: { reason: 'unreachable' } });
  });

  it.each([
    ['check', (signal: AbortSignal) => sources.check(target, [TOPIC], signal)],
    ['list of topics', (signal: AbortSignal) => sources.topics(target, signal)],
  ])('ends a %s when its caller stops waiting', async (_, look) => {
    broker.silent = true;
    const ending = new AbortController();
    const looked = look(ending.signal);
    await untilFound('a connection', () => (broker.connections > 0 ? true : undefined));
    ending.abort();
    expect(JSON.stringify(await looked)).toContain('unreachable');
    await untilFound('its end', () => (broker.connections === 0 ? true : undefined));
  });

  it('asks no further broker once its caller stops waiting', async () => {
    target = { ...target, brokers: Array.from({ length: 9 }, () => `127.0.0.1:${broker.port}`) };
    expect(await sources.check(target, [TOPIC], AbortSignal.abort())).toMatchObject({ server: null });
    expect(broker.connections).toBe(0);
  });

  it('refuses to read a topic of Carillon’s own', async () => {
    broker.script = { topic: 'carillon.events', fetch: recordAt0 };
    const { topics } = await sources.check(target, ['carillon.events']);
    expect(topics).toMatchObject([{ problem: { reason: 'may_not_read', detail: 'Carillon uses this topic itself' } }]);
    const reader = sources.open(target, ['carillon.events'], null, {
      take: async (batch) => void batches.push(batch),
      report: (report) => void reports.push(report),
    });
    await untilFound('reports', () => (reports.length > 3 ? true : undefined));
    await reader.close();
    expect(broker.fetched).toEqual([]);
  });

  it('pauses before it fetches the same bytes again after a fetch gave no new offset', async () => {
    // Behind the offset that was asked for, as no broker sends it.
    broker.script = { end: 9, fetch: () => batchOf([{ value: 'a' }], { first: 3 }) };
    const reader = open(undefined, { ...FROM, topics: { [TOPIC]: { id: TOPIC_ID, partitions: { 0: 7 } } } });
    await untilFound('some reports', () => (reports.length > 10 ? true : undefined));
    await reader.close();
    // Reports come every 20 ms.
    expect(broker.fetched.length).toBeLessThan(5);
  });

  it("lists no topics of Carillon's own", async () => {
    expect(await sources.topics(target)).toMatchObject({ value: [{ topic: TOPIC }] });
    broker.script = { topic: 'carillon.events' };
    expect(await sources.topics(target)).toEqual({ ok: true, value: [] });
  });

  it('stops reading and waits if a broker announces a response of more than 36 MiB', async () => {
    broker.script = { metadata: (socket) => void socket.write(Buffer.from([3, 0, 0, 0])) };
    expect(await open().ended).toMatchObject({ kind: 'waiting', reason: 'unreachable' });
  });

  it('refuses a login with more than 100,000 iterations before it computes any', async () => {
    target = { ...target, sasl: { mechanism: 'scram-sha-256', username: 'carillon', password: 'secret' } };
    broker.script = { iterations: 100_001 };
    expect(await open().ended).toEqual({
      kind: 'waiting',
      reason: 'refused_login',
      detail: 'The broker asks for more than 100000 iterations of SCRAM.',
      fix: null,
    });
    expect(broker.logins).toBe(1);
    broker.script = { iterations: 4_096 };
    // The broker does not know the password, so its proof is wrong.
    expect(await open().ended).toMatchObject({ reason: 'refused_login', detail: null });
    expect(broker.logins).toBe(3);
  });

  it('closes at once while a broker does not answer the login', async () => {
    broker.silent = true;
    const reader = open();
    await untilFound('a connection', () => (broker.connections > 0 ? true : undefined));
    const before = performance.now();
    await reader.close();
    expect(performance.now() - before).toBeLessThan(5_000);
    await untilFound('its end', () => (broker.connections === 0 ? true : undefined));
  });

  it('reports that it waits if a connection is not established within the response time', async () => {
    broker.silent = true;
    const impatient = createTopicSources({ guard: LOOPBACK, timing: { answerMs: 100 } });
    const { problems } = await impatient.check(target, []);
    expect(problems).toMatchObject([{ reason: 'unreachable', detail: expect.stringContaining('in time') as string }]);
  });
});
