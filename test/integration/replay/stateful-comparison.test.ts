import { describe, expect, it } from 'vitest';
import { DAY, START, type CaseRecord, type RuleSpec } from '../../../libs/stages/test/evaluate/stateful/cases.ts';
import { declareStatefulOracle } from './declare-stateful-oracle.ts';
import { compareRules, logOf, shopOf } from './stateful-comparison.ts';

declareStatefulOracle(20);

/** Placed, and not paid within three seconds. */
const UNPAID: RuleSpec = {
  totals: [],
  when: { is: 'kind', kind: 'a' },
  wait: { by: 'after', seconds: 3 },
  unless: { is: 'kind', kind: 'b' },
  cooldown: null,
};
const NEVER: RuleSpec = { ...UNPAID, when: { is: 'kind', kind: 'c' } };

const FROM = START + 10 * DAY;
const eventAt = (at: number, entity: string, kind: 'a' | 'b'): CaseRecord => ({
  holds: 'event',
  at,
  time: at,
  id: `evt_${entity}${kind}`,
  entity,
  body: { kind, email: `${entity.toLowerCase()}@example.com` },
});

describe('A comparison over a range', () => {
  it('includes messages of waits that began before it, and counts waits that end after it', async () => {
    const records = [
      // A day before, so that the log does not begin with what the rules look back at.
      eventAt(FROM - DAY, 'old', 'a'),
      eventAt(FROM - 2_000, 'waits', 'a'),
      eventAt(FROM - 1_999, 'paid', 'a'),
      eventAt(FROM - 1_000, 'paid', 'b'),
      eventAt(FROM + 8_000, 'late', 'a'),
    ];
    const { slots, counts } = await compareRules({
      records: logOf(records, null),
      before: shopOf([NEVER], null),
      after: shopOf([UNPAID], null),
      first: 4,
      from: FROM,
      to: FROM + 10_000,
      pageRecords: 2,
    });
    expect(slots.map(({ difference, eventId, at, isCold }) => ({ difference, eventId, at, isCold }))).toEqual([
      { difference: 'added', eventId: 'evt_waitsa', at: FROM + 1_000, isCold: undefined },
    ]);
    expect(counts).toMatchObject({ wouldWait: { before: 0, after: 1 }, cold: { before: 0, after: 0 } });
  });
});
