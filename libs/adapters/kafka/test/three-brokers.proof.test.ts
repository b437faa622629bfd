import type { NewRecord } from '@carillon/ports';
import { Kafka, logLevel } from 'kafkajs';
import { expect, test } from 'vitest';
import { describeWith } from '../../../../test/support/requirements.ts';
import { runningKafka } from './running-kafka.ts';

const PARTITIONS = 8;

describeWith('kafka', 'the log on three brokers', () => {
  const running = runningKafka({
    nodes: 3,
    properties: { 'broker.session.timeout.ms': '4000', 'broker.heartbeat.interval.ms': '500' },
  });

  test('keeps what it acknowledged when the leader of a partition is killed', async () => {
    const { kafka, connection } = running();
    const log = await running().open({ appendTimeout: 15_000, connection: { ...connection, brokers: kafka.brokers } });
    const client = new Kafka({ clientId: 'asking', brokers: [...kafka.brokers], logLevel: logLevel.NOTHING });
    const admin = client.admin();
    await admin.connect();
    const { topics } = await admin.fetchTopicMetadata({ topics: ['carillon.events'] });
    const leader = topics[0]?.partitions.find(({ partitionId }) => partitionId === 0)?.leader;
    await admin.disconnect();

    const acknowledged = new Map<string, { readonly partition: number; readonly offset: number }>();
    let refused = 0;
    let going = true;
    const write = async (writer: number): Promise<void> => {
      for (let at = 0; going; at += 1) {
        const [value, partition] = [`${writer}-${at}`, (writer + at) % PARTITIONS];
        const record: NewRecord = {
          topic: 'carillon.events',
          partition,
          key: value,
          value: Buffer.from(value),
          headers: {},
        };
        const [offset] = await log.append([record]).catch(() => []);
        if (offset === undefined) refused += 1;
        else acknowledged.set(value, { partition, offset });
      }
    };
    const writers = Array.from({ length: 8 }, (_, writer) => write(writer));
    const victim = kafka.nodes.find(({ id }) => id === leader);
    await expect.poll(() => acknowledged.size).toBeGreaterThan(300);
    await victim?.kill();
    const killed = acknowledged.size;
    const at = Date.now();
    await expect.poll(() => acknowledged.size).toBeGreaterThan(killed + 300);
    const recovered = Date.now() - at;
    await victim?.restart();
    going = false;
    await Promise.all(writers);

    // The log still takes the killed broker for the leader, which now is behind: it must not answer for the partition.
    const stored = new Map<string, number>();
    for (let partition = 0; partition < PARTITIONS; partition += 1) {
      for (let next = 0; ;) {
        const records = await log.read('carillon.events', partition, next, 5000);
        for (const { value } of records) {
          const text = Buffer.from(value).toString();
          stored.set(text, (stored.get(text) ?? 0) + 1);
        }
        const last = records.at(-1);
        if (!last) break;
        next = last.offset + 1;
      }
    }
    const missing = [...acknowledged.keys()].filter((value) => !stored.has(value));
    const doubled = [...stored.values()].filter((count) => count > 1).length;
    console.info(
      `three brokers, leader killed: ${acknowledged.size} acknowledged, ${missing.length} missing, ${doubled} doubled, ` +
        `${refused} refused; at full speed again after ${recovered} ms`,
    );
    expect(missing).toEqual([]);
    await log.close();
  }, 300_000);
});
