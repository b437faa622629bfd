import { runToCompletion, type Instant, type LogId } from '@carillon/kernel';
import type { RuleFormKeys } from '@carillon/shapes';
import { givenEvent, givenRule, MORNING } from '@carillon/testing/given';
import { describe, expect, it } from 'vitest';
import {
  bindingsOf,
  decisionWords,
  emptyMemory,
  entityOf,
  forgetAtOf,
  formatMemory,
  MAX_MEMORY_BYTES,
  memoryAfterEvent,
  nextDueOf,
  passDeadlines,
  readMemory,
  startTurn,
  stepAtEvent,
  StepBudget,
  type CompiledRule,
  type EntityMemory,
} from '../../src/rules/index.ts';

const MINUTE = 60_000;
const ENTITY = { workspace: 'shop', stream: 'shop/orders', key: 'A-1' };
type Body = { readonly type: string; readonly [name: string]: string | number | null };

/** One rule and one entity: events and the passing of time, by minutes since the morning. */
function openEntity(keys: RuleFormKeys & { readonly when?: string }, previous = false) {
  const given = givenRule({ unique_id: 'event_id' }, { when: 'event.type == "placed"', ...keys });
  const rule: CompiledRule = previous
    ? { ...given, memory: { forms: given.memory?.forms ?? [], readsPrevious: true } }
    : given;
  const rules = [{ placed: rule.placed, rule }];
  let memory: EntityMemory = emptyMemory(ENTITY);
  let offset = 0;
  const fired: (readonly [minute: number, id: string])[] = [];
  const pass = (at: Instant): void => {
    const position = { logId: 'log_1' as LogId, topic: 'carillon.events', partition: 0, offset };
    const step = runToCompletion(passDeadlines(memory, { position, watermark: at }, rules, () => 'trg_1'));
    ({ memory } = step);
    for (const { outcome, event, deadline } of step.passed) {
      if (outcome.kind === 'fired') fired.push([(deadline - MORNING) / MINUTE, event.id]);
    }
  };
  return {
    at(minute: number, body: Body, id = `evt_${offset}`): void {
      const at = MORNING + minute * MINUTE;
      pass(at);
      const event = { ...givenEvent(body, id, offset), key: ENTITY.key, appendedAt: at, time: at };
      offset += 1;
      const turn = startTurn(memory, event, at);
      if (rule.memory === null || turn === null) return;
      const step = runToCompletion(
        stepAtEvent({ ...rule, memory: rule.memory }, turn, bindingsOf(event), new StepBudget(), () => 'trg_1'),
      );
      if (step.outcome.kind === 'fired') fired.push([minute, id]);
      const after = memoryAfterEvent(turn, new Map([[rule.placed, step]]), rules);
      memory = after === memory ? memory : readMemory(formatMemory(after), after.offset);
    },
    until(minute: number): void {
      pass(MORNING + minute * MINUTE);
      offset += 1;
    },
    fired,
    words: () => memory.decisions.flatMap(decisionWords),
    memory: () => memory,
  };
}

describe('a rule with `after` (it fires a time after a match unless cancelled)', () => {
  const unpaid = { after: '60m', unless: 'event.type == "paid"' };

  it('fires with the newest match at its deadline, when the first later record is read', () => {
    const entity = openEntity(unpaid);
    entity.at(0, { type: 'placed' });
    entity.at(20, { type: 'placed' });
    entity.until(60);
    expect(entity.fired).toEqual([]);
    entity.until(61);
    expect(entity.fired).toEqual([[60, 'evt_1']]);
    expect(nextDueOf(entity.memory())).toBeNull();
  });

  it('is cancelled by an event exactly at its deadline', () => {
    const entity = openEntity(unpaid);
    entity.at(0, { type: 'placed' });
    entity.at(60, { type: 'paid' });
    entity.until(1000);
    expect(entity.fired).toEqual([]);
    expect(entity.words()).toEqual(['waits until 2026-01-31T09:00:00.000Z', 'wait cancelled: `unless` is true']);
  });

  it('fires before an event later than its deadline is applied', () => {
    const entity = openEntity(unpaid);
    entity.at(0, { type: 'placed' });
    entity.at(61, { type: 'paid' });
    expect(entity.fired).toEqual([[60, 'evt_0']]);
  });

  it('counts a repeated event once', () => {
    const entity = openEntity(unpaid);
    entity.at(0, { type: 'placed' }, 'evt_a');
    entity.at(10, { type: 'paid' }, 'evt_b');
    entity.at(20, { type: 'placed' }, 'evt_a');
    expect(nextDueOf(entity.memory())).toBeNull();
  });

  it('changes nothing for an event that neither matches nor cancels', () => {
    const entity = openEntity(unpaid);
    entity.at(0, { type: 'placed' });
    const before = entity.memory();
    entity.at(1, { type: 'viewed' });
    expect(entity.memory()).toBe(before);
  });

  it('refuses an event that is too large to keep', () => {
    const entity = openEntity(unpaid);
    entity.at(0, { type: 'placed', text: 'x'.repeat(33 * 1024) });
    expect(nextDueOf(entity.memory())).toBeNull();
    expect(entity.words()[0]).toContain('32 KiB');
  });
});

