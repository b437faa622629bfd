import { settingsFor, startClusterServices, type ClusterServices } from '@carillon/testing/cluster';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { askShop, openFilledShop, type FilledShop } from './filled-shop.ts';

/** All cases together; `CARILLON_API_CASES=100000` for a night. */
const CASES = Number(process.env['CARILLON_API_CASES'] ?? 10_000);
const SEED = Number(process.env['CARILLON_API_SEED'] ?? Date.now() % 100_000);
const OPERATIONS = 210;
const HOURS = 3 * 3_600_000;

for (const backend of ['embedded', 'cluster'] as const) {
  const needed = [
    'python',
    'pip',
    ...(backend === 'cluster' ? (['kafka', 'mongodb', 'registry'] as const) : []),
  ] as const;
  describeWith(needed, `Every operation of the management API on ${backend}, asked for thousands of cases`, () => {
    let shop: FilledShop;
    let services: ClusterServices | undefined;
    beforeAll(async () => {
      if (backend === 'cluster') services = await startClusterServices();
      shop = await openFilledShop(services && settingsFor(services));
    }, 600_000);
    afterAll(async () => {
      await shop.close();
      await services?.stop();
    }, 600_000);

    it.each(['viewer', 'owner'] as const)(
      `answers a %s as its description says, and fails never (seed ${SEED})`,
      async (who) => {
        const { failures, cases } = await askShop(shop, who, { cases: Math.ceil(CASES / 4 / OPERATIONS), seed: SEED });
        console.log(`${backend}, ${who}: ${cases} cases, ${failures.length} failures`);
        expect(failures).toEqual([]);
        expect(cases).toBeGreaterThan(CASES / 8);
      },
      HOURS,
    );
  });
}
