import type { LogId } from '@carillon/kernel';
import { describeEventHistory, logRecord } from '@carillon/testing';
import { Kafka, logLevel } from 'kafkajs';
import { expect, it } from 'vitest';
import { describeWith } from '../../../../test/support/requirements.ts';
import { openKafkaHistory } from '../src/index.ts';
import { sharedKafka } from './running-kafka.ts';

describeWith('kafka', 'reading the whole history of the log on Kafka', () => {
  const running = sharedKafka();

  describeEventHistory('Kafka', async () => {
    const { connection, open } = running();
    const log = await open();
    const history = await openKafkaHistory(connection, log.logId);
    return {
      port: { log, history },
      async close() {
        history.close();
        await log.close();
      },
    };
  });

  it('uses no consumer group', async () => {
    const { connection, open } = running();
    const log = await open();
    const { end } = await log.bounds('carillon.events', 0);
    await log.append([logRecord('read')]);
    const admin = new Kafka({ brokers: [...connection.brokers], logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    const { groups } = await admin.listGroups();
    const history = await openKafkaHistory(connection, log.logId);
    const read = { topic: 'carillon.events', partition: 0, from: end, end: end + 1 } as const;
    for await (const { records } of history.pages(read, 10)) expect(records).toHaveLength(1);
    expect((await admin.listGroups()).groups).toEqual(groups);
    await admin.disconnect();
    history.close();
    await log.close();
  });

  it('refuses another log, and a topic that is shorter than it was', async () => {
    const { connection, open } = running();
    const other = 'log_00000000000000000000000001' as LogId;
    await expect(openKafkaHistory(connection, other)).rejects.toMatchObject({ code: 'wrong_log' });
    const log = await open();
    const history = await openKafkaHistory(connection, log.logId);
    const { end } = await log.bounds('carillon.events', 5);
    const pages = history.pages({ topic: 'carillon.events', partition: 5, from: end, end: end + 1 }, 10);
    const reading = (async () => {
      for await (const page of pages) expect(page.records).toEqual([]);
    })();
    await expect(reading).rejects.toMatchObject({ code: 'wrong_log' });
    history.close();
    await log.close();
  });
});
