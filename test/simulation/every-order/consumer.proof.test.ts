import { beforeAll, describe, expect, it } from 'vitest';
import { openShared, type Shared } from '../world.ts';
import { runConsumer, type Bug } from './consumer.ts';
import type { Mishap } from './table.ts';

/** Requests before the consumer's own: that of the customer. */
const FIRST = 1;
const SIMPLE = ['not_reached', 'no_answer', 'dies_before', 'dies_after'] as const;
/** A worker that comes back does so before the other began, or after it ended, or in between. */
const LONGEST_HOLD = 22;

let shared: Shared;
let requests = 0;
beforeAll(async () => {
  shared = await openShared();
  ({ requests } = await runConsumer([], shared));
});

const upTo = (end: number, from = 0): readonly number[] => Array.from({ length: end - from }, (_, at) => from + at);
const simple = (from: number, end: number): readonly Mishap[] =>
  upTo(end, from).flatMap((at) => SIMPLE.map((kind): Mishap => ({ at, kind })));
const holds = (): readonly Mishap[] =>
  upTo(FIRST + requests, FIRST).flatMap((at) =>
    upTo(LONGEST_HOLD).map((until): Mishap => ({ at, kind: 'held', until })),
  );

/** The first layout of mishaps that breaks something. */
async function search(layouts: Iterable<readonly Mishap[]>, bug?: Bug): Promise<string | null> {
  for (const layout of layouts) {
    const { broken } = await runConsumer(layout, shared, bug);
    if (broken !== null) return `${broken}: ${JSON.stringify(layout)}`;
  }
  return null;
}

function* pairs(): Generator<readonly Mishap[]> {
  for (const first of simple(FIRST, FIRST + requests)) {
    yield [first];
    // What comes after a mishap is at most as long again.
    for (const second of simple(first.at + 1, FIRST + requests + 10)) yield [first, second];
  }
}

function* twoWorkers(): Generator<readonly Mishap[]> {
  for (const held of holds()) {
    yield [held];
    for (const at of upTo(held.at + 12, held.at + 1)) yield [held, { at, kind: 'dies_after' }];
  }
}

const BUGS: Readonly<Record<string, Bug & { readonly finds: RegExp }>> = {
  'position before state': {
    plant: (tools) => ({
      ...tools,
      cohorts: {
        ...tools.cohorts,
        async save(cohort) {
          const { logId, partition, offset } = cohort;
          const place = { group: 'engine', topic: 'carillon.cohorts', watermark: 0, configNumber: -1 };
          await tools.checkpoints.save({ ...place, logId, partition, next: offset + 1 });
          return tools.cohorts.save(cohort);
        },
      },
    }),
    finds: /position \d is saved before the state/,
  },
  'outputs after state': {
    plant(tools) {
      const late: Parameters<typeof tools.log.append>[0][number][] = [];
      const append: typeof tools.log.append = async (records) => {
        late.push(...records);
        return records.map(() => 0);
      };
      return {
        ...tools,
        log: { ...tools.log, append },
        cohorts: {
          ...tools.cohorts,
          async save(cohort) {
            const saved = await tools.cohorts.save(cohort);
            await tools.log.append(late.splice(0));
            return saved;
          },
        },
      };
    },
    finds: /saved before its output/,
  },
  'no fences': { fenced: false, finds: /went back/ },
};

describe('a consumer with a state of its own, through every mishap', () => {
  it('reads as often as the bounds of this test assume', () => {
    expect(requests).toBeGreaterThan(12);
    expect(requests).toBeLessThan(LONGEST_HOLD);
  });

  it('keeps the order of outputs, state and position with any two of its requests failed or cut off', async () => {
    expect(await search(pairs())).toBeNull();
  }, 600_000);

  it('keeps it with two concurrent workers, one paused anywhere and one killed later', async () => {
    expect(await search(twoWorkers())).toBeNull();
  }, 600_000);

  for (const [name, { finds, ...bug }] of Object.entries(BUGS)) {
    it(`does not, and this test says so, with ${name}`, async () => {
      expect(await search(twoWorkers(), bug)).toMatch(finds);
    }, 600_000);
  }
});
