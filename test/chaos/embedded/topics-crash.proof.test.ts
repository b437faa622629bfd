import { setTimeout as pause } from 'node:timers/promises';
import { cli, untilFound } from '@carillon/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { scratch } from '../../integration/product/shop.ts';
import { describeWith } from '../../support/requirements.ts';
import { sharedServer } from '../../support/shared-servers.ts';
import { findWrongOutputs } from '../../support/verify-log.ts';
import { evaluateAgain } from '../evaluate-again.ts';
import { NumberedTopic, readNumbersOnLog } from '../numbered-topic.ts';
import { KilledReader } from './killed-reader.ts';

/*
 * The product is killed while a producer writes to a topic: at each step of the reader, and from outside while it
 * starts and while it runs. CARILLON_SOURCE_KILLS makes the run shorter.
 */

const KILLS = Number(process.env['CARILLON_SOURCE_KILLS'] ?? 15);
const TIMEOUT_MS = 20 * 60_000;

describeWith('kafka', 'An embedded engine that is killed while it reads a topic', () => {
  let place: Awaited<ReturnType<typeof scratch>>;
  let reader: KilledReader;
  let topic: NumberedTopic;
  beforeAll(async () => {
    topic = await NumberedTopic.create((await sharedServer('kafka')).brokers);
    place = await scratch();
    reader = new KilledReader({ folder: place.folder, env: { CARILLON_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.1' } });
  }, TIMEOUT_MS);
  afterAll(async () => {
    await topic?.close();
    await place?.remove();
  });

  /** Resolves once the source runs and no record is left. */
  const untilRead = (): Promise<true> =>
    untilFound(
      'everything read',
      async () => {
        const { stdout } = await cli(['sources', '--json', '--workspace', 'shop'], { dataDir: reader.dataDir });
        const { items = [] } = JSON.parse(stdout || '{}') as { items?: { state: string; lag_records: number }[] };
        await pause(200);
        return (items[0]?.state === 'running' && items[0].lag_records === 0) || undefined;
      },
      TIMEOUT_MS,
    );

  it(
    'logs each record once, in partition order, and evaluates it again to the same intents',
    async () => {
      await reader.begin(topic.files(), untilRead);
      const stopWriting = topic.keepWriting();
      while (reader.count < KILLS) await reader.killOnce();
      await stopWriting();
      const data = await reader.openEvaluated(untilRead);
      const { numbers, repeats } = await readNumbersOnLog(data.log);
      console.info(`${topic.count} records, kills: ${JSON.stringify(reader.kills)}`);
      expect(numbers).toEqual(topic.numbers);
      expect(repeats).toBe(0);
      const { appended, again } = await evaluateAgain(data.log, data.registry, reader.dataDir, async () => undefined);
      const wrong = await findWrongOutputs(reader.dataDir, data);
      await data.close();
      expect(wrong).toEqual([]);
      expect(appended.size).toBe(topic.recipients.length);
      expect(again).toEqual(appended);
    },
    TIMEOUT_MS,
  );
});
