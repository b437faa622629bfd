import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import { SUPPRESSION_SOURCES, type SuppressionSource } from '@carillon/domain/deliveries';
import { openTopology, type Topology } from '@carillon/testing/topology';

let topology: Topology;
beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
});
afterEach(() => topology.close());

const PHONE = '+15555550100';
const sources = async (): Promise<readonly SuppressionSource[]> =>
  (await topology.data.suppressions.sources('shop', 'sms', PHONE)).map(({ source }) => source);
const entry = (source: SuppressionSource) => ({
  workspace: 'shop',
  channel: 'sms' as const,
  address: PHONE,
  source,
  detail: '',
  deliveryId: null,
  at: 1,
});

describe('removing one reason for an opt-out, when the person has several', () => {
  it('keeps the other reasons, in any order of adding and removing', async () => {
    const step = fc.record({ add: fc.boolean(), source: fc.constantFrom(...SUPPRESSION_SOURCES) });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const { suppressions } = topology.data;
        await suppressions.remove('shop', 'sms', PHONE);
        const expected = new Set<SuppressionSource>();
        for (const { add, source } of steps) {
          if (add) await suppressions.add(entry(source));
          else expect(await suppressions.remove('shop', 'sms', PHONE, source)).toBe(expected.has(source));
          if (add) expected.add(source);
          else expected.delete(source);
        }
        expect((await sources()).toSorted()).toEqual([...expected].toSorted());
        expect((await suppressions.find('shop', 'sms', PHONE)) === null).toBe(expected.size === 0);
      }),
      { numRuns: 50 },
    );
  });
});