describe('a rule with `after_last` (it fires a time after the last match)', () => {
  it('moves its deadline with each match', () => {
    const entity = openEntity({ after_last: '10m' });
    for (const minute of [0, 5, 12]) entity.at(minute, { type: 'placed' });
    entity.until(30);
    expect(entity.fired).toEqual([[22, 'evt_2']]);
  });
});

describe('a rule with `at` (it fires at a time in the event)', () => {
  const reminder = { at: 'timestamp(event.starts) - duration("10m")' };
  const minute = (at: number): string => new Date(MORNING + at * MINUTE).toISOString();

  it('moves to the time in the newest match, and ends if the field is gone', () => {
    const entity = openEntity(reminder);
    entity.at(0, { type: 'placed', starts: minute(30) });
    entity.at(5, { type: 'placed', starts: minute(50) });
    entity.until(45);
    entity.at(46, { type: 'placed', starts: minute(90) });
    entity.at(47, { type: 'placed', starts: null });
    entity.at(48, { type: 'placed' });
    entity.until(1000);
    expect(entity.fired).toEqual([[40, 'evt_1']]);
  });

  it('does not fire a deadline that has passed, unless `if_past` says so, and fires each deadline once', () => {
    const skips = openEntity(reminder);
    const notifies = openEntity({ ...reminder, if_past: 'notify' });
    for (const entity of [skips, notifies]) {
      entity.at(25, { type: 'placed', starts: minute(30) });
      entity.at(26, { type: 'placed', starts: minute(30) });
      entity.until(1000);
    }
    expect(skips.fired).toEqual([]);
    expect(notifies.fired).toEqual([[25, 'evt_0']]);
  });

  it('fails for a value that is no time, and for a time too far ahead', () => {
    const entity = openEntity({ at: 'event.starts' });
    entity.at(0, { type: 'placed', starts: 'tomorrow' });
    entity.at(1, { type: 'placed', starts: '9999-01-01T00:00:00Z' });
    entity.at(2, { type: 'placed', starts: '99999-01-01T00:00:00Z' });
    entity.at(3, { type: 'placed', starts: 12 });
    expect(entity.words()).toEqual([
      'failed: at is no time (RFC 3339, with its zone)',
      'failed: at is more than 366d ahead',
      'failed: at is no time (RFC 3339, with its zone)',
      'failed: at is no time (RFC 3339, with its zone)',
    ]);
  });
});

describe('a cooldown of a rule', () => {
  it('until_false lets the rule fire again only after an event for which `when` is false', () => {
    const entity = openEntity({ cooldown: 'until_false' });
    for (const [minute, type] of ['placed', 'placed', 'viewed', 'placed'].entries()) entity.at(minute, { type });
    expect(entity.fired.map(([minute]) => minute)).toEqual([0, 3]);
  });

  it('of a duration counts from the last firing', () => {
    const entity = openEntity({ cooldown: '10m' });
    for (const minute of [0, 9, 10, 15, 20]) entity.at(minute, { type: 'placed' });
    expect(entity.fired.map(([minute]) => minute)).toEqual([0, 10, 20]);
    expect(entity.words()).toContain(`in cooldown: fired 9m before, at ${new Date(MORNING).toISOString()}`);
  });

  it('of a rule that waits is checked at the deadline', () => {
    const entity = openEntity({ after: '5m', cooldown: '10m' });
    for (const minute of [0, 7, 20]) {
      entity.at(minute, { type: 'placed' });
      entity.until(minute + 6);
    }
    expect(entity.fired.map(([minute]) => minute)).toEqual([5, 25]);
  });
});

