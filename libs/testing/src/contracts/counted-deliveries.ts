import type { Delivery, DeliveryState } from '@carillon/domain/deliveries';
import type { DeliveryLedger, DeliverySpan } from '@carillon/ports';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { deliveryOf } from './delivery-samples.ts';
import { freshName } from './under-test.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STATES = ['WAITING', 'SENDING', 'SENT', 'DELIVERED', 'FAILED'] as const satisfies readonly DeliveryState[];
const TOLD: readonly DeliveryState[] = ['SENT', 'DELIVERED'];

/** Often where something begins or ends that an adapter may count together. */
const instant = fc.oneof(
  fc.nat({ max: 3 * HOUR }),
  fc.nat({ max: 180 }).map((minutes) => minutes * MINUTE),
  fc.nat({ max: 180 }).map((minutes) => Math.max(0, minutes * MINUTE - 1)),
);
type Ends = readonly [number, number];
const spanEnds = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(instant, instant) },
  { weight: 1, arbitrary: fc.constantFrom<Ends>([0, 3 * DAY], [HOUR, 3 * DAY + 1]) },
);
const facts = fc.record({
  at: instant,
  state: fc.constantFrom(...STATES),
  notification: fc.constantFrom('paid', 'sent'),
  person: fc.nat({ max: 4 }),
});
type Facts = {
  readonly at: number;
  readonly state: DeliveryState;
  readonly notification: string;
  readonly person: number;
};

type Step =
  | { readonly kind: 'insert'; readonly of: readonly Facts[] }
  /** Into a state, and where it says so with what another intent says of notification and person. */
  | { readonly kind: 'move'; readonly which: number; readonly to: Facts; readonly takesOver: boolean }
  | { readonly kind: 'count'; readonly ends: Ends; readonly part: number };
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('insert' as const), of: fc.array(facts, { minLength: 1, maxLength: 4 }) }),
  fc.record({ kind: fc.constant('move' as const), which: fc.nat(), to: facts, takesOver: fc.boolean() }),
  fc.record({
    kind: fc.constant('count' as const),
    ends: spanEnds,
    part: fc.constantFrom(5 * MINUTE, 7 * MINUTE, HOUR, DAY),
  }),
);

async function everyRow(ledger: DeliveryLedger, workspace: string): Promise<readonly Delivery[]> {
  const rows: Delivery[] = [];
  let cursor: string | undefined;
  do {
    const page = await ledger.list({ workspace }, 1000, cursor);
    rows.push(...page.items);
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);
  return rows;
}

type Counted = {
  readonly all: readonly string[];
  readonly paid: readonly string[];
  readonly byNotification: readonly string[];
  readonly people: number;
};
const tally = (keys: readonly string[]): readonly string[] =>
  [...Map.groupBy(keys, (key) => key)].map(([key, { length }]) => `${key} ${length}`).toSorted();

async function counted(ledger: DeliveryLedger, span: DeliverySpan, part: number): Promise<Counted> {
  const [all, paid, byNotification, people] = await Promise.all([
    ledger.countOverTime(span, part),
    ledger.countOverTime({ ...span, notification: 'paid' }, part),
    ledger.countByNotification(span),
    ledger.countPeople(span, TOLD),
  ]);
  const overTime = (counts: typeof all) => counts.map((one) => `${one.at} ${one.state} ${one.deliveries}`).toSorted();
  return {
    all: overTime(all),
    paid: overTime(paid),
    byNotification: byNotification.map((one) => `${one.notification} ${one.state} ${one.deliveries}`).toSorted(),
    people,
  };
}

function plainly(rows: readonly Delivery[], { since, before }: DeliverySpan, part: number): Counted {
  const inSpan = rows.filter(({ createdAt }) => createdAt >= since && createdAt < before);
  const overTime = (of: readonly Delivery[]) =>
    tally(of.map((one) => `${one.createdAt - (one.createdAt % part)} ${one.state}`));
  return {
    all: overTime(inSpan),
    paid: overTime(inSpan.filter(({ intent }) => intent.notification === 'paid')),
    byNotification: tally(inSpan.map((one) => `${one.intent.notification} ${one.state}`)),
    people: new Set(inSpan.filter((one) => TOLD.includes(one.state)).map(({ intent }) => intent.person)).size,
  };
}

/** Writes and counts that go on side by side; nothing else writes in the workspace. */
function createHistory(ledger: DeliveryLedger, workspace: string) {
  const rows: Delivery[] = [];
  let pending: Promise<unknown>[] = [];
  const spanOf = ([one, other]: Ends): DeliverySpan => ({
    workspace,
    since: Math.min(one, other),
    before: Math.max(one, other) + 1,
  });

  return {
    begin(next: Step): void {
      if (next.kind === 'count') {
        // Counts during writes are undefined, but must leave no wrong cached result.
        pending.push(counted(ledger, spanOf(next.ends), next.part));
      } else if (next.kind === 'insert') {
        const fresh = next.of.map(({ at, state, notification, person }) =>
          deliveryOf({
            slot: { workspace },
            intent: { notification, person: `p${person}` },
            state,
            createdAt: at,
            ...restOf(state),
          }),
        );
        pending.push(ledger.insert(fresh).then(() => rows.push(...fresh)));
      } else if (rows.length > 0) {
        const place = next.which % rows.length;
        const [before] = rows.splice(place, 1);
        if (!before) return;
        const { state, notification, person } = next.to;
        const intent = next.takesOver
          ? deliveryOf({ slot: before.slot, intent: { notification, person: `p${person}` } }).intent
          : before.intent;
        const after: Delivery = { ...before, version: before.version + 1, intent, state, ...restOf(state) };
        pending.push(
          ledger.replace(after).then((answer) => {
            expect(answer).toBe('done');
            rows.push(after);
          }),
        );
      }
    },
    async settle(): Promise<void> {
      const begun = pending;
      pending = [];
      await Promise.all(begun);
    },
    async check(ends: Ends, part: number): Promise<void> {
      const span = spanOf(ends);
      expect(await counted(ledger, span, part)).toEqual(plainly(await everyRow(ledger, workspace), span, part));
    },
  };
}

const restOf = (is: DeliveryState) => ({
  nextAt: is === 'WAITING' ? 100 : null,
  leaseUntil: is === 'SENDING' ? 100 : null,
});

/**
 * A part of the contract of a ledger: counts over time are what its rows say, whatever was counted and written before
 * or beside.
 */
export function countsAreWhatRowsSay(ledger: () => DeliveryLedger): void {
  it('whatever is inserted, moved, taken over and counted side by side, counts are those of a plain look at all rows', async () => {
    const steps = fc.array(fc.record({ next: step, waits: fc.boolean() }), { minLength: 4, maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(steps, async (history) => {
        const made = createHistory(ledger(), freshName('law'));
        for (const { next, waits } of history) {
          made.begin(next);
          if (!waits) continue;
          await made.settle();
          if (next.kind === 'count') await made.check(next.ends, next.part);
        }
        await made.settle();
        await made.check([0, 3 * HOUR], HOUR);
        await made.check([0, 3 * DAY], DAY);
      }),
      { numRuns: 12 },
    );
  }, 120_000);
}
