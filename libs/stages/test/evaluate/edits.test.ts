import type { Intent } from '@carillon/domain/deliveries';
import { decisionWords, readMemory } from '@carillon/domain/rules';
import type { EvaluationOutput, PartitionState } from '@carillon/ports';
import { neverYield, notification, ORDER_PAID, ORDERS, orderShop, stream } from '@carillon/testing/given';
import { openTopology, type Topology } from '@carillon/testing/topology';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createEvaluateStage, tickRecord } from '../../src/index.ts';

const MINUTE = 60_000;
const UNPAID = {
  stream: 'orders',
  when: 'event.status == "placed"',
  after: '1h',
  unless: 'event.status == "paid"',
  recipients: { from: 'event', to: { email: 'event.customer.email' }, unique_id: 'event_id' },
} as const;

let topology: Topology;
let state: PartitionState;
let read: number;
beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
  topology.clock.standStill();
  state = { partition: 0, configNumber: -1, watermark: 0 };
  read = 0;
  await topology.publish(
    ...orderShop(ofRules({ unpaid: UNPAID })),
    stream('orders', { ...ORDERS, key: 'event.order_id' }),
  );
  await topology.publish(stream('returns', { ...ORDERS, key: 'event.order_id' }));
});
afterEach(() => topology.close());

type Rules = Readonly<Record<string, object>>;
const ofRules = (rules: Rules): typeof ORDER_PAID => ({ ...ORDER_PAID, rules }) as typeof ORDER_PAID;

/** A step of a row: an event of the order, a publication of the notification's rules, or minutes that pass. */
type Step =
  | { readonly is: string }
  | { readonly publish: Rules; readonly to?: 'another' }
  | { readonly minutes: number };
const placed = { is: 'placed' };
const paid = { is: 'paid' };
const after = (minutes: number): Step => ({ minutes });
const publish = (change: object): Step => ({ publish: { unpaid: { ...UNPAID, ...change } } });
const without = (...keys: readonly string[]): Step => ({
  publish: { unpaid: Object.fromEntries(Object.entries(UNPAID).filter(([key]) => !keys.includes(key))) },
});
const REMOVED: Step = { publish: {} };

async function take(step: Step): Promise<void> {
  if ('minutes' in step) {
    topology.clock.pass(step.minutes * MINUTE);
    await topology.data.log.append([tickRecord(0)]);
  } else if ('publish' in step) {
    await topology.publish(notification('order-paid', ofRules(step.publish)));
  } else {
    await topology.event({
      status: step.is,
      order_id: 'A-1',
      customer: { email: 'ada@example.com' },
      other: 'bob@example.com',
    });
  }
}

/** Evaluates the records since the last call with what the store has. */
async function evaluate(): Promise<readonly Intent[]> {
  const records = (await topology.records('carillon.events')).slice(read);
  const result = await createEvaluateStage({ ...topology.ports, slice: neverYield }).handle(records, state);
  if (result.save) expect(await result.save()).toBe('done');
  read += records.length;
  const { partition, configNumber, watermark } = result.state;
  state = { partition, configNumber, watermark };
  return result.outputs.flatMap((output: EvaluationOutput) => (output.kind === 'intent' ? [output.intent] : []));
}

async function decisions(): Promise<readonly string[]> {
  const id = topology.ports.ids.derive('state', 'shop/orders', 'A-1', '');
  const [stored] = await topology.data.ruleStates.load([id]);
  return stored ? readMemory(stored.data, stored.offset).decisions.flatMap(decisionWords) : [];
}

type Row = {
  readonly edit: string;
  readonly steps: readonly Step[];
  /** Minutes after the start of the case at which each message is due, and to whom. */
  readonly messages: readonly (readonly [minute: number, to: string])[];
  /** The last decision about the order. */
  readonly last: string;
};

const ADA = 'ada@example.com';
const OTHER = { recipients: { ...UNPAID.recipients, to: { email: 'event.other' } } };
const FIRED = 'fired by its deadline';
const WITHDRAWN = 'rule_withdrawn: the rule was removed or moved to another stream while it waited';

