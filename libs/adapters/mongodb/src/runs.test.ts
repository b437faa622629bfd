import { deliveryOf } from '@carillon/testing';
import type { CohortMember } from '@carillon/domain';
import type { LogId } from '@carillon/kernel';
import type { FieldRow } from '@carillon/ports';
import { beforeEach, expect, it } from 'vitest';
import { taskOf } from '../test/task-of.ts';
import { createAttempts } from './attempts.ts';
import type { Collections } from './collections.ts';
import { inRuns } from './runs.ts';
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
    createRuleStateStore(collections, attempt).save(
      many((at) => ({ id: `s${at}`, logId: 'log' as LogId, partition: 0, offset: 1, nextDue: null, data: '{}' })),
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
      sample: null,
      firstAt: 1,
      lastAt: 1,
    });
    const clock = { now: () => 1 };
    return createReadModels(collections, attempt, clock).put({ fields: many(row) });
  },
  keys: () => createKeyUseStore(collections, attempt).record(many((at) => ({ keyId: `k${at}`, at }))),
};

it.each(Object.keys(writers))('many %s are written in runs that a slow database can take', async (kind) => {
  await writers[kind]?.();
  expect(bulks.reduce((sum, size) => sum + size, 0)).toBe(MANY);
  expect(Math.max(...bulks)).toBeLessThanOrEqual(100);
});

it('runs are written in order, one after another, and answered in order', async () => {
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

it('what an earlier run has taken stays taken when a later one fails', async () => {
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
