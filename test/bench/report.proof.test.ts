import { describe, expect, it } from 'vitest';
import { createCorpus, EVENT_BYTES, USERS } from './corpus.ts';
import type { BenchResult, SideResult } from './harness/results.ts';
import { sectionOf, withOverview } from './report.ts';

const HOW = { date: '2026-11-21', machine: '2 cores', node: 'v24', rounds: 3, seconds: 5 };

const side = (name: string, rates: readonly number[], more: Partial<SideResult> = {}): SideResult => ({
  name,
  syncs: 'nothing',
  faults: [],
  rounds: rates.map((rate) => ({ done: rate, seconds: 1, rate, cpu: { bench: 0.5 }, memory: {} })),
  ...more,
});

const resultOf = (name: string, ...sides: SideResult[]): BenchResult => ({
  name,
  title: `About ${name}`,
  what: 'What is measured.',
  cases: [
    {
      title: 'one case',
      counted: 'things',
      sides,
      comparisons: [{ side: 'ours', to: 'theirs', measure: 'rate', wanted: 'at least', floor: 0.5, goal: 0.7 }],
    },
  ],
});

describe('The report of a bench', () => {
  it('shows each side with its spread and CPU time, the ratio with its floor, and a chart', () => {
    const { text, images } = sectionOf(
      resultOf('rules', side('ours', [60, 50, 70]), side('theirs', [100, 90, 110])),
      HOW,
    );
    expect(text).toContain('| ours | 60 (50..70) | bench 8.33 | nothing |');
    expect(text).toContain('| ours / theirs, things per second | 0.6 (0.556..0.636): floor met | ≥ 0.5 | ≥ 0.7 |');
    expect(text).toContain('2026-11-21; 2 cores; Node v24; 3 rounds of 5 s each.');
    expect([...images.keys()]).toEqual(['rules-1.svg']);
    expect(images.get('rules-1.svg')).toMatch(/^<svg [^>]*>[^]*theirs[^]*<\/svg>\n$/);
  });

  it('shows the reason instead of figures for a void or skipped side', () => {
    const wrong = side('theirs', [100], { faults: ['verification: 3 are missing'] });
    const { text, images } = sectionOf(resultOf('rules', side('ours', [60]), wrong), HOW);
    expect(text).toContain('| theirs | **void**: verification: 3 are missing |');
    expect(text).toContain('void: theirs: verification: 3 are missing');
    expect(images.size).toBe(0);
    const absent = side('theirs', [], { skipped: 'nginx is not installed' });
    expect(sectionOf(resultOf('rules', side('ours', [60]), absent), HOW).text).toContain(
      '| theirs | skipped: nginx is not installed |',
    );
  });
});

describe('A rate limited by the load generator', () => {
  const limitedIn = (...busy: readonly number[]): SideResult => {
    const made = side('theirs', [100, 90, 110]);
    return { ...made, rounds: made.rounds.map((round, at) => ({ ...round, loadBusy: busy[at] ?? 0, offered: 120 })) };
  };
  const textOf = (theirs: SideResult): string => sectionOf(resultOf('rules', side('ours', [60]), theirs), HOW).text;

  it('is marked in the table and in comparisons, with the offered rate', () => {
    const text = textOf(limitedIn(0.95, 0.97, 0.5));
    expect(text).toContain('100 (90..110); offered 120 (120..120); **the load was the limit** in 2 of 3 rounds');
    expect(text).toContain('(the load was the limit of theirs)');
  });

  it('is not marked if the load generator had time left', () => {
    expect(textOf(limitedIn(0.5, 0.6, 0.5))).not.toContain('the limit');
    expect(textOf(limitedIn(0.95, 0.6, 0.5))).not.toContain('the limit of theirs');
  });
});

