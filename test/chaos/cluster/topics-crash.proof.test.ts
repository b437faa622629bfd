import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startLedgerSmtp, untilFound, type LedgerSmtp } from '@carillon/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { scratch } from '../../integration/product/shop.ts';
import { describeWith } from '../../support/requirements.ts';
import { READING_STEPS } from '../killed-reading.ts';
import { NumberedTopic, readNumbersOnLog } from '../numbered-topic.ts';
import { ReadingCluster, secondsUntilRead, untilAnswered, type TakeOver } from './reading-cluster.ts';

/*
 * The engine that reads a topic is killed at each step of the reader, or stopped past its lease, so that both read for
 * a moment when it goes on. CARILLON_SOURCE_ROUNDS makes the run shorter, CARILLON_TAKEOVER_SECONDS allows a busy machine more time.
 */

const ROUNDS = Number(process.env['CARILLON_SOURCE_ROUNDS'] ?? 3);
const TAKEOVER_SECONDS = Number(process.env['CARILLON_TAKEOVER_SECONDS'] ?? 15);
const TIMEOUT_MS = Number(process.env['CARILLON_SOURCE_MINUTES'] ?? 20) * 60_000;
const MAX_NTH_BATCH = 20;
/** Records that the other engine appends before the stopped one goes on. */
const RECORDS_MEANWHILE = 200;

describeWith(['kafka', 'mongodb', 'registry'], 'Two engines of a cluster that read a topic', () => {
  let cluster: ReadingCluster;
  let place: Awaited<ReturnType<typeof scratch>>;
  let topic: NumberedTopic;
  let smtp: LedgerSmtp;

  beforeAll(async () => {
    place = await scratch();
    smtp = await startLedgerSmtp({ file: join(place.folder, 'mails.jsonl') });
    const env = { CARILLON_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.1' };
    cluster = await ReadingCluster.create({ folder: place.folder, source: 'shop/bus', env, deliveries: 1 });
    topic = await NumberedTopic.create(cluster.services.kafka.brokers);
    const deployment = `accounts:
  email: { kind: smtp, host: 127.0.0.1, port: ${smtp.port}, tls: none, from: Shop <shop@example.com> }
`;
    await cluster.begin(topic.files({ 'carillon.yaml': deployment }));
  }, TIMEOUT_MS);
  afterAll(async () => {
    await topic?.close();
    await cluster?.stop();
    await smtp?.stop();
    await place?.remove();
  }, TIMEOUT_MS);

  const countOnLog = async (): Promise<number> => {
    const { log } = cluster;
    let count = 0;
    for (let partition = 0; partition < log.partitions('carillon.events'); partition += 1) {
      count += (await log.bounds('carillon.events', partition)).end;
    }
    return count;
  };
  const untilAppended = async (more: number): Promise<void> => {
    const before = await untilAnswered('the log', countOnLog);
    await untilAnswered('records', async () => (await countOnLog()) >= before + more || undefined);
  };

  it(
    'miss no record, repeat it with the same event id only, and notify each recipient once',
    async () => {
      const stopWriting = topic.keepWriting();
      const takeOvers: TakeOver[] = [];
      try {
        await untilAppended(RECORDS_MEANWHILE);
        for (let round = 0; round < ROUNDS; round += 1) {
          for (const aim of READING_STEPS) {
            takeOvers.push(await cluster.kill({ step: aim, nth: 1 + Math.floor(Math.random() * MAX_NTH_BATCH) }));
            await untilAppended(1);
          }
          takeOvers.push(await cluster.freeze(() => untilAppended(RECORDS_MEANWHILE)));
          await untilAppended(RECORDS_MEANWHILE);
        }
      } finally {
        await stopWriting();
      }
      const lastRead = async (): Promise<true | undefined> => {
        const { numbers } = await readNumbersOnLog(cluster.log);
        await pause(500);
        return numbers.reduce((sum, { length }) => sum + length, 0) >= topic.count || undefined;
      };
      await untilAnswered('everything read', lastRead);
      const mailed = async (): Promise<readonly string[]> => (await smtp.entries()).flatMap(({ to }) => to).toSorted();
      const areMailed = async (): Promise<true | undefined> => {
        await pause(200);
        return (await mailed()).length >= topic.recipients.length || undefined;
      };
      await untilFound('all mails', areMailed, TIMEOUT_MS);
      await cluster.end();

      const { numbers, repeats, times } = await readNumbersOnLog(cluster.log);
      const seconds = takeOvers.map((takeOver) => secondsUntilRead(takeOver, times));
      console.info(
        `${topic.count} records, ${repeats} repeats, ${topic.recipients.length} mails, ` +
          `taken over after ${seconds.map((time) => time.toFixed(1)).join(', ')} s`,
      );
      expect(numbers).toEqual(topic.numbers);
      // A kill between append and position repeats a batch.
      expect(repeats).toBeGreaterThan(0);
      expect(await mailed()).toEqual(topic.recipients.toSorted());
      expect(Math.max(...seconds)).toBeLessThan(TAKEOVER_SECONDS);

      const { appended, again } = await cluster.evaluateAgain(async () => undefined);
      expect(again).toEqual(appended);
      // A repeated record fires again, with an intent of the same id: the mails above show that it is sent once.
      expect(appended.size).toBeGreaterThanOrEqual(topic.recipients.length);
    },
    TIMEOUT_MS,
  );
});
