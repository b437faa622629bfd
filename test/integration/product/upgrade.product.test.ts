import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { openEmbedded, openHistory, type Embedded } from '@carillon/adapter-embedded';
import { systemClock } from '@carillon/adapter-system';
import { createRecordCodecs, TOPICS, type TopicName } from '@carillon/contracts';
import { partitionOf } from '@carillon/domain/events';
import type { LogId } from '@carillon/kernel';
import type { NewRecord } from '@carillon/ports';
import { COLLECTIONS, createStores } from '@carillon/stores';
import { startProduct, untilFound } from '@carillon/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openShop, order, shopOf, type Shop } from './shop.ts';

const CONSENTS = 'carillon.consents';
const CLEO = 'cleo@example.com';

type LogReader = Pick<Embedded['log'], 'bounds' | 'partitions' | 'read'>;
type Counts = Readonly<Partial<Record<TopicName, number>>>;

const openFolder = (dataDir: string): Promise<Embedded> =>
  openEmbedded({ dataDir, clock: systemClock, collections: COLLECTIONS });

/** Reads how many records each topic holds. */
async function countRecords({ log }: { readonly log: LogReader }): Promise<Counts> {
  const counts: Partial<Record<TopicName, number>> = {};
  for (const topic of TOPICS) {
    for (let partition = 0; partition < log.partitions(topic); partition += 1) {
      const { start, end } = await log.bounds(topic, partition);
      counts[topic] = (counts[topic] ?? 0) + end - start;
    }
  }
  return counts;
}

/** Returns whom the records of consents name. */
async function namesOnLog({
  log,
  registry,
}: Pick<Embedded, 'registry'> & { readonly log: LogReader }): Promise<readonly string[]> {
  const codecs = await createRecordCodecs(registry, systemClock.now);
  const names: string[] = [];
  for (let partition = 0; partition < log.partitions(CONSENTS); partition += 1) {
    for (const { value } of await log.read(CONSENTS, partition, 0, 100)) {
      const entry = codecs.consent.decode(value);
      names.push(entry.ok ? entry.value.person : 'unreadable');
    }
  }
  return names;
}

/** Makes the folder one of the release before: records and documents of consents without hashes, and no note of its retention. */
async function toReleaseBefore(dataDir: string): Promise<{ readonly logId: LogId; readonly before: Counts }> {
  const data = await openFolder(dataDir);
  const codecs = await createRecordCodecs(data.registry, systemClock.now);
  const { consents } = createStores(data.documents);
  for (const { hash: _, ...document } of (await consents.list(undefined, 100)).items) {
    await consents.replace({ ...document, version: document.version + 1 });
    const records = document.words.map((word): NewRecord => ({
      topic: CONSENTS,
      partition: partitionOf(word.id, data.log.partitions(CONSENTS)),
      key: word.id,
      value: codecs.consent.encode(word),
      headers: {},
    }));
    for (let partition = 0; partition < data.log.partitions(CONSENTS); partition += 1) {
      await data.log.cut(CONSENTS, partition, (await data.log.bounds(CONSENTS, partition)).end);
    }
    await data.log.append(records);
  }
  expect(await namesOnLog(data)).toEqual([CLEO]);
  const before = await countRecords(data);
  const { logId } = data.log;
  await data.close();
  const file = new DatabaseSync(join(dataDir, 'carillon.db'));
  file.exec("DROP TABLE topic_retention; DELETE FROM checkpoints WHERE consumer_group LIKE 'consent-names%'");
  file.close();
  return { logId, before };
}

describe('A data folder of the release before', () => {
  let opened: Shop & { close(): Promise<void> };
  let shop: Shop;
  const ids: string[] = [];
  beforeAll(async () => {
    opened = await openShop();
    shop = opened;
    ids.push(await shop.send(order('A-1')), await shop.send(order('A-2', { total: 1 })));
    await shop.delivered(ids[0] ?? '', 'SENT');
    await shop.judged(ids[1] ?? '');
    const optOut = { person: CLEO, target: 'all', opted_out: true };
    expect((await shop.api('POST', '/v1/workspaces/shop/consents', optOut)).status).toBe(200);
  });
  afterAll(async () => {
    await shop.product.kill('SIGKILL');
    await opened.close();
  });

  it('loses nothing by the upgrade, and names people on the log by keyed hash from then on', async () => {
    await opened.product.kill('SIGTERM');
    const { logId, before } = await toReleaseBefore(opened.dataDir);
    shop = shopOf(await startProduct({ dataDir: opened.dataDir }), opened.folder, opened.dataDir, opened.key);
    const refused = await shop.send(order('A-3', { email: CLEO }));
    expect(await shop.delivered(refused, 'SUPPRESSED')).toMatchObject({ reason: 'opted_out' });
    expect(await shop.delivered(ids[0] ?? '', 'SENT')).toMatchObject({ to: 'ada@example.com' });
    expect(await shop.story(ids[0] ?? '')).toContain('SENT (accepted)');
    const listed = await shop.api<{ items: unknown[] }>('GET', '/v1/workspaces/shop/consents');
    expect(listed.body.items).toMatchObject([{ person: CLEO, words: [{ target: 'all', opted_out: true }] }]);
    const history = openHistory(opened.dataDir, logId);
    const names = await untilFound('the records that name people are removed', async () => {
      const found = await namesOnLog({ log: history, registry: history.registry });
      return found.includes(CLEO) ? undefined : found;
    });
    expect(names).toEqual([expect.stringMatching(/^hashed:/) as unknown]);
    const after = await countRecords({ log: history });
    history.close();
    for (const topic of TOPICS) expect(after[topic] ?? 0, topic).toBeGreaterThanOrEqual(before[topic] ?? 0);
  });
});
