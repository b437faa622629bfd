import { setTimeout as pause } from 'node:timers/promises';
import type { ConsumeOptions, NewRecord } from '@carillon/ports';
import { isCarillonError } from '@carillon/kernel';
import { createWitness, freshName, untilFound } from '@carillon/testing';
import { KAFKA_API } from '@carillon/testing/faults';
import { Kafka, logLevel } from 'kafkajs';
import { expect, test } from 'vitest';
import { describeWith } from '../../../../test/support/requirements.ts';
import type { KafkaLog } from '../src/index.ts';
import { runningKafka } from './running-kafka.ts';

const TIMEOUT = 300_000;

const recordOf = (value: string | Uint8Array, more: Partial<NewRecord> = {}): NewRecord => ({
  topic: 'carillon.events',
  partition: 0,
  key: 'k',
  value: Buffer.from(value as string),
  headers: {},
  ...more,
});

type Told = { readonly told: 'assigned' | 'lost' | 'failed' | 'record'; readonly by: string; readonly what: string };
const count = (seen: readonly Told[], what: Told['told']): number => seen.filter(({ told }) => told === what).length;

describeWith('kafka', 'the log on Kafka while brokers fail', () => {
  const running = runningKafka({ properties: { 'group.min.session.timeout.ms': '1000' } });

  const follow = async (log: KafkaLog, group: string, by: string, tell: (told: Told) => void) => {
    const starts = await Promise.all(
      Array.from({ length: 8 }, async (_, at) => (await log.bounds('carillon.events', at)).end),
    );
    const options: ConsumeOptions = {
      group,
      topic: 'carillon.events',
      maxRecords: 100,
      maxBytes: 1_000_000,
      async assigned(partition) {
        tell({ told: 'assigned', by, what: String(partition) });
        return {
          from: starts[partition] ?? 0,
          async handle(records) {
            for (const { value } of records) tell({ told: 'record', by, what: Buffer.from(value).toString() });
          },
          async lost() {
            tell({ told: 'lost', by, what: String(partition) });
          },
        };
      },
      failed: (partition, error) => tell({ told: 'failed', by, what: `${partition}: ${String(error)}` }),
    };
    return log.consume(options);
  };

  test(
    'refuses appends within the deadline while the broker is down for 10 s, and resumes without a restart',
    async () => {
      const { kafka } = running();
      const log = await running().open({ appendTimeout: 5000, readTimeout: 5000, sessionTimeout: 6000 });
      const witness = createWitness<Told>();
      const consumption = await follow(log, freshName('outage'), 'a', (told) => witness.saw(told));
      const appends = (value: string) =>
        untilFound(`it takes ${value}`, () => log.append([recordOf(value)]).catch(() => undefined));
      await appends('before');
      await kafka.kill();
      const until = Date.now() + 10_000;
      let slowest = 0;
      let refusals = 0;
      while (Date.now() < until) {
        const began = Date.now();
        const refused = await log.append([recordOf('during')]).catch((error: unknown) => error);
        expect(isCarillonError(refused) && refused.code).toBe('log_unavailable');
        slowest = Math.max(slowest, Date.now() - began);
        refusals += 1;
      }
      const reading = log.read('carillon.config', 0, 0, 10).catch((error: unknown) => error);
      expect(await reading).toMatchObject({ code: 'log_unavailable' });
      // The deadline is 5 s; a client that tried on by itself would take half a minute.
      expect(slowest).toBeLessThan(25_000);
      await kafka.restart();
      const back = Date.now();
      expect(await appends('after')).toHaveLength(1);
      console.info(
        `${refusals} refusals, the slowest after ${slowest} ms; appended ${Date.now() - back} ms after the restart`,
      );
      await witness.until('the consumer goes on', (seen) => seen.some(({ what }) => what === 'after'));
      await consumption.stop();
      await log.close();
    },
    TIMEOUT,
  );

  test(
    'limits the queued bytes while no broker responds',
    async () => {
      const log = await running().open({ appendTimeout: 1500, maxQueuedBytes: 200_000 });
      running().proxy.decide = ({ apiKey }) => (apiKey === KAFKA_API.produce ? 'silence' : 'pass');
      const outcomes = await Promise.allSettled(
        Array.from({ length: 50 }, () => log.append([recordOf('x'.repeat(10_000))])),
      );
      running().proxy.decide = () => 'pass';
      const codes = outcomes.map((each) =>
        each.status === 'rejected' && isCarillonError(each.reason) ? each.reason.code : 'done',
      );
      expect(new Set(codes)).toEqual(new Set(['log_unavailable', 'overloaded']));
      expect(codes.filter((code) => code === 'log_unavailable').length).toBeLessThanOrEqual(20);
      await untilFound('it takes records again', () => log.append([recordOf('fine again')]).catch(() => undefined));
      await log.close();
    },
    TIMEOUT,
  );

  test('refuses a batch with a record that is too large for its topic, and appends no record of the batch', async () => {
    const log = await running().open();
    const { end } = await log.bounds('carillon.events', 0);
    const batch = [recordOf('small'), recordOf(new Uint8Array(4 * 1024 * 1024))];
    await expect(log.append(batch)).rejects.toMatchObject({ code: 'body_too_large' });
    expect((await log.bounds('carillon.events', 0)).end).toBe(end);
    const [offset] = await log.append([recordOf(new Uint8Array(4 * 1024 * 1024 - 1024))]);
    expect((await log.read('carillon.events', 0, offset ?? 0, 1))[0]?.value.length).toBe(4 * 1024 * 1024 - 1024);
    await log.close();
  });

  test(
    'hands partitions over between two members: each record is handled, in order within its partition',
    async () => {
      const [one, two] = [await running().open(), await running().open()];
      const group = freshName('rebalance');
      const witness = createWitness<Told>();
      const first = await follow(one, group, 'a', (told) => witness.saw(told));
      // Records come until both have worked, and a while after the first one has left.
      let left = 100;
      let appended = 0;
      let handedOver = false;
      const appending = (async () => {
        for (; left > 0; appended += 1) {
          if (handedOver) left -= 1;
          await one.append([recordOf(`r${appended}`, { partition: appended % 8 })]);
          await pause(20);
        }
      })();
      const second = await follow(two, group, 'b', (told) => witness.saw(told));
      await witness.until(
        'both work',
        (seen) => new Set(seen.filter((t) => t.told === 'record').map((t) => t.by)).size === 2,
      );
      handedOver = true;
      await first.stop();
      await appending;
      await witness.until('all were handled', (seen) => {
        const handled = new Set(seen.filter(({ told }) => told === 'record').map(({ what }) => what));
        return Array.from({ length: appended }, (_, at) => `r${at}`).every((value) => handled.has(value));
      });
      await second.stop();
      const held = new Map<string, string>();
      for (const { told, by, what } of witness.seen) {
        if (told === 'assigned') {
          expect(held.get(what)).toBeUndefined();
          held.set(what, by);
        }
        if (told === 'lost') held.delete(what);
      }
      expect(held.size).toBe(0);
      expect(witness.seen.filter(({ told }) => told === 'failed')).toEqual([]);
      await Promise.all([one.close(), two.close()]);
    },
    TIMEOUT,
  );

  test(
    'reports to a group member that the group dropped it, and the member rejoins',
    async () => {
      const log = await running().open({ sessionTimeout: 2000, heartbeatInterval: 300 });
      const witness = createWitness<Told>();
      const consumption = await follow(log, freshName('session'), 'a', (told) => witness.saw(told));
      const hasAll = (seen: readonly Told[]): boolean => count(seen, 'assigned') - count(seen, 'lost') === 8;
      await witness.until('it has all', hasAll);
      running().proxy.decide = ({ apiKey }) => (apiKey === KAFKA_API.heartbeat ? 'cut-before' : 'pass');
      await witness.until('it lost all', (seen) => count(seen, 'lost') >= 8);
      running().proxy.decide = () => 'pass';
      await witness.until('it has all again', hasAll);
      await consumption.stop();
      await log.close();
    },
    TIMEOUT,
  );

  test('copies consumer positions to Kafka for tools that show lag, and never reads them from there', async () => {
    const log = await running().open({ copyInterval: 200 });
    const witness = createWitness<Told>();
    const group = freshName('lag');
    const consumption = await follow(log, group, 'a', (told) => witness.saw(told));
    const [offset = 0] = await log.append([recordOf('counted', { partition: 3 })]);
    await witness.until('it was handled', (seen) => seen.some(({ what }) => what === 'counted'));
    await consumption.stop();
    const client = new Kafka({ clientId: 'lag', brokers: [...running().kafka.brokers], logLevel: logLevel.NOTHING });
    const admin = client.admin();
    await admin.connect();
    const [topic] = await admin.fetchOffsets({ groupId: `carillon.${group}.events`, topics: ['carillon.events'] });
    expect(topic?.partitions.find(({ partition }) => partition === 3)?.offset).toBe(String(offset + 1));
    await admin.disconnect();
    await log.close();
  });

  test('wakes the process rarely while the log is idle', async () => {
    const log = await running().open();
    const consumption = await follow(log, freshName('idle'), 'a', () => undefined);
    await log.append([recordOf('warm')]);
    await pause(500);
    const before = process.cpuUsage();
    await pause(3000);
    const { user, system } = process.cpuUsage(before);
    const share = (user + system) / 3_000_000;
    console.info(`idle log with one consumer: ${(share * 100).toFixed(1)} % of a core`);
    expect(share).toBeLessThan(0.15);
    const began = performance.now();
    const { end } = await log.bounds('carillon.config', 0);
    for (let at = 0; at < 100; at += 1) await log.read('carillon.config', 0, end, 200);
    console.info(`a read at the end of carillon.config: ${((performance.now() - began) / 100).toFixed(2)} ms`);
    await consumption.stop();
    await log.close();
  });
});
