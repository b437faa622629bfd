import { DEFAULT_TOPIC_RETENTION } from '@carillon/contracts';
import type { RoleName } from '../run/role-names.ts';
import { EMPTY_CONFIGURATION } from '@carillon/domain/configuration';
import { DELIVERY_STATES } from '@carillon/domain/deliveries';
import type { ReadinessCheck } from '@carillon/runtime';
import { expect, it } from 'vitest';
import { createCount, createHealth } from './health.ts';
import { readSettings } from './settings.ts';
import { createWatches } from './telemetry-bindings.ts';

const NO_LETTERS = {
  kind: 'cluster',
  defaultRetention: DEFAULT_TOPIC_RETENTION,
  readModels: { deadLetters: async () => ({ items: [], next: null }) },
} as const;

/** The checks that keep a role from being ready, where these are not ok. */
async function whatDecides(role: RoleName, away: readonly string[]): Promise<readonly string[]> {
  const watches = createWatches(readSettings({ logLevel: 'error' }, {}), 'test');
  const health = createHealth(
    {
      watches: {
        telemetry: watches.telemetry,
        stopped: () => (away.includes('partitions') ? ['engine:carillon.events/3'] : []),
        facts: () => [],
      },
      backend: {
        ...NO_LETTERS,
        ledger: { countByState: async () => ({}) },
        readiness: () =>
          ['Kafka', 'data file', 'database'].map((name) => ({ name, ok: !away.includes(name), detail: '' })),
      },
      configuration: {
        current: () => expect.fail('readiness asks for its age only'),
        stoppedBefore: () => null,
        readToEndAt: () => (away.includes('configuration') ? 0 : 10_000),
      },
      clock: { now: () => 10_000 },
      settings: { healthToken: null },
    },
    false,
  );
  const checks: readonly ReadinessCheck[] = health(role).checks();
  await watches.close();
  expect(
    checks
      .filter(({ ok }) => !ok)
      .map(({ name }) => name)
      .toSorted(),
  ).toEqual(away.toSorted());
  return checks.filter(({ ok, decides = true }) => !ok && decides).map(({ name }) => name);
}

it('a gateway stays ready without the database and with stopped partitions, and reports both', async () => {
  expect(await whatDecides('gateway', ['database', 'partitions'])).toEqual([]);
  expect(await whatDecides('gateway', ['Kafka'])).toEqual(['Kafka']);
  expect(await whatDecides('gateway', ['data file'])).toEqual(['data file']);
  expect(await whatDecides('gateway', ['configuration'])).toEqual(['configuration']);
});

it.each(['engine', 'delivery', 'control'] as const)(
  '%s is not ready if any of its dependencies is missing',
  async (role) => {
    for (const name of ['configuration', 'Kafka', 'database', 'partitions']) {
      expect(await whatDecides(role, [name])).toEqual([name]);
    }
  },
);

it('the delivery gauge exports every state, with 0 for states without deliveries', async () => {
  const watches = createWatches(readSettings({ logLevel: 'error' }, {}), 'test');
  const health = createHealth(
    {
      watches: { telemetry: watches.telemetry, stopped: () => [], facts: () => [] },
      backend: { ...NO_LETTERS, ledger: { countByState: async () => ({ COLLECTED: 7 }) }, readiness: () => [] },
      configuration: { current: () => EMPTY_CONFIGURATION, stoppedBefore: () => null, readToEndAt: () => 0 },
      clock: { now: () => 10_000 },
      settings: { healthToken: null },
    },
    true,
  );
  const text = await health('control').metrics();
  await watches.close();
  const told = [...text.matchAll(/^carillon_deliveries\{state="(\w+)"\} (\d+)$/gm)].map(([, state, many]) => [
    state,
    many,
  ]);
  expect(Object.fromEntries(told)).toEqual(
    Object.fromEntries(DELIVERY_STATES.map((state) => [state, state === 'COLLECTED' ? '7' : '0'])),
  );
});

function slowLedger(takes: number) {
  let time = 0;
  let asked = 0;
  let fails = false;
  const read = createCount(
    async () => {
      asked += 1;
      time += takes;
      if (fails) throw new Error('away');
      return { WAITING: asked };
    },
    () => time,
  );
  return { read, asked: () => asked, pass: (span: number) => (time += span), fail: (now: boolean) => (fails = now) };
}

it('a count that takes 200 ms is cached for 20 s, and then repeated', async () => {
  const { read, asked, pass } = slowLedger(200);
  expect(await read()).toEqual({ WAITING: 1 });
  pass(19_000);
  expect(await read()).toEqual({ WAITING: 1 });
  pass(1_000);
  expect(await read()).toEqual({ WAITING: 2 });
  expect(asked()).toBe(2);
});

it('a count that takes no time is made each time', async () => {
  const { read, asked } = slowLedger(0);
  await read();
  await read();
  expect(asked()).toBe(2);
});

it('a count under way is shared by all callers, and a failed count is not cached', async () => {
  const { read, asked, fail } = slowLedger(200);
  fail(true);
  const both = await Promise.allSettled([read(), read()]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(asked()).toBe(1);
  fail(false);
  expect(await read()).toEqual({ WAITING: 2 });
});