describe('`previous` in a condition', () => {
  it('is the event of the entity before the current one', () => {
    const entity = openEntity({ when: 'changedFromTo(event.type, "placed", "paid")' }, true);
    for (const [minute, type] of ['paid', 'placed', 'paid', 'paid'].entries()) entity.at(minute, { type });
    expect(entity.fired.map(([minute]) => minute)).toEqual([2]);
  });

  it('has no fields at the first event of the entity', () => {
    const entity = openEntity({ when: '!has(previous.type) && !changed(event.type)' }, true);
    entity.at(0, { type: 'placed' });
    entity.at(1, { type: 'placed' });
    expect(entity.fired.map(([minute]) => minute)).toEqual([0]);
  });
});

describe('the stored rule state of an entity', () => {
  it('stays below 128 KiB, because an event that does not fit fails its rule', () => {
    const rules = Array.from({ length: 6 }, (_, at) => {
      const rule = givenRule({}, { when: `event.type == "t${at}"`, after: '60m' });
      return { ...rule, placed: { ...rule.placed, body: { ...rule.placed.body, id: `rul_${at}` } } };
    });
    let memory = emptyMemory(ENTITY);
    const failed: number[] = [];
    for (const [offset, rule] of rules.entries()) {
      const body = { type: `t${offset}`, text: 'é'.repeat(15 * 1024) };
      const event = { ...givenEvent(body, `evt_${offset}`, offset), key: ENTITY.key };
      const turn = startTurn(memory, event, event.appendedAt);
      if (rule.memory === null || turn === null) throw new Error('the rule waits');
      const stateful = { ...rule, memory: rule.memory };
      const step = runToCompletion(stepAtEvent(stateful, turn, bindingsOf(event), new StepBudget(), () => 'trg_1'));
      if (step.outcome.kind === 'failed') failed.push(offset);
      memory = memoryAfterEvent(
        turn,
        new Map([[rule.placed, step]]),
        rules.map((each) => ({ placed: each.placed, rule: each })),
      );
      expect(new TextEncoder().encode(formatMemory(memory)).length).toBeLessThan(MAX_MEMORY_BYTES);
    }
    expect(failed).toEqual([3, 4, 5]);
  });

  it('is unchanged after it was written as text and read back', () => {
    const entity = openEntity({ after: '60m', cooldown: '10m' }, true);
    entity.at(0, { type: 'placed', total: 12.5 });
    const memory = entity.memory();
    expect(readMemory(formatMemory(memory), memory.offset)).toEqual(memory);
    expect(memory.entity).toEqual(entityOf({ ...givenEvent({}), key: 'A-1' }));
  });
});

describe('the rule state of an entity on a stream with forget_after', () => {
  const DAY = 24 * 60;
  /** Minutes from the morning of the tests to the midnight that ends the 100th day after. */
  const FORGOTTEN = (forgetAtOf(MORNING, 100 * DAY * MINUTE) - MORNING) / MINUTE;

  it('counts as empty after the midnight that follows 100 days without an event', () => {
    for (const [minute, fired] of [
      [FORGOTTEN, 1],
      [FORGOTTEN + 1, 2],
    ] as const) {
      const entity = openEntity({ cooldown: 'until_false' });
      entity.at(0, { type: 'placed' });
      entity.at(minute, { type: 'placed' });
      expect(entity.fired).toHaveLength(fired);
    }
  });

  it('is kept longer by an event, also during a cooldown', () => {
    const entity = openEntity({ cooldown: 'until_false' });
    entity.at(0, { type: 'placed' });
    entity.at(20 * DAY, { type: 'placed' });
    entity.at(FORGOTTEN + 1, { type: 'placed' });
    expect(entity.fired).toHaveLength(1);
  });

  it('is kept while a rule waits, and its 100 days count from the deadline', () => {
    const entity = openEntity({ after: '300d', cooldown: '100d' });
    entity.at(0, { type: 'placed' });
    entity.at(299 * DAY, { type: 'viewed' });
    entity.until(350 * DAY);
    expect(entity.fired).toEqual([[300 * DAY, 'evt_0']]);
    expect(entity.memory().forgetAt).toBe(forgetAtOf(MORNING + 300 * DAY * MINUTE, 100 * DAY * MINUTE));
  });
});
