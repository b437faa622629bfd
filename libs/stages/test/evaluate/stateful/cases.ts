import fc, { type Arbitrary } from 'fast-check';

/* Random rules with state, and the records of one partition that they meet. Times are milliseconds. */

const KINDS = ['a', 'b', 'c'] as const;
type Kind = (typeof KINDS)[number];

/** A condition in two forms: `textOf` writes it as an expression, and the oracle evaluates it by itself. */
export type Condition =
  | { readonly is: 'always' }
  | { readonly is: 'kind'; readonly kind: Kind }
  /** An error if the event has no count. */
  | { readonly is: 'above'; readonly count: number }
  | { readonly is: 'changed' }
  | { readonly is: 'changed_to'; readonly kind: Kind }
  | { readonly is: 'changed_from_to'; readonly from: Kind; readonly kind: Kind }
  | { readonly is: 'was'; readonly kind: Kind }
  /** A total of the rule, by its place. */
  | { readonly is: 'total'; readonly total: number; readonly atLeast: number };

export function textOf(condition: Condition): string {
  switch (condition.is) {
    case 'always':
      return 'true';
    case 'kind':
      return `event.kind == "${condition.kind}"`;
    case 'above':
      return `event.count > ${condition.count}`;
    case 'changed':
      return 'changed(event.kind)';
    case 'changed_to':
      return `changedTo(event.kind, "${condition.kind}")`;
    case 'changed_from_to':
      return `changedFromTo(event.kind, "${condition.from}", "${condition.kind}")`;
    case 'was':
      return `has(previous.kind) && previous.kind == "${condition.kind}"`;
    case 'total':
      return `totals.t${condition.total} >= ${condition.atLeast}`;
  }
}

export type Wait =
  | { readonly by: 'after' | 'after_last'; readonly seconds: number }
  /** So many seconds before `event.starts`. */
  | { readonly by: 'at'; readonly before: number; readonly ifPast: 'skip' | 'notify' };

export type TotalSpec = {
  readonly kind: 'count' | 'sum' | 'distinct';
  /** The condition of a count, or the `where` of the others. Never about totals. */
  readonly where: Condition;
  /** Seconds, or a period of the calendar. */
  readonly within: number | 'day' | 'week' | 'month';
};

export type RuleSpec = {
  readonly totals: readonly TotalSpec[];
  readonly when: Condition;
  readonly wait: Wait | null;
  readonly unless: Condition | null;
  readonly cooldown: 'until_false' | number | null;
};

export type EventBody = {
  readonly kind: Kind;
  readonly count?: number;
  /** RFC 3339, null, or text that is no time. */
  readonly starts?: string | null;
  readonly email: string;
};

/** A change of one rule. Rule 0 stays, so that the engine looks at each event. */
export type Edit =
  | { readonly rule: number; readonly to: 'disabled' | 'enabled' }
  | { readonly rule: 1 | 2; readonly to: 'removed' | 'added' }
  | { readonly rule: number; readonly to: Condition }
  /** The first total of the rule has this window from now on. */
  | { readonly rule: number; readonly to: 'within'; readonly within: TotalSpec['within'] };

export type CaseRecord = { readonly at: number } & (
  | {
      readonly holds: 'event';
      readonly id: string;
      readonly entity: string;
      readonly body: EventBody;
      /** Own time of the event. It counts on a stream with a `time` path. */
      readonly time: number;
    }
  | { readonly holds: 'tick' }
  | { readonly holds: 'forget'; readonly entity: string }
  | { readonly holds: 'edit'; readonly edit: Edit }
);

export type Case = {
  readonly rules: readonly RuleSpec[];
  readonly records: readonly CaseRecord[];
  /** Seconds of grace of a stream with a `time` path. Null: the stream has none. */
  readonly grace: number | null;
};

export const DAY = 86_400_000;
/** Zone of the workspace in all cases. */
export const ZONE = 'Europe/Berlin';
/**
 * The first record comes after this. It is five seconds before the end of a day, a week and a month in the zone. The stream
 * forgets its entities a day after their last event.
 */
export const START = Date.UTC(2026, 4, 31, 21, 59, 55);

