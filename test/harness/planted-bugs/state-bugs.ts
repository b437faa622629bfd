import type { TestedBug } from './planted-bug.ts';

const WAITS = 'libs/stages/test/evaluate/waits.test.ts';
const TWO_WORKERS = 'libs/stages/test/evaluate/two-workers.test.ts';
const EDITS = 'libs/stages/test/evaluate/edits.test.ts';
const FORGET = 'libs/stages/test/evaluate/forget.test.ts';
const MODEL = 'libs/stages/test/evaluate/stateful/model.test.ts';
const ORACLE = 'libs/stages/test/evaluate/stateful/oracle.test.ts';
const TOTALS = 'libs/domain/test/rules/totals.test.ts';
const TICKER = 'apps/engine/test/ticker.test.ts';
const ENTITY_STATES = 'libs/stages/src/evaluate/entity-states.ts';
const ENTITY_STEP = 'libs/domain/src/rules/memory/entity-step.ts';
const KEPT_TOTAL = 'libs/domain/src/rules/forms/totals/kept-total.ts';

/** Bugs of rules that wait, count or compare, and of the states that they keep. */
export const STATE_BUGS: Readonly<Record<string, TestedBug>> = {
  'a deadline leaves the number that saves of a state are compared by': {
    changes: [
      {
        file: ENTITY_STEP,
        from: 'return { memory: { ...after, offset: position.offset, forgetAt }, passed };',
        to: 'return { memory: { ...after, forgetAt }, passed };',
      },
    ],
    tests: [MODEL],
  },
  'a deadline counts as an applied event': {
    changes: [
      {
        file: ENTITY_STEP,
        from: 'return { memory: { ...after, offset: position.offset, forgetAt }, passed };',
        to: 'return { memory: { ...after, offset: position.offset, appliedOffset: position.offset, forgetAt }, passed };',
      },
    ],
    tests: [MODEL],
  },
  'a rule that was removed and published again takes over its waits': {
    changes: [
      {
        file: ENTITY_STEP,
        from: 'if (known.get(ruleId) === since) continue;',
        to: 'if (known.has(ruleId)) continue;',
      },
      {
        file: 'libs/domain/src/rules/memory/entity-memory.ts',
        from: 'return memory?.since === placed.since ? memory : undefined;',
        to: 'return memory;',
      },
    ],
    tests: [EDITS],
  },
  'a worker does not learn of a wait that another one saved': {
    changes: [
      {
        file: ENTITY_STATES,
        from: `finds the event of the wait applied already.
      if (nextDue !== null) this.onWait(id, nextDue);`,
        to: 'finds the event of the wait applied already.',
      },
    ],
    tests: [TWO_WORKERS],
  },
  'a worker goes on with a wait that another one has fired': {
    changes: [
      {
        file: ENTITY_STATES,
        from: 'if ((nextDueOf(memory) ?? watermark) < watermark) throw this.#overtaken();',
        to: '',
      },
    ],
    tests: [TWO_WORKERS],
  },
  'states are saved whatever the store has': {
    changes: [
      {
        file: 'libs/adapters/mongodb/src/stores/rule-states.ts',
        from: 'offset: { $lt: offset }',
        to: 'offset: { $gte: -1 }',
      },
    ],
    tests: ['libs/adapters/mongodb/test/contracts.server.test.ts'],
    lane: 'server',
  },
  'a commit that is full takes its record': {
    changes: [
      {
        file: 'libs/stages/src/evaluate/stage.ts',
        from: 'hasMore = queue.mayHaveMore(newWatermark);\n      if (hasMore) return false;',
        to: 'hasMore = false;',
      },
    ],
    tests: [WAITS],
  },
  'an event at the very deadline cancels no wait': {
    changes: [
      {
        file: 'libs/domain/src/rules/forms/wait/wait.ts',
        from: 'if (wait !== null && match.at <= wait.deadline) {',
        to: 'if (wait !== null && match.at < wait.deadline) {',
      },
    ],
    tests: [ORACLE],
  },
  'an event that comes again counts once more': {
    changes: [
      {
        file: 'libs/domain/src/rules/memory/entity-memory.ts',
        from: 'position.offset <= appliedOffset || seenIds.includes(endOf(id));',
        to: 'position.offset <= appliedOffset || (id === undefined && seenIds.length > 0);',
      },
    ],
    tests: [ORACLE],
  },
  'a window still has what is exactly as old as it is long': {
    changes: [
      {
        file: KEPT_TOTAL,
        from: 'const first = at.findIndex((time) => time > after);',
        to: 'const first = at.findIndex((time) => time >= after);',
      },
    ],
    tests: [ORACLE],
  },
  'a total keeps nothing for the grace of its stream': {
    changes: [{ file: KEPT_TOTAL, from: 'rule.window.rolling + (grace ?? 0))', to: 'rule.window.rolling)' }],
    tests: [TOTALS],
  },
  'a total of another definition goes on': {
    changes: [
      {
        file: 'libs/domain/src/rules/forms/totals/totals.ts',
        from: 'return own?.definition === definition ? own : undefined;',
        to: 'return definition === undefined ? undefined : own;',
      },
    ],
    tests: [ORACLE],
  },
  'a forgotten entity is forgotten again by the record that is read again': {
    changes: [
      {
        file: ENTITY_STEP,
        from: 'if (memory.seenIds.length === 0 || memory.appliedOffset >= position.offset) return null;',
        to: 'if (memory.seenIds.length === 0) return null;',
      },
    ],
    tests: [FORGET],
  },
  'a partition gets ticks before its deadline': {
    changes: [
      {
        file: 'apps/engine/src/ticking/ticker.ts',
        from: 'due !== null && due < now);',
        to: 'due !== null && now > 0);',
      },
    ],
    tests: [TICKER],
  },
};
