import { deliveryOf } from '@carillon/testing';
import type { CohortMember } from '@carillon/domain/cohorts';
import type { LogId } from '@carillon/kernel';
import type { FieldRow } from '@carillon/ports';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { taskOf } from '../test/task-of.ts';
import { createAttempts } from './attempts.ts';
import type { Collections } from './collections.ts';
import { createAdaptiveBatches, inRuns } from './adaptive-batches.ts';
import { createCohortStore } from './stores/cohort-store.ts';
import { createDeliveryLedger } from './stores/delivery-ledger.ts';
import { createDueTasks } from './stores/due-tasks.ts';
import { createKeyUseStore } from './stores/key-uses.ts';
import { createLookupClaims } from './stores/lookup-claims.ts';
import { createReadModels } from './stores/read-models.ts';
import { createRuleStateStore } from './stores/rule-states.ts';

const MANY = 450;
const many = <Item>(make: (at: number) => Item): Item[] => Array.from({ length: MANY }, (_, at) => make(at));

/** Sizes of the bulk writes that reached the database. */
let bulks: number[] = [];
beforeEach(() => {
  bulks = [];
});

const write = async (documents: readonly unknown[]): Promise<void> => void bulks.push(documents.length);
const collections = new Proxy({} as Collections, { get: () => ({ insertMany: write, bulkWrite: write }) });
const { attempt } = createAttempts(0);

const writers: Record<string, () => Promise<unknown>> = {
  deliveries: () => createDeliveryLedger(collections, attempt).insert(many(() => deliveryOf())),
  tasks: () => createDueTasks(collections, attempt).insert(many(taskOf)),
  claims: () =>
    createLookupClaims(collections, attempt).claim(many((at) => ({ triggerId: `t${at}`, position: `p${at}`, at }))),
  states: () =>
    createRuleStateStore(collections, attempt, { now: () => 0 }).save(
      many((at) => ({
        id: `s${at}`,
        logId: 'log' as LogId,
        partition: 0,
        offset: 1,
        nextDue: null,
        forgetAt: null,
        waits: [],
        data: '{}',
      })),
    ),
  members: () => {
    const member = (at: number): CohortMember => ({
      user: `u${at}`,
      inside: true,
      since: 1,
      newest: { time: 1, offset: 1 },
      offset: 1,
    });
    const ref = { workspace: 'shop', integration: 'posthog', cohort: '7' };
    return createCohortStore(collections, attempt).saveMembers(ref, many(member));
  },
  rows: () => {
    const row = (at: number): FieldRow => ({
      workspace: 'shop',
      stream: 'shop/orders',
      partition: 0,
      path: `p${at}`,
      offset: 1,
      count: 1,
      types: ['string'],
      tables: [],
      sample: null,
      firstAt: 1,
      lastAt: 1,
    });
    const clock = { now: () => 1 };
    return createReadModels(collections, attempt, clock).put({ fields: many(row) });
  },
  keys: () => createKeyUseStore(collections, attempt).record(many((at) => ({ keyId: `k${at}`, at }))),
};

const GROWING = ['deliveries', 'tasks', 'claims', 'states'];

it.each(Object.keys(writers))(
  'many %s are written to MongoDB in batches that a slow database can handle',
  async (kind) => {
    await writers[kind]?.();
    expect(bulks.reduce((sum, size) => sum + size, 0)).toBe(MANY);
    expect(bulks[0]).toBe(100);
    // This database answers at once: what is inserted and states of rules may come in larger ones, and all else stays small.
    if (GROWING.includes(kind)) expect(Math.max(...bulks)).toBeGreaterThan(100);
    else expect(Math.max(...bulks)).toBe(100);
  },
);

describe('batches of writes to MongoDB', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** A database that does so many documents in a second. */
  const databaseOf = (documentsPerSecond: () => number) => async (run: readonly number[]) => {
    await write(run);
    vi.advanceTimersByTime((run.length / documentsPerSecond()) * 1000);
    return run;
  };
  const items = (count: number): number[] => Array.from({ length: count }, (_, at) => at);

  it('hold as many documents as the database writes in a second, from one hundred to five hundred', async () => {
    let rate = 10_000;
    const adapting = createAdaptiveBatches();
    const insert = databaseOf(() => rate);
    await adapting(items(1_600), insert);
    expect(bulks.splice(0)).toEqual([100, 500, 500, 500]);
    rate = 250;
    await adapting(items(1_000), insert);
    expect(bulks.splice(0)).toEqual([500, 250, 250]);
    rate = 15;
    await adapting(items(450), insert);
    expect(bulks.splice(0)).toEqual([250, 100, 100]);
    rate = 300;
    await adapting(items(500), insert);
    expect(bulks.splice(0)).toEqual([100, 300, 100]);
  });

  it('shrink after a few documents only if even these took long', async () => {
    const adapting = createAdaptiveBatches();
    const quick = databaseOf(() => 10_000);
    await adapting(items(3), quick);
    await adapting(items(150), quick);
    await adapting(
      items(1),
      databaseOf(() => 50),
    );
    await adapting(items(500), quick);
    await adapting(
      items(10),
      databaseOf(() => 5),
    );
    await adapting(items(150), quick);
    expect(bulks).toEqual([3, 100, 50, 1, 500, 10, 100, 50]);
  });

  it('are small again after a failure, so that a retry of too large a write succeeds', async () => {
    const adapting = createAdaptiveBatches();
    await adapting(
      items(600),
      databaseOf(() => 10_000),
    );
    bulks = [];
    const slow = async (run: readonly number[]) => {
      await write(run);
      if (run.length > 100) throw new Error('silent');
      vi.advanceTimersByTime(6_000);
      return run;
    };
    await expect(adapting(items(500), slow)).rejects.toThrow('silent');
    expect(await adapting(items(300), slow)).toHaveLength(300);
    expect(bulks).toEqual([500, 100, 100, 100]);
  });
});

it('batches of writes run one after another in order, and their results are in order', async () => {
  const items = many((at) => at);
  let open = 0;
  const answers = await inRuns(items, async (run) => {
    open += 1;
    expect(open).toBe(1);
    await Promise.resolve();
    open -= 1;
    return run.map((item) => -item);
  });
  expect(answers).toEqual(items.map((item) => -item));
});

it('batches that were written stay written if a later batch fails', async () => {
  const taken: number[] = [];
  const failing = inRuns(
    many((at) => at),
    async (run) => {
      if (run.includes(250)) throw new Error('slow');
      taken.push(...run);
      return run;
    },
  );
  await expect(failing).rejects.toThrow('slow');
  expect(taken).toHaveLength(200);
});