const kind = fc.constantFrom(...KINDS);
const ofEvents: Arbitrary<Condition> = fc.oneof(
  { weight: 1, arbitrary: fc.constant({ is: 'always' } as const) },
  { weight: 6, arbitrary: kind.map((each) => ({ is: 'kind', kind: each }) as const) },
  { weight: 2, arbitrary: fc.nat(2).map((count) => ({ is: 'above', count }) as const) },
  { weight: 1, arbitrary: fc.constant({ is: 'changed' } as const) },
  { weight: 1, arbitrary: kind.map((each) => ({ is: 'changed_to', kind: each }) as const) },
  {
    weight: 1,
    arbitrary: fc.tuple(kind, kind).map(([from, to]) => ({ is: 'changed_from_to', from, kind: to }) as const),
  },
  { weight: 1, arbitrary: kind.map((each) => ({ is: 'was', kind: each }) as const) },
);
const condition: Arbitrary<Condition> = fc.oneof(
  { weight: 3, arbitrary: ofEvents },
  {
    weight: 1,
    arbitrary: fc.record({
      is: fc.constant('total' as const),
      total: fc.nat(1),
      atLeast: fc.integer({ min: 1, max: 3 }),
    }),
  },
);
const within = fc.constantFrom(1, 2, 3, 5, 'day' as const, 'week' as const, 'month' as const);
const total: Arbitrary<TotalSpec> = fc.record({
  kind: fc.constantFrom('count' as const, 'count' as const, 'sum' as const, 'distinct' as const),
  where: ofEvents,
  within,
});
const totals = fc.oneof(
  { weight: 1, arbitrary: fc.constant([]) },
  { weight: 1, arbitrary: fc.array(total, { minLength: 1, maxLength: 2 }) },
);
const seconds = fc.integer({ min: 1, max: 5 });
const wait: Arbitrary<Wait> = fc.oneof(
  fc.record({ by: fc.constantFrom('after' as const, 'after_last' as const), seconds }),
  fc.record({
    by: fc.constant('at' as const),
    before: fc.nat(2),
    ifPast: fc.constantFrom('skip' as const, 'notify' as const),
  }),
);
const cooldown = fc.constantFrom(null, null, 'until_false' as const, 1, 3);
const waiting: Arbitrary<RuleSpec> = fc.record({
  totals,
  when: condition,
  wait,
  unless: fc.option(condition),
  cooldown,
});
const rule: Arbitrary<RuleSpec> = fc.oneof(
  { weight: 3, arbitrary: waiting },
  {
    weight: 1,
    arbitrary: fc.record({ totals, when: condition, wait: fc.constant(null), unless: fc.constant(null), cooldown }),
  },
);

/** Around whole seconds, because deadlines are: a record before, at and after each. */
const gap = fc.constantFrom(
  0,
  0,
  1,
  999,
  1000,
  1000,
  1001,
  2000,
  2999,
  3000,
  3001,
  7000,
  -500,
  -2000,
  -2000,
  DAY,
  2 * DAY,
);
const starts = fc.constantFrom(
  'none',
  'null',
  'text',
  'as before',
  'as before',
  -1000,
  0,
  1,
  1000,
  1999,
  2000,
  2001,
  4000,
  9000,
);
/** Between the append of an event and its own time. */
const early = fc.constantFrom(0, 0, 0, 1, 999, 1000, 1001, 2000, 4000, 9000, -1, -1000);
const given = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      holds: fc.constant('event' as const),
      entity: fc.constantFrom('E1', 'E1', 'E2'),
      kind,
      count: fc.option(fc.nat(3), { nil: undefined, freq: 3 }),
      starts,
      early,
      /** Number of events between this event and the earlier event that it repeats. Null: a new event. */
      repeats: fc.option(fc.nat(3), { nil: null, freq: 8 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ holds: fc.constant('tick' as const) }) },
  { weight: 1, arbitrary: fc.record({ holds: fc.constant('forget' as const), entity: fc.constantFrom('E1', 'E2') }) },
  {
    weight: 3,
    arbitrary: fc.record({
      holds: fc.constant('edit' as const),
      edit: fc.oneof(
        fc.record({ rule: fc.nat(2), to: fc.constantFrom('disabled' as const, 'enabled' as const) }),
        fc.record({
          rule: fc.constantFrom(1 as const, 2 as const),
          to: fc.constantFrom('removed' as const, 'added' as const),
        }),
        fc.record({ rule: fc.nat(2), to: condition }),
        fc.record({ rule: fc.nat(2), to: fc.constant('within' as const), within }),
      ),
    }),
  },
);

const startsAt = (at: number, chosen: number | string, before: EventBody | undefined): Pick<EventBody, 'starts'> => {
  if (typeof chosen === 'number') return { starts: new Date(at + chosen).toISOString() };
  if (chosen === 'as before') return before?.starts === undefined ? {} : { starts: before.starts };
  return chosen === 'none' ? {} : { starts: chosen === 'null' ? null : 'soon' };
};

export const randomCase: Arbitrary<Case> = fc
  .record({
    first: waiting,
    others: fc.array(rule, { maxLength: 2 }),
    grace: fc.constantFrom(null, null, 1, 2),
    given: fc.array(fc.tuple(gap, given), { minLength: 1, maxLength: 14 }),
  })
  .map(({ first, others, grace, given: steps }) => {
    const records: CaseRecord[] = [];
    const events: Extract<CaseRecord, { readonly holds: 'event' }>[] = [];
    let at = START;
    for (const [span, step] of steps) {
      at = Math.max(START, at + span);
      if (step.holds !== 'event') {
        records.push({ at, ...step });
        continue;
      }
      const again = step.repeats === null ? undefined : events.at(-1 - step.repeats);
      const body: EventBody = {
        kind: step.kind,
        ...(step.count !== undefined && { count: step.count }),
        ...startsAt(at, step.starts, events.at(-1)?.body),
        email: `${step.entity.toLowerCase()}@example.com`,
      };
      const event = again
        ? { ...again, at }
        : {
            at,
            holds: 'event' as const,
            id: `evt_${String(events.length).padStart(26, '0')}`,
            entity: step.entity,
            body,
            time: at - step.early,
          };
      events.push(event);
      records.push(event);
    }
    // The last record lets every deadline pass.
    return { rules: [first, ...others], grace, records: [...records, { at: at + 60_000, holds: 'tick' }] };
  });
