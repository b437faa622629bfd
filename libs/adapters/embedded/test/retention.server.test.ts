import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { DEFAULT_TOPIC_RETENTION, EARLIER_FOLDER_RETENTION, TOPICS } from '@carillon/contracts';
import { MAX_DEAD_LETTER_BYTES } from '@carillon/domain/events';
import type { DeadLetterRow } from '@carillon/ports';
import { logRecord } from '@carillon/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openEmbedded, type Embedded } from '../src/index.ts';
import { openReader } from '../src/reader.ts';
import { openDeadLetters } from '../src/retention.ts';
import { temporaryFolder } from './open-embedded.ts';

const DAY = 86_400_000;
let folder = temporaryFolder();
let now = 0;
let embedded: Embedded;
const open = async (): Promise<void> => {
  embedded = await openEmbedded({ dataDir: folder.path, clock: { now: () => now } });
};
beforeEach(async () => {
  folder = temporaryFolder();
  now = 1_700_000_000_000;
  await open();
});
afterEach(async () => {
  await embedded.close();
  folder.remove();
});

const bounds = () => embedded.log.bounds('carillon.events', 0);

describe('retention (removal of old records) of a data folder', () => {
  it('moves the start of a partition, and never reuses an offset, even after the partition was emptied and reopened', async () => {
    await embedded.log.append([logRecord('a'), logRecord('b')]);
    now += 1000;
    await embedded.log.append([logRecord('c')]);
    expect(await embedded.log.trim('carillon.events', now)).toBe(2);
    expect(await bounds()).toEqual({ start: 2, end: 3 });
    expect((await embedded.log.read('carillon.events', 0, 0, 10)).map(({ offset }) => offset)).toEqual([2]);
    expect(await embedded.log.trim('carillon.events', now + 1)).toBe(1);
    expect(await bounds()).toEqual({ start: 3, end: 3 });
    await embedded.close();
    await open();
    expect(await embedded.log.append([logRecord('d')])).toEqual([3]);
    expect(await embedded.log.trim('carillon.events', 0)).toBe(0);
  });

  it('removes many records in several small writes', async () => {
    await embedded.log.append(Array.from({ length: 4500 }, () => logRecord('x')));
    expect(await embedded.log.trim('carillon.events', now + 1)).toBe(4500);
    expect(await bounds()).toEqual({ start: 4500, end: 4500 });
  });

  it('lets a consumer whose position was removed continue at the start', async () => {
    await embedded.log.append([logRecord('gone')]);
    await embedded.log.trim('carillon.events', now + 1);
    await embedded.log.append([logRecord('here')]);
    const got = Promise.withResolvers<number>();
    const consumption = await embedded.log.consume({
      group: 'g',
      topic: 'carillon.events',
      maxRecords: 10,
      maxBytes: 1000,
      assigned: async () => ({
        from: 0,
        handle: async ([record]) => got.resolve(record?.offset ?? -1),
        lost: async () => undefined,
      }),
      failed: (_partition, error) => got.reject(error),
    });
    expect(await got.promise).toBe(1);
    await consumption.stop();
  });

  it('removes events, lookups and intents after thirty days, and keeps configuration and consents for ever', async () => {
    const topics = [
      'carillon.events',
      'carillon.lookups',
      'carillon.intents',
      'carillon.config',
      'carillon.consents',
    ] as const;
    const row = {
      id: 'evt_1',
      workspace: 'shop',
      stream: 'shop/orders',
      partition: 0,
      offset: 0,
      bytes: 1,
      configNumber: 0,
    };
    await embedded.log.append(topics.map((topic) => logRecord('old', { topic })));
    const seen = { workspace: 'shop', stream: 'shop/orders', partition: 0, offset: 0, count: 1, sample: '"x"' };
    const field = { ...seen, types: ['string'], tables: [], firstAt: now - 90 * DAY } as const;
    await embedded.readModels.put({
      events: [{ ...row, at: now, reused: false, traceId: null }],
      fields: [
        { ...field, path: 'gone', lastAt: now },
        { ...field, path: 'still', lastAt: now + 1 },
      ],
    });
    const buyers = { workspace: 'shop', integration: 'crm', cohort: 'buyers' };
    const said = { newest: { time: now, offset: 1 }, offset: 1 };
    await embedded.cohorts.saveMembers(buyers, [
      { user: 'ada', inside: true, since: now, ...said },
      { user: 'bob', inside: false, since: null, ...said },
    ]);
    now += 30 * DAY;
    expect(await embedded.applyRetention(now)).toEqual({ records: 0, rows: 0 });
    now += 1;
    await embedded.log.append(topics.map((topic) => logRecord('new', { topic })));
    expect(await embedded.applyRetention(now)).toEqual({ records: 3, rows: 3 });
    expect((await embedded.cohorts.members(buyers, ['ada', 'bob'])).map(({ user }) => user)).toEqual(['ada']);
    expect((await embedded.readModels.fields('shop/orders')).map(({ path }) => path)).toEqual(['still']);
    const held = await Promise.all(topics.map(async (topic) => (await embedded.log.bounds(topic, 0)).start));
    expect(held).toEqual([1, 1, 1, 0, 0]);
    expect(await embedded.readModels.event('evt_1')).toEqual([]);
    const withEvents = { ...DEFAULT_TOPIC_RETENTION, 'carillon.events': null };
    await embedded.applyRetention(now + 1000 * DAY, { topics: withEvents });
    expect((await bounds()).start).toBe(1);
  });

  it('keeps a finished task, and the answer that was used, as long as their log records', async () => {
    const queue = { job: 'ask', workspace: 'shop', name: 'crm' } as const;
    const task = { queue, deadline: null, version: 1, leaseUntil: null, data: '{}' };
    await embedded.tasks.insert([
      { ...task, id: 'done', nextAt: now, done: true },
      { ...task, id: 'open', nextAt: now, done: false },
    ]);
    await embedded.claims.claim([{ triggerId: 'trg_1', position: 'p', at: now }]);
    now += 30 * DAY;
    expect((await embedded.applyRetention(now)).rows).toBe(0);
    now += 1;
    expect((await embedded.applyRetention(now)).rows).toBe(2);
    expect([await embedded.tasks.get('done'), await embedded.claims.get('trg_1')]).toEqual([null, null]);
    expect(await embedded.tasks.get('open')).not.toBeNull();
  });

  it('keeps unread records, however old they are', async () => {
    await embedded.log.append([logRecord('read'), logRecord('unread'), logRecord('unread too')]);
    now += 400 * DAY;
    const unreadFrom = (topic: string): number => (topic === 'carillon.events' ? 1 : Number.POSITIVE_INFINITY);
    expect(await embedded.applyRetention(now, { topics: DEFAULT_TOPIC_RETENTION, unreadFrom })).toMatchObject({
      records: 1,
    });
    expect(await bounds()).toEqual({ start: 1, end: 3 });
  });
});

