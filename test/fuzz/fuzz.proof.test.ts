import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endChecks } from './checks.ts';
import { KINDS, type FuzzCase } from './fuzz-case.ts';
import { fuzz, MAX_LOOP_DELAY, runCase } from './run.ts';
import { openRunningShop, type Target } from './running-shop.ts';

/*
 * Hostile input (test/fuzz/README.md). FUZZ_CASES=1000000 does as many, FUZZ_SEED=7 does the same cases again; `npm run fuzz`
 * does both, and prints how far it is.
 */

/** The same cases for every change, so that what turns red is what the change did; `npm run fuzz` draws others. */
const SEED = 20261121;

const cases = Number(process.env['FUZZ_CASES'] ?? 20_000);
const seed = Number(process.env['FUZZ_SEED'] ?? SEED);

let target: Target;
beforeAll(async () => {
  target = await openRunningShop();
});
afterAll(async () => {
  await target.close();
  await endChecks();
});

describe('Former findings of the fuzzer', () => {
  const folder = join(import.meta.dirname, 'regressions');
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));

  it.each(files)('stay fixed: %s', async (name) => {
    const { found, input } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as { found: string; input: FuzzCase };
    expect(await runCase(target, input), found).toMatchObject({ what: null });
  });
});

it(
  `The product takes or refuses each of ${cases} hostile cases, and goes on (FUZZ_SEED=${seed})`,
  async () => {
    const report = await fuzz(target, { cases, seed });
    const { failures, counts, ...figures } = report;
    console.log(`fuzz, seed ${seed}:`, { ...figures, ...counts });
    expect(failures).toEqual([]);
    expect(report.loopP99).toBeLessThan(MAX_LOOP_DELAY);
    // Cases that are all refused at the door would show nothing of what is behind it.
    for (const kind of KINDS) expect(Object.keys(counts).some((name) => name.startsWith(kind))).toBe(true);
    // Nor would a shop that the cases themselves have shut.
    expect(counts['events 404']).toBeLessThan(cases / 20);
    for (const taken of [
      'json taken',
      'rules taken',
      'templates taken',
      'files taken',
      'events 202',
      'management 200',
      'cohorts 200',
      'callbacks 204',
      'mails taken',
      'mails refused',
      'credentials 200',
    ]) {
      expect(counts[taken], taken).toBeGreaterThan(cases / 1_000);
    }
    expect(counts['credentials 202']).toBeGreaterThan(0);
  },
  300_000 + cases * 30,
);