const ROWS: readonly Row[] = [
  {
    edit: 'new recipients are those of an existing wait',
    steps: [placed, publish(OTHER), after(61)],
    messages: [[60, 'bob@example.com']],
    last: FIRED,
  },
  {
    edit: 'a new `unless` cancels an existing wait',
    steps: [placed, publish({ unless: 'event.status == "sent"' }), { is: 'sent' }, after(61)],
    messages: [],
    last: 'wait cancelled: `unless` is true',
  },
  {
    edit: 'an old `unless` cancels no existing wait',
    steps: [placed, publish({ unless: 'event.status == "sent"' }), paid, after(61)],
    messages: [[60, ADA]],
    last: FIRED,
  },
  {
    edit: 'without `unless` nothing cancels an existing wait',
    steps: [placed, without('unless'), paid, after(61)],
    messages: [[60, ADA]],
    last: FIRED,
  },
  {
    edit: 'a new `when` keeps an existing wait',
    steps: [placed, publish({ when: 'event.status == "packed"' }), after(61)],
    messages: [[60, ADA]],
    last: FIRED,
  },
  {
    edit: 'a longer `after` keeps the deadline of an existing wait',
    steps: [placed, publish({ after: '3h' }), after(61)],
    messages: [[60, ADA]],
    last: FIRED,
  },
  {
    edit: 'a longer `after` counts for later events',
    steps: [publish({ after: '3h' }), placed, after(61), after(120)],
    messages: [[180, ADA]],
    last: FIRED,
  },
  {
    edit: '`after_last` moves the deadline of an existing wait at the next match',
    steps: [
      placed,
      { publish: { unpaid: { ...UNPAID, after: undefined, after_last: '1h' } } },
      after(30),
      placed,
      after(61),
    ],
    messages: [[90, ADA]],
    last: FIRED,
  },
  {
    edit: 'without `after` an existing wait fires at its deadline',
    steps: [placed, without('after', 'unless'), after(61)],
    messages: [[60, ADA]],
    last: FIRED,
  },
  {
    edit: 'a new cooldown counts from the last firing',
    steps: [placed, publish({ cooldown: '1h' }), after(61), placed, publish({ cooldown: '4h' }), after(61)],
    messages: [[60, ADA]],
    last: 'in cooldown: fired 61m before',
  },
  {
    edit: 'a shorter cooldown lets the rule fire sooner',
    steps: [publish({ cooldown: '4h' }), placed, after(61), placed, publish({ cooldown: '1h' }), after(61)],
    messages: [
      [60, ADA],
      [121, ADA],
    ],
    last: FIRED,
  },
  {
    edit: 'a disabled rule sends nothing at a deadline, also later',
    steps: [placed, publish({ enabled: false }), after(61), publish({}), after(61)],
    messages: [],
    last: 'disabled: the rule was disabled at its deadline',
  },
  {
    edit: 'a rule that is enabled before the deadline fires',
    steps: [placed, publish({ enabled: false }), after(30), publish({}), after(31)],
    messages: [[60, ADA]],
    last: FIRED,
  },
  {
    edit: 'events while a rule is disabled cancel nothing',
    steps: [placed, publish({ enabled: false }), paid, publish({}), after(61)],
    messages: [[60, ADA]],
    last: FIRED,
  },
  { edit: 'a removed rule ends its waits', steps: [placed, REMOVED, after(61)], messages: [], last: WITHDRAWN },
  {
    edit: 'a rule that is removed and published again ends its waits',
    steps: [placed, REMOVED, publish({}), after(61)],
    messages: [],
    last: WITHDRAWN,
  },
  {
    edit: 'a rule that is published again begins with the next event',
    steps: [placed, REMOVED, publish({}), after(30), placed, after(61)],
    messages: [[90, ADA]],
    last: FIRED,
  },
  {
    edit: 'a rule that is published again has no cooldown from before',
    steps: [publish({ cooldown: '4h' }), placed, after(61), REMOVED, publish({ cooldown: '4h' }), placed, after(61)],
    messages: [
      [60, ADA],
      [121, ADA],
    ],
    last: FIRED,
  },
  {
    edit: 'a rule that moves ends its waits',
    steps: [placed, publish({ stream: 'returns' }), after(61)],
    messages: [],
    last: WITHDRAWN,
  },
  {
    edit: 'a rule that moves and comes back ends its waits',
    steps: [placed, publish({ stream: 'returns' }), publish({}), after(61)],
    messages: [],
    last: WITHDRAWN,
  },
  {
    edit: 'a renamed rule begins anew',
    steps: [placed, { publish: { late: UNPAID } }, after(61)],
    messages: [],
    last: WITHDRAWN,
  },
  {
    edit: 'a renamed rule with an `id` keeps its waits',
    steps: [publish({ id: 'rul_1' }), placed, { publish: { late: { ...UNPAID, id: 'rul_1' } } }, after(61)],
    messages: [[60, ADA]],
    last: FIRED,
  },
];

describe('a rule that waits, after its configuration was edited', () => {
  it.each(ROWS)('$edit', async ({ steps, messages, last }) => {
    const start = topology.clock.now();
    const intents: Intent[] = [];
    for (const step of steps) {
      await take(step);
      intents.push(...(await evaluate()));
    }
    expect(intents.map(({ causedAt, to }) => [(causedAt - start) / MINUTE, to])).toEqual(messages);
    expect((await decisions()).at(-1)).toSatisfy((words: string) => words.startsWith(last));
  });
});
