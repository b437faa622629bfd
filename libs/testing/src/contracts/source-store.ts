import type { KafkaPosition, PostgresPosition } from '@carillon/domain/changes';
import { OWNER_ACTOR } from '@carillon/domain/people';
import type { EventLog, NewRecord, ResetRequest, SourceStore, StoredSource } from '@carillon/ports';
import { beforeEach, describe, expect, it } from 'vitest';
import { freshFor, freshName, type UnderTest } from './under-test.ts';

type StoreAndLog = { readonly sources: SourceStore; readonly log: EventLog };

const TOPIC = 'carillon.events';
const PARTITION = 0;

const POSITION: PostgresPosition = {
  kind: 'postgres',
  systemId: '7301234567890123456',
  timeline: 1,
  slot: 'carillon_shop_db',
  publication: 'carillon_shop_db',
  publicationOid: 16_400,
  lsn: '0/1948580',
  partial: null,
  at: 1000,
};

const OFFSETS: KafkaPosition = {
  kind: 'kafka',
  clusterId: 'n0fNoXkTRx6sLVqj7ZJ5Qg',
  topics: {
    'app.public.orders': { id: 'AAAAAAAAAAAAAAAAAAAAAQ', partitions: { 0: 0, 1: 4_503_599_627_370_496 } },
    // Names that an object has of its own, or that a store of documents may take for operators.
    constructor: { id: null, partitions: {} },
    '_$set.a-b': { id: 'AAAAAAAAAAAAAAAAAAAAAg', partitions: { 199: 7 } },
  },
  at: 1000,
};

/** A source that was just set up. */
export const storedSourceOf = (more: Partial<StoredSource> = {}): StoredSource => ({
  workspace: 'shop',
  integration: 'shop-db',
  kind: 'postgres',
  version: 1,
  secrets: { url: 'SHOP_DB', ca: null },
  position: POSITION,
  state: { kind: 'running' },
  since: 1000,
  tables: [{ table: 'public.orders', since: 1000, problem: null }],
  lastChangeAt: null,
  lagBytes: null,
  reportedAt: 1000,
  reset: null,
  moved: false,
  ...more,
});

const RESET: ResetRequest = { by: OWNER_ACTOR, reason: 'restored', at: 2000, from: POSITION, gone: false };

