import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { CannotRun, type Bench, type OpenSide, type Side } from './bench.ts';
import { createDelays, quantilesOf, recordDelay } from './delays.ts';
import { closedLoop, openLoop } from './load.ts';
import type { CaseResult } from './results.ts';
import { runBench } from './run.ts';
import { judge, spreadOf } from './statistics.ts';

const OPTIONS = { rounds: 3, seconds: 1, tell: () => undefined };

/** A side that says it did so many in a second, and writes down its turns. */
function sideOf(name: string, rate: number, turns: string[] = [], more: Partial<OpenSide> = {}): Side {
  return {
    name,
    syncs: 'nothing',
    open: async () => ({
      round: async ({ number }) => {
        turns.push(`${name}${number}`);
        return { done: rate, seconds: 1 };
      },
      verify: async () => [],
      ...more,
    }),
  };
}

const benchOf = (...sides: Side[]): Bench => ({
  name: 'sample',
  title: 'A sample',
  what: '',
  cases: [
    {
      title: 'one case',
      counted: 'things',
      sides,
      comparisons: [{ side: 'ours', to: 'theirs', measure: 'rate', wanted: 'at least', floor: 0.5, goal: 0.7 }],
    },
  ],
});

async function resultOf(...sides: Side[]): Promise<CaseResult> {
  const { cases } = await runBench(benchOf(...sides), OPTIONS);
  const [result] = cases;
  if (!result) throw new Error('the bench has a case');
  return result;
}

function judged(result: CaseResult) {
  const [comparison] = result.comparisons;
  if (!comparison) throw new Error('the case compares');
  return judge(comparison, result);
}

describe('The harness', () => {
  it('lets the sides take turns, turns their order each round, and throws the first round away', async () => {
    const turns: string[] = [];
    const result = await resultOf(sideOf('ours', 6, turns), sideOf('theirs', 10, turns));

    expect(turns).toEqual(['ours0', 'theirs0', 'theirs1', 'ours1', 'ours2', 'theirs2', 'theirs3', 'ours3']);
    expect(result.sides.map(({ rounds }) => rounds.length)).toEqual([3, 3]);
  });

  it.each([
    [4, 'missed'],
    [6, 'floor met'],
    [7, 'goal met'],
  ])('divides the medians: %i to 10 means %s', async (rate, verdict) => {
    const judgement = judged(await resultOf(sideOf('ours', rate), sideOf('theirs', 10)));
    expect(judgement).toMatchObject({ verdict, value: rate / 10 });
  });

  it('misses nothing where there is no floor', async () => {
    const result = await resultOf(sideOf('ours', 4), sideOf('theirs', 10));
    const stated = { side: 'ours', to: 'theirs', measure: 'rate', wanted: 'at least' } as const;
    expect(judge(stated, result)).toMatchObject({ verdict: 'stated', value: 0.4 });
    expect(judge({ ...stated, goal: 0.3 }, result)).toMatchObject({ verdict: 'goal met' });
  });

  it('takes the median over the rounds, and shows the spread', () => {
    expect(spreadOf([5, 1, 3])).toEqual({ median: 3, min: 1, max: 5 });
    expect(spreadOf([4, 1, 3, 2])).toEqual({ median: 2.5, min: 1, max: 4 });
    expect(() => spreadOf([])).toThrow(RangeError);
  });

  it('says nothing of a side whose work turns out wrong', async () => {
    const wrong = sideOf('theirs', 10, [], { verify: async () => ['3 events are missing'] });
    const judgement = judged(await resultOf(sideOf('ours', 100), wrong));
    expect(judgement).toMatchObject({ verdict: 'void', why: 'theirs: verification: 3 events are missing' });
  });

  it('reports no figures of a side that fails, and continues with the others', async () => {
    const failing = sideOf('theirs', 10, [], { round: () => Promise.reject(new Error('it broke')) });
    const result = await resultOf(sideOf('ours', 100), failing);
    expect(judged(result)).toMatchObject({ verdict: 'void', why: 'theirs: round 0: it broke' });
    expect(result.sides[0]?.rounds).toHaveLength(3);
  });

  it('skips a side that the machine cannot run, with the reason', async () => {
    const absent: Side = {
      ...sideOf('theirs', 10),
      open: () => Promise.reject(new CannotRun('nginx is not installed')),
    };
    const result = await resultOf(sideOf('ours', 100), absent);
    expect(judged(result)).toMatchObject({ verdict: 'not run', why: 'theirs: nginx is not installed' });
    expect(result.sides[1]).toMatchObject({ skipped: 'nginx is not installed', faults: [], rounds: [] });
  });

  it('closes what it opened, also where a side failed', async () => {
    const closed: string[] = [];
    const closing = (name: string): Partial<OpenSide> => ({ close: async () => void closed.push(name) });
    const failing = { ...closing('theirs'), round: () => Promise.reject(new Error('it broke')) };
    await resultOf(sideOf('ours', 1, [], closing('ours')), sideOf('theirs', 1, [], failing));
    expect(closed).toEqual(['theirs', 'ours']);
  });

  it('subtracts the medians if the comparison is about a difference', async () => {
    const result = await resultOf(sideOf('ours', 7), sideOf('theirs', 10));
    const above = { side: 'ours', to: 'theirs', by: 'difference', measure: 'rate', wanted: 'at most' } as const;
    expect(judge({ ...above, floor: -3 }, result)).toMatchObject({ verdict: 'floor met', value: -3 });
    expect(judge({ ...above, floor: -4 }, result)).toMatchObject({ verdict: 'missed', value: -3 });
  });

  it('judges a measure without a counterpart by its own value', async () => {
    const result = await resultOf(sideOf('ours', 4), sideOf('theirs', 1));
    const alone = { side: 'ours', measure: 'seconds', wanted: 'at most', floor: 2, goal: 0.5 } as const;
    expect(judge(alone, result)).toMatchObject({ verdict: 'floor met', value: 1 });
  });

  it('counts the CPU time of its own process beside the rate', async () => {
    const result = await resultOf(sideOf('ours', 1), sideOf('theirs', 1));
    expect(result.sides[0]?.rounds[0]?.cpu).toEqual({ bench: expect.any(Number) as number });
  });
});