const LETTERS = 'carillon.dead-letters';
const letterRow = (id: string, ownOffset: number, more: Partial<DeadLetterRow> = {}): DeadLetterRow => ({
  id,
  workspace: 'shop',
  stage: 'evaluate',
  topic: 'carillon.events',
  partition: 0,
  offset: 100 + ownOffset,
  reason: 'unreadable',
  at: now,
  ownPartition: 0,
  ownOffset,
  redrivenAt: null,
  redrivenBy: null,
  dismissedAt: null,
  dismissedBy: null,
  receipt: null,
  ...more,
});
const heldLetters = async (): Promise<readonly number[]> =>
  (await embedded.log.read(LETTERS, 0, 0, 100)).map(({ offset }) => offset);

describe('retention of dead letters in a data folder', () => {
  beforeEach(async () => {
    await embedded.log.append(['a', 'b', 'c', 'd'].map((text) => logRecord(text, { topic: LETTERS, partition: 0 })));
    await embedded.readModels.put({ deadLetters: ['a', 'b', 'c', 'd'].map((id, at) => letterRow(id, at)) });
    now += 31 * DAY;
  });

  it('keeps each open dead letter until it is redriven or dismissed, and removes those around it', async () => {
    await embedded.readModels.markRedriven('a', now, 'ada');
    await embedded.readModels.markDismissed('c', now, 'ada');
    await embedded.applyRetention(now);
    expect(await heldLetters()).toEqual([1, 3]);
    expect(await embedded.log.bounds(LETTERS, 0)).toEqual({ start: 1, end: 4 });
    await embedded.readModels.markRedriven('b', now, 'ada');
    await embedded.applyRetention(now);
    expect(await heldLetters()).toEqual([3]);
    await embedded.readModels.markDismissed('d', now, 'ada');
    await embedded.applyRetention(now);
    expect(await embedded.log.bounds(LETTERS, 0)).toEqual({ start: 4, end: 4 });
  });

  it('reads dead letters page by page, and yields to the event loop in between', async () => {
    const letters = 2_000;
    const some = (from: number) =>
      Array.from({ length: 500 }, (_, at) => letterRow(`more-${from + at}`, 10 + from + at));
    for (let from = 0; from < letters; from += 500) await embedded.readModels.put({ deadLetters: some(from) });
    const reader = openReader(join(folder.path, 'carillon.db'), 5_000, { known: () => null, found: String });
    let turns = 0;
    const others = setInterval(() => (turns += 1), 0);
    const kept = await openDeadLetters(reader);
    clearInterval(others);
    reader.close();
    expect(kept(LETTERS, 0)).toHaveLength(letters + 4);
    expect(turns).toBeGreaterThan(1);
  });

  it('keeps an event that an open dead letter refers to because the event is too large to be copied', async () => {
    const large = { ...logRecord('large'), value: new Uint8Array(MAX_DEAD_LETTER_BYTES) };
    now -= 31 * DAY;
    await embedded.log.append([logRecord('small'), large, logRecord('small')]);
    await embedded.readModels.put({ deadLetters: [letterRow('large', 9, { offset: 1 })] });
    now += 31 * DAY;
    await embedded.applyRetention(now);
    expect((await embedded.log.read('carillon.events', 0, 0, 10)).map(({ offset }) => offset)).toEqual([1]);
    await embedded.readModels.markRedriven('large', now, 'ada');
    await embedded.applyRetention(now);
    expect(await bounds()).toEqual({ start: 3, end: 3 });
  });
});

