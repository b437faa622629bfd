import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import { SUPPRESSION_SOURCES, type SuppressionSource } from '@carillon/domain';
import { openTopology, type Topology } from '@carillon/testing/topology';
import { applyStopWord, type StopAnswer } from '../../src/index.ts';

let topology: Topology;
beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
});
afterEach(() => topology.close());

const PHONE = '+15555550100';
const ANSWER: StopAnswer = { channel: 'sms', address: PHONE, workspaces: ['shop', 'blog'], detail: 'twilio: STOP' };
const ports = () => ({ suppressions: topology.data.suppressions, clock: topology.clock });
const sources = async (workspace: string, channel: 'sms' | 'email' = 'sms'): Promise<readonly SuppressionSource[]> =>
  (await topology.data.suppressions.sources(workspace, channel, PHONE)).map(({ source }) => source);
const entry = (source: SuppressionSource) => ({
  workspace: 'shop',
  channel: 'sms' as const,
  address: PHONE,
  source,
  detail: '',
  deliveryId: null,
  at: 1,
});

describe('an answer to an SMS', () => {
  it('of STOP holds the number back in every workspace of the sender, on this channel alone, once', async () => {
    await applyStopWord('stop', ANSWER, ports());
    await applyStopWord('stop', { ...ANSWER, address: '+1 555 555-0100' }, ports());
    expect([await sources('shop'), await sources('blog')]).toEqual([['stop'], ['stop']]);
    expect([await sources('other'), await sources('shop', 'email')]).toEqual([[], []]);
  });

  it('of START takes away what STOP said, and nothing else', async () => {
    await topology.data.suppressions.add(entry('operator'));
    await applyStopWord('stop', ANSWER, ports());
    await applyStopWord('start', { ...ANSWER, workspaces: ['shop'] }, ports());
    expect([await sources('shop'), await sources('blog')]).toEqual([['operator'], ['stop']]);
  });

  it('of HELP changes nothing', async () => {
    await applyStopWord('help', ANSWER, ports());
    expect(await sources('shop')).toEqual([]);
  });
});

describe('undoing one source', () => {
  it('leaves the others, in any order of adding and undoing', async () => {
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
        expect((await sources('shop')).toSorted()).toEqual([...expected].toSorted());
        expect((await suppressions.find('shop', 'sms', PHONE)) === null).toBe(expected.size === 0);
      }),
      { numRuns: 50 },
    );
  });
});