describe('The report of a soak', () => {
  const soaked = (memory: readonly number[]): BenchResult => {
    const rounds = memory.map((engine) => ({ done: 1, seconds: 1, rate: 1, cpu: {}, memory: { engine, broker: 900 } }));
    const result = resultOf('soak', side('ours', [], { rounds }), side('theirs', []));
    return {
      ...result,
      cases: result.cases.map((one) => ({
        ...one,
        comparisons: [],
        memoryOf: ['engine'],
        pace: { rounds: memory.length, seconds: 60 },
      })),
    };
  };

  it('fits a slope to the memory after the warm-up quarter, and draws all of it', () => {
    const { text, images } = sectionOf(soaked([50, 80, 100, 102, 99, 101, 100, 104]), HOW);
    expect(text).toContain('8 rounds of 60 s.');
    expect(text).toContain('| engine | 101 | 102 | 1,800 (-3,600..7,200): flat |');
    expect(text).not.toContain('broker |');
    expect(images.get('soak-1.svg')).toMatch(/^<svg [^>]*>[^]*engine[^]*<\/svg>\n$/);
  });

  it('reports growth', () => {
    const { text } = sectionOf(soaked([50, 80, 100, 110, 120, 130, 140, 150]), HOW);
    expect(text).toContain('| engine | 105 | 145 | 36,000 (36,000..36,000): **grows** |');
  });

  it('does not take one large round for growth', () => {
    const { text } = sectionOf(soaked([50, 80, 100, 102, 99, 190, 100, 101]), HOW);
    expect(text).toMatch(/engine .*: flat/);
  });

  it('says nothing of fewer than four rounds', () => {
    expect(sectionOf(soaked([50, 80, 100]), HOW).text).not.toContain('memory of');
  });
});

describe('The page of the benches', () => {
  const order = ['rules', 'smtp', 'start'];
  const bare = '# Benchmarks\n\nHow to read.\n\n<!-- results -->\n';

  it('keeps its text, and lists for each bench which floors it met, in order', () => {
    const pages = new Map(
      order
        .slice(0, 2)
        .map((name) => [name, sectionOf(resultOf(name, side('ours', [3]), side('theirs', [4])), HOW).text]),
    );
    const page = withOverview(withOverview(bare, new Map()), pages);
    expect(page.startsWith(bare.trimEnd())).toBe(true);
    expect(page.indexOf('[About rules](benchmarks/rules.md)')).toBeGreaterThan(0);
    expect(page.indexOf('[About rules]')).toBeLessThan(page.indexOf('[About smtp]'));
    expect(page.match(/benchmarks\/rules\.md/g)).toHaveLength(1);
  });

  it('lists missed floors with the measured values', () => {
    const page =
      '# A\n\n| a / b, rows per second | 0.5 (0.4..0.6): missed | ≥ 0.7 | ≥ 1 |\n| a, seconds | 1 (1..1): goal met | ≤ 5 | ≤ 2 |\n';
    expect(withOverview(bare, new Map([['rules', page]]))).toContain(
      '| [A](benchmarks/rules.md) | 1 of 2 | a / b, rows per second: 0.5, floor ≥ 0.7 |',
    );
  });

  it('names the missing marker if the page has no place for results', () => {
    expect(() => withOverview('# Benchmarks\n', new Map())).toThrow(/<!-- results -->/);
  });
});

describe('The corpus', () => {
  it('is the same each time, each event of the same size, some users far more often than others', () => {
    const [one, other] = [createCorpus(), createCorpus()];
    const users = new Map<string, number>();
    for (let n = 0; n < 5000; n += 1) {
      const event = one.next();
      users.set(event.customer.id, (users.get(event.customer.id) ?? 0) + 1);
      const bytes = other.nextBytes();
      if (n > 100) continue;
      expect(bytes.toString()).toBe(JSON.stringify(event));
      expect(bytes).toHaveLength(EVENT_BYTES);
    }
    expect(users.get('user-0')).toBeGreaterThan(300);
    expect(users.size).toBeGreaterThan(1000);
    expect(users.size).toBeLessThan(USERS);
  });

  it.each([200, 4096, 262_144])('comes in other sizes: %i bytes', (bytes) => {
    expect(createCorpus(bytes).nextBytes()).toHaveLength(bytes);
  });
});