describe('the retention of topics that the configuration does not name', () => {
  it('is as in schemas/topics for a new folder', () => {
    expect(embedded.defaultRetention).toEqual(DEFAULT_TOPIC_RETENTION);
  });

  it('is unlimited for outcomes, receipts and dead letters in a folder of an earlier release, so that an upgrade loses none', async () => {
    const kept = ['carillon.outcomes', 'carillon.receipts', 'carillon.dead-letters'] as const;
    await embedded.log.append(TOPICS.map((topic) => logRecord('old', { topic, partition: 0 })));
    await embedded.close();
    const file = new DatabaseSync(join(folder.path, 'carillon.db'));
    file.exec('DROP TABLE topic_retention');
    file.close();
    await open();
    expect(embedded.defaultRetention).toEqual(EARLIER_FOLDER_RETENTION);
    now += 4000 * DAY;
    await embedded.applyRetention(now);
    for (const topic of kept) expect((await embedded.log.bounds(topic, 0)).start).toBe(0);
    expect((await bounds()).start).toBe(1);
    const topics = { ...embedded.defaultRetention, 'carillon.outcomes': 30 * DAY };
    await embedded.applyRetention(now, { topics });
    expect((await embedded.log.bounds('carillon.outcomes', 0)).start).toBe(1);
  });
});
