import { recipientsOf } from '../../src/lookups/index.ts';
import {
  EVENT_STEPS,
  EventBudget,
  evaluateRule,
  MAX_RECIPIENTS,
  RULE_STEPS,
  whoIsDropped,
  type Dropped,
  type RuleOutcome,
} from '../../src/rules/index.ts';
import type { Json } from '@carillon/kernel';
import { givenEvent, givenLookup, givenLookupRule, givenRule, givenTrigger } from '@carillon/testing/given';
import { describe, expect, it } from 'vitest';

const people = (many: number): Json[] => Array.from({ length: many }, (_, at) => ({ email: `p${at}@example.com` }));
const judge = (rule: ReturnType<typeof givenRule>, body: { readonly [name: string]: Json }): RuleOutcome =>
  evaluateRule(rule, givenEvent(body), () => 'trg_1');
const whereEach = (where: string) =>
  givenRule({ for_each: 'event.watchers', to: { email: 'item.email' }, where, unique_id: 'item.email' });

/** Costs about 24 steps a character, at its worst. */
const DEAR = 'event.text.matches("(a+)+$")';

function told(outcome: RuleOutcome): { readonly told: number; readonly dropped: readonly Dropped[] } {
  if (outcome.kind !== 'fired') throw new Error(outcome.kind);
  return { told: outcome.recipients.length, dropped: outcome.dropped };
}

describe('the computation budget of a rule for one event', () => {
  it('covers all recipients: once it is spent, the rest are dropped as too_complex and counted', () => {
    const outcome = told(judge(whereEach(DEAR), { watchers: people(500), text: 'a'.repeat(2_000) }));
    expect(outcome.told).toBeGreaterThan(5);
    expect(outcome.told).toBeLessThan(100);
    expect(outcome.dropped).toMatchObject([
      { index: outcome.told, reason: 'too_complex', count: MAX_RECIPIENTS - outcome.told },
    ]);
    expect(whoIsDropped('recipient', outcome.dropped[0] ?? never())).toBe(`recipients ${outcome.told + 1} to 500`);
  });

  it('drops a recipient for whom it runs out, instead of a notification without an address', () => {
    const rule = givenRule({
      for_each: 'event.watchers',
      to: { email: `${DEAR} ? item.email : "nobody@example.com"` },
      unique_id: '"same"',
    });
    const outcome = judge(rule, { watchers: people(500), text: 'a'.repeat(2_000) });
    if (outcome.kind !== 'fired') throw new Error(outcome.kind);
    expect(outcome.recipients.every(({ to }) => to.email?.startsWith('p'))).toBe(true);
    expect(outcome.dropped).toMatchObject([{ reason: 'too_complex', count: 500 - outcome.recipients.length }]);
  });

  it('covers all expressions, so that `when` reduces what recipients may use', () => {
    const rule = givenRule(
      { for_each: 'event.watchers', to: { email: 'item.email' }, where: DEAR, unique_id: 'item.email' },
      { when: DEAR },
    );
    const event = { watchers: people(3), text: 'a'.repeat(30_000) };
    expect(told(judge(whereEach(DEAR), event))).toMatchObject({ told: 1, dropped: [{ index: 1, count: 2 }] });
    expect(told(judge(rule, event))).toMatchObject({ told: 0, dropped: [{ index: 0, count: 3 }] });
  });

  it('ends a rule as too_complex if the condition alone exceeds it', () => {
    const outcome = judge(givenRule({}, { when: DEAR }), { text: 'a'.repeat(240_000) });
    expect(outcome).toMatchObject({ kind: 'failed', reason: 'too_complex' });
    expect(judge(givenRule({}, { when: `${DEAR} || true` }), { text: 'a'.repeat(240_000) })).toEqual(outcome);
  });

  it('suffices for 500 recipients with typical expressions', () => {
    const rule = givenRule({
      for_each: 'event.watchers',
      to: { email: 'item.email' },
      where: 'item.email.endsWith("@example.com") && timestamp(event.at).getHours("Europe/Berlin") < 20',
      unique_id: 'event.at + ":" + item.email.lowerAscii()',
      variables: { text: 'event.text', name: 'item.?name.orValue("you")' },
    });
    const event = { watchers: people(500), text: 'a'.repeat(10_000), at: '2026-01-02T03:04:05Z' };
    expect(told(judge(rule, event))).toEqual({ told: 500, dropped: [] });
  });

  it('is not spent by a single text that is too long to be built', () => {
    const outcome = told(
      judge(whereEach('(event.text + event.text).size() > 1 || true'), {
        watchers: people(2),
        text: 'a'.repeat(140_000),
      }),
    );
    expect(outcome.dropped).toMatchObject([
      { index: 0, reason: 'rule_error', count: 1 },
      { index: 1, reason: 'rule_error', count: 1 },
    ]);
  });

  it('covers the items of a partner’s answer too', () => {
    const items = Array.from({ length: 500 }, (_, at) => ({
      userId: `u${at}`,
      to: { email: `u${at}@example.com`, phone: null, token: null },
      variables: { text: 'a'.repeat(2_000) },
    }));
    const lookup = givenLookup({ trigger: givenTrigger({}), items });
    const { recipients, dropped } = recipientsOf(
      givenLookupRule({ where: 'variables.text.matches("(a+)+$")' }),
      lookup,
    );
    expect(recipients.length).toBeGreaterThan(5);
    expect(dropped).toMatchObject([
      { index: recipients.length, reason: 'too_complex', count: 500 - recipients.length },
    ]);
  });
});

describe('the computation budget of an event over all rules', () => {
  it('gives each rule its share until the budget is spent', () => {
    const budget = new EventBudget();
    const shares: number[] = [];
    for (let rule = 0; rule < 6; rule += 1) {
      const share = budget.nextRule();
      shares.push(share.left);
      share.left = 0;
    }
    expect(shares).toEqual([RULE_STEPS, RULE_STEPS, RULE_STEPS, RULE_STEPS, 0, 0]);
    expect(budget.taken).toBe(EVENT_STEPS);
  });

  it('loses only steps that were taken, so that a rule refused an expensive step leaves its share to others', () => {
    const budget = new EventBudget();
    const share = budget.nextRule();
    share.exhausted = true;
    expect(budget.taken).toBe(0);
    expect(budget.nextRule()).toMatchObject({ left: RULE_STEPS, exhausted: false });
  });

  it('offers a pause after some work, not after each rule', () => {
    const budget = new EventBudget();
    const dues = [10, 10, 5_000, 10].map((steps) => {
      budget.nextRule().left -= steps;
      return budget.pauseIsDue();
    });
    expect(dues).toEqual([false, false, true, false]);
  });
});

const never = (): never => {
  throw new Error('somebody is dropped');
};