describe('A case with a pace of its own', () => {
  it('has its own number of rounds, overriding the command', async () => {
    const seconds: number[] = [];
    const side: Side = {
      ...sideOf('ours', 1),
      open: async () => ({
        round: async (round) => (seconds.push(round.seconds), { done: 1, seconds: 1 }),
        verify: async () => [],
      }),
    };
    const bench = benchOf(side);
    const cases = bench.cases.map((one) => ({ ...one, comparisons: [], pace: { rounds: 2, seconds: 8 } }));
    await runBench({ ...bench, cases }, OPTIONS);
    expect(seconds).toEqual([4, 8, 8]);
  });

  it('lasts the given minutes at the given rate', async () => {
    const turns: unknown[] = [];
    const side: Side = {
      ...sideOf('ours', 1),
      open: async () => ({
        round: async (round) => (turns.push(round), { done: 1, seconds: 1 }),
        verify: async () => [],
      }),
    };
    const bench = benchOf(side);
    const cases = bench.cases.map((one) => ({ ...one, comparisons: [], pace: { rounds: 20, seconds: 30 } }));
    const { cases: results } = await runBench({ ...bench, cases }, { ...OPTIONS, minutes: 1, rate: 250 });
    expect(turns).toEqual([
      { number: 0, seconds: 15, rate: 250 },
      { number: 1, seconds: 30, rate: 250 },
      { number: 2, seconds: 30, rate: 250 },
    ]);
    expect(results[0]?.pace).toEqual({ rounds: 2, seconds: 30 });
  });

  it('looks at the memory of each process on the way', async () => {
    const result = await resultOf(sideOf('ours', 1), sideOf('theirs', 1));
    expect(result.sides[0]?.rounds[0]?.memory['bench']).toBeGreaterThan(10);
  });
});

describe('The load', () => {
  it('keeps so many open, no more', async () => {
    let open = 0;
    let most = 0;
    const reading = await closedLoop({ open: 4, seconds: 0.3 }, async () => {
      most = Math.max(most, (open += 1));
      await sleep(1);
      open -= 1;
    });
    expect(most).toBe(4);
    expect(reading.delays?.count).toBe(reading.done);
  });

  it('starts each request at its scheduled time, also behind a stalled one, and measures delay from that time', async () => {
    const reading = await openLoop({ rate: 100, seconds: 0.2 }, async (n) => {
      if (n > 0) return;
      // The process itself stands still: what was due meanwhile begins late.
      const until = performance.now() + 100;
      while (performance.now() < until);
    });
    expect(reading.done).toBe(20);
    // Half of them were due meanwhile. Were each counted from where it really began, only the first would have waited.
    expect((reading.delays?.percentile(75) ?? 0) / 1000).toBeGreaterThan(5);
  });

  it('keeps delays to three digits', () => {
    const delays = createDelays();
    for (let n = 1; n <= 100; n += 1) recordDelay(delays, n);
    const { p50, p99, max } = quantilesOf(delays);
    expect(p50).toBeCloseTo(50, 0);
    expect(p99).toBeCloseTo(99, 0);
    expect(max).toBeCloseTo(100, 0);
  });
});