/** `isOneCommit`: the backend writes position and records in one commit. */
export function describeSourceStore(
  name: string,
  make: () => Promise<UnderTest<StoreAndLog>>,
  { isOneCommit }: { readonly isOneCommit: boolean },
): void {
  describe(`${name} keeps the contract of sources`, () => {
    const { port, faults } = freshFor(make);
    let workspace = '';
    beforeEach(() => {
      workspace = freshName('shop');
    });
    const sources = () => port().sources;
    const source = (more: Partial<StoredSource> = {}) => storedSourceOf({ workspace, ...more });
    const ref = () => ({ workspace, integration: 'shop-db' });
    const recordOf = (text: string): NewRecord => ({
      topic: TOPIC,
      partition: PARTITION,
      key: 'k',
      value: new TextEncoder().encode(text),
      headers: { shape: 'change' },
    });
    async function texts(): Promise<readonly string[]> {
      const { start } = await port().log.bounds(TOPIC, PARTITION);
      const records = await port().log.read(TOPIC, PARTITION, start, 100_000, 100_000_000);
      return records.map(({ value }) => new TextDecoder().decode(value));
    }

    it('knows no source before its first write', async () => {
      expect(await sources().load(ref())).toBeNull();
      expect(await sources().list(workspace)).toEqual([]);
    });

    it('appends records in order and stores the position', async () => {
      const [one, two, three] = [freshName('one'), freshName('two'), freshName('three')];
      expect(await sources().advance(source(), [recordOf(one), recordOf(two)])).toBe('done');
      const next = source({
        version: 2,
        position: { ...POSITION, lsn: '0/2', partial: { commitLsn: '0/3', changes: 4 } },
      });
      expect(await sources().advance(next, [recordOf(three)])).toBe('done');
      expect((await texts()).slice(-3)).toEqual([one, two, three]);
      expect(await sources().load(ref())).toEqual(next);
    });

    it('stores the position of a Kafka source, without secrets', async () => {
      const bus = source({ kind: 'kafka', secrets: null, position: OFFSETS, tables: [], lagRecords: 7 });
      expect(await sources().advance(bus, [])).toBe('done');
      expect(await sources().load(ref())).toEqual(bus);
      const partitions = Object.fromEntries(Array.from({ length: 1000 }, (_, partition) => [partition, partition]));
      const wide = { ...OFFSETS, topics: { 'app.public.orders': { id: 'AAAAAAAAAAAAAAAAAAAAAQ', partitions } } };
      expect(await sources().advance({ ...bus, version: 2, position: wide }, [recordOf(freshName('wide'))])).toBe(
        'done',
      );
      expect((await sources().load(ref()))?.position).toEqual(wide);
    });

    it('stores a state without records', async () => {
      await sources().advance(source({ position: null }), []);
      const next = source({ version: 2, state: { kind: 'stopped', reason: 'slot_gone', detail: null, fix: null } });
      expect(await sources().advance(next, [])).toBe('done');
      expect(await sources().load(ref())).toEqual(next);
    });

    it('refuses a position that is based on an older version', async () => {
      await sources().advance(source(), []);
      await sources().advance(source({ version: 2, lagBytes: 1 }), []);
      const late = freshName('late');
      expect(await sources().advance(source({ version: 2, lagBytes: 2 }), [recordOf(late)])).toBe('stale');
      expect(await sources().advance(source({ lagBytes: 2 }), [])).toBe('stale');
      expect(await sources().advance(source({ version: 9, lagBytes: 2 }), [])).toBe('stale');
      expect(await sources().load(ref())).toEqual(source({ version: 2, lagBytes: 1 }));
      if (isOneCommit) expect(await texts()).not.toContain(late);
    });

    it('lets one of many writers advance', async () => {
      await sources().advance(source(), []);
      const names = Array.from({ length: 12 }, () => freshName('rival'));
      const answers = await Promise.all(
        names.map((text, at) => sources().advance(source({ version: 2, lagBytes: at }), [recordOf(text)])),
      );
      const winners = names.filter((_text, at) => answers[at] === 'done');
      expect(winners).toHaveLength(1);
      expect(answers.filter((answer) => answer === 'stale')).toHaveLength(11);
      expect((await sources().load(ref()))?.lagBytes).toBe(answers.indexOf('done'));
      const appended = (await texts()).filter((text) => names.includes(text));
      if (isOneCommit) expect(appended).toEqual(winners);
      else expect(appended).toEqual(expect.arrayContaining(winners));
    });

    it('appends each record before its position if writes fail', async ({ skip }) => {
      const broken = faults();
      if (!broken) return skip('this adapter has no faults to inject');
      await sources().advance(source(), []);
      const text = freshName('broken');
      await broken.breakWrites();
      await expect(sources().advance(source({ version: 2 }), [recordOf(text)])).rejects.toThrow();
      await broken.mendWrites();
      const isAdvanced = (await sources().load(ref()))?.version === 2;
      const isAppended = (await texts()).includes(text);
      if (isOneCommit) expect(isAppended).toBe(isAdvanced);
      else expect(isAppended || !isAdvanced).toBe(true);
    });

    it('stores a reset request once', async () => {
      await sources().advance(source(), []);
      expect(await sources().requestReset(ref(), 9, RESET)).toBe('stale');
      expect(await sources().requestReset(ref(), 1, RESET)).toBe('done');
      expect(await sources().requestReset(ref(), 1, RESET)).toBe('stale');
      expect(await sources().load(ref())).toEqual(source({ version: 2, reset: RESET }));
      expect(await sources().advance(source({ version: 2 }), [])).toBe('stale');
      expect(await sources().advance(source({ version: 3 }), [])).toBe('done');
      expect((await sources().load(ref()))?.reset).toBeNull();
    });

    it('lists sources by workspace', async () => {
      const other = freshName('other');
      await sources().advance(source(), []);
      await sources().advance(source({ integration: 'stock-db' }), []);
      await sources().advance(source({ workspace: other }), []);
      const names = async (of?: string) =>
        (await sources().list(of)).map((found) => `${found.workspace}/${found.integration}`);
      expect((await names(workspace)).toSorted()).toEqual([`${workspace}/shop-db`, `${workspace}/stock-db`]);
      expect(await names()).toEqual(expect.arrayContaining([`${workspace}/shop-db`, `${other}/shop-db`]));
    });

    it('removes the version that was read', async () => {
      await sources().advance(source(), []);
      expect(await sources().remove(ref(), 2)).toBe('stale');
      expect(await sources().remove(ref(), 1)).toBe('done');
      expect(await sources().load(ref())).toBeNull();
      expect(await sources().remove(ref(), 1)).toBe('stale');
      expect(await sources().advance(source(), [])).toBe('done');
    });

    // A store in the process of its caller loses no answers.
    if (isOneCommit) return;
    it('keeps writes whose answers are lost', async () => {
      const lossy = faults();
      if (!lossy?.loseAnswers) throw new Error('this adapter cannot lose answers');
      await sources().advance(source(), []);
      lossy.loseAnswers(0.5);
      for (let tries = 0, version = 1; version < 6 && tries < 100; tries += 1) {
        await sources()
          .advance(source({ version: version + 1 }), [])
          .catch(() => null);
        lossy.loseAnswers(0);
        version = (await sources().load(ref()))?.version ?? 0;
        lossy.loseAnswers(0.5);
      }
      lossy.loseAnswers(0);
      expect((await sources().load(ref()))?.version).toBe(6);
    });
  });
}
