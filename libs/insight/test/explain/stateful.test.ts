import type { RuleBody } from '@carillon/domain/configuration';
import { countingRules, ORDER_PAID, ORDERS, orderShop, stream } from '@carillon/testing/given';
import { evaluateAll, openTopology, settle, type Topology } from '@carillon/testing/topology';
import { createEvaluateStage, forgetRecord } from '@carillon/stages';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { traceDelivery, traceEvent, whyAddress, whyNot, type Account, type TraceStep } from '../../src/index.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

let topology: Topology;
beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
  topology.clock.standStill();
});
afterEach(() => topology.close());

/** Publishes the shop, whose rule has these keys on a stream by order. */
const publish = (keys: Partial<RuleBody>, enabled = true): Promise<number> =>
  topology.publish(
    ...orderShop({
      ...ORDER_PAID,
      rules: {
        paid: {
          stream: 'orders',
          when: 'event.status == "placed"',
          enabled,
          recipients: { from: 'event', to: { email: 'event.customer.email' }, unique_id: 'event.id' },
          ...keys,
        },
      },
    }),
    stream('orders', { ...ORDERS, key: 'event.order_id' }),
  );

let count = 0;
const happens = (status: string, more: Readonly<Record<string, string>> = {}): Promise<string> =>
  topology.event({ status, id: `U-${count++}`, order_id: 'A-1', customer: { email: 'ada@example.com' }, ...more });

/** Moves the watermark by an event of another order. */
async function passes(span: number): Promise<void> {
  topology.clock.pass(span);
  await topology.event({
    status: 'viewed',
    id: `U-${count++}`,
    order_id: 'B-1',
    customer: { email: 'bob@example.com' },
  });
}

const stepsOf = async (id: string): Promise<readonly TraceStep[]> => {
  const trace = await traceEvent(id, topology.tracePorts);
  if (!trace) throw new Error('there is no such event');
  return trace.steps;
};
const linesOf = async (id: string): Promise<readonly string[]> =>
  (await stepsOf(id)).filter(({ step }) => step === 'rule' || step === 'trigger').map(({ text }) => text);
const iso = (at: number): string => new Date(at).toISOString();

const WAITS = { after: '1h', unless: 'event.status == "paid"' } as const;

describe('the trace of an event that a rule with state saw', () => {
  it('says until when the rule waits', async () => {
    await publish(WAITS);
    const placed = await happens('placed');
    const deadline = topology.clock.now() + HOUR;
    await settle(topology);
    expect(await linesOf(placed)).toEqual([`waits until ${iso(deadline)}`]);
  });

  it('shows what differs between the version that started the wait and the published one', async () => {
    await publish(WAITS);
    const placed = await happens('placed');
    await settle(topology);
    await publish({ ...WAITS, unless: 'event.status == "gone"' });
    const waits = (await stepsOf(placed)).find(({ text }) => text.startsWith('waits until'));
    expect(waits?.lines).toEqual([
      'since version 1 the rule was changed; version 2 is published:',
      '  unless: event.status == "paid"  →  event.status == "gone"',
    ]);
  });

  it('says that the wait of a removed rule has ended, before and after its deadline', async () => {
    await publish(WAITS);
    const placed = await happens('placed');
    await settle(topology);
    const ref = { kind: 'notification', workspace: 'shop', name: 'order-paid' } as const;
    await topology.publish({ ref, body: null });
    await settle(topology);
    const withdrawn = expect.stringMatching(/^rule_withdrawn: the rule was removed or moved/) as string;
    expect(await linesOf(placed)).toEqual([expect.stringMatching(/^waits until /), withdrawn]);
    await passes(HOUR + 1000);
    await settle(topology);
    expect(await linesOf(placed)).toEqual([expect.stringMatching(/^waits until /), withdrawn]);
  });

  it('says which event cancelled the wait, and of that event whose wait it cancelled', async () => {
    await publish(WAITS);
    const placed = await happens('placed');
    topology.clock.pass(20 * MINUTE);
    const paid = await happens('paid');
    await settle(topology);
    expect(await linesOf(placed)).toEqual([
      expect.stringMatching(/^waits until /),
      `wait cancelled: \`unless\` is true, by event ${paid}`,
    ]);
    expect(await linesOf(paid)).toEqual([`wait cancelled: \`unless\` is true; it waited for event ${placed}`]);
  });

  it('goes on from the deadline to the message', async () => {
    await publish(WAITS);
    const placed = await happens('placed');
    const deadline = topology.clock.now() + HOUR;
    await passes(HOUR + 1000);
    await settle(topology);
    const steps = await stepsOf(placed);
    expect(steps.map(({ step, text }) => `${step} ${text}`).slice(2)).toEqual([
      `rule waits until ${iso(deadline)}`,
      `rule fired by its deadline ${iso(deadline)}`,
      'trigger fired: 1 recipient',
      expect.stringMatching(/^intent order-paid by email/),
      expect.stringMatching(/^delivery /),
    ]);
    expect(steps[3]?.at).toBe(deadline + 1000);
  });

  it('takes the messages from the ledger if the rule reads `previous`', async () => {
    await publish({ ...WAITS, when: 'event.status == "placed" && changed(event.status)' });
    await happens('open');
    const placed = await happens('placed');
    await passes(HOUR + 1000);
    await settle(topology);
    const trace = await traceEvent(placed, topology.tracePorts);
    expect(await linesOf(placed)).toContain('1 message in the ledger');
    expect(trace?.people?.items).toMatchObject([{ recipient: { address: 'ada@example.com' }, outcome: 'waiting' }]);
  });

  it('says that the rule is in cooldown, and when it fired', async () => {
    await publish({ cooldown: '1h' });
    const first = topology.clock.now();
    await happens('placed');
    topology.clock.pass(12 * MINUTE);
    const second = await happens('placed');
    await settle(topology);
    expect(await linesOf(second)).toEqual([`in cooldown: fired 12m before, at ${iso(first)}`]);
  });

  it('says of an event without a decision why the rule did not fire, with values', async () => {
    await publish(WAITS);
    const viewed = await happens('viewed');
    await settle(topology);
    const steps = await stepsOf(viewed);
    expect(steps.at(-1)).toMatchObject({ text: 'did not fire: `when` is false', reason: 'when_false' });
    expect(steps.at(-1)?.lines.join('\n')).toContain('event.status  →  "viewed"');
  });

  it('has the words of a form that this version does not know', async () => {
    await publish({});
    await happens('placed');
    const second = await happens('placed');
    const book = countingRules(topology.ports.book);
    await evaluateAll(topology);
    const records = await topology.records('carillon.events');
    const start = { partition: 0, configNumber: -1, watermark: 0 };
    await (await createEvaluateStage({ ...topology.ports, book }).handle(records, start)).save?.();
    await settle(topology);
    const trace = await traceEvent(second, { ...topology.tracePorts, book });
    expect(trace?.steps.map(({ text }) => text)).toContain('{"count":2}');
  });
});

describe('the trace of a delivery whose rule waited', () => {
  it('names its event, its deadline, and when the watermark passed it', async () => {
    await publish(WAITS);
    const placed = await happens('placed');
    const at = topology.clock.now();
    await passes(HOUR + 1500);
    await settle(topology);
    const [delivery] = (await topology.data.ledger.list({}, 5)).items;
    const trace = await traceDelivery(delivery?.id ?? '', topology.tracePorts);
    expect(trace?.steps.slice(0, 3)).toMatchObject([
      { step: 'event', at, id: placed },
      { step: 'rule', at, text: `rule order-paid.paid waited until ${iso(at + HOUR)}` },
      {
        step: 'trigger',
        at: at + HOUR + 1500,
        text: 'rule order-paid.paid fired by its deadline, after the watermark passed it',
      },
    ]);
  });
});

const ask = async (): Promise<readonly Account[]> => {
  const query = { workspace: 'shop', who: 'ada@example.com', notification: 'order-paid' };
  const { accounts } = await whyNot({ ...query, since: 0, before: topology.clock.now() + 1000 }, topology.tracePorts);
  return accounts;
};
const only = async (event: string): Promise<Account> => {
  const found = (await ask()).filter(({ eventId }) => eventId === event);
  expect(found).toHaveLength(1);
  return found[0] as Account;
};
const gatesOf = ({ gates }: Account): readonly string[] =>
  gates.slice(0, 6).map(({ gate, result }) => `${gate} ${result}`);

describe('why-not of a rule with state', () => {
  it('stops at the deadline while the rule waits', async () => {
    await publish(WAITS);
    const placed = await happens('placed');
    const deadline = topology.clock.now() + HOUR;
    await settle(topology);
    const account = await only(placed);
    expect(account).toMatchObject({ verdict: 'waiting', stoppedAt: 'deadline', text: `waits until ${iso(deadline)}` });
    expect(gatesOf(account).slice(2, 5)).toEqual(['condition passed', 'unless passed', 'deadline waiting']);
  });

  it('stops at `unless`, with the event that cancelled the wait', async () => {
    await publish(WAITS);
    const placed = await happens('placed');
    const paid = await happens('paid');
    await settle(topology);
    const account = await only(placed);
    expect(account).toMatchObject({ verdict: 'stopped', stoppedAt: 'unless' });
    expect(account.gates[3]).toMatchObject({ evidence: [{ kind: 'event', id: paid }], source: 'state' });
    expect(gatesOf(account).slice(2)).toEqual([
      'condition passed',
      'unless stopped',
      'deadline not_reached',
      'recipient not_reached',
    ]);
    expect(await only(paid)).toMatchObject({ stoppedAt: 'condition', text: 'did not fire: `when` is false' });
  });

  it('says that the entity was forgotten', async () => {
    await publish(WAITS);
    const placed = await happens('placed');
    const entity = { workspace: 'shop', stream: 'shop/orders', key: 'A-1' };
    await topology.data.log.append([forgetRecord(entity, 'person:per_1', { ids: topology.ids, partitions: 1 })]);
    await settle(topology);
    expect(await only(placed)).toMatchObject({
      verdict: 'stopped',
      stoppedAt: 'condition',
      text: expect.stringMatching(/^the entity was forgotten .* the wait ended without a message$/) as string,
    });
  });

  it('names the newer event that took the wait over', async () => {
    await publish({ after_last: '1h', unless: WAITS.unless });
    const first = await happens('placed');
    topology.clock.pass(MINUTE);
    const second = await happens('placed');
    await settle(topology);
    const { stoppedAt, text } = await only(first);
    expect([stoppedAt, text]).toEqual(['unless', expect.stringContaining(`by event ${second}`)]);
    expect(await only(second)).toMatchObject({ stoppedAt: 'deadline', verdict: 'waiting' });
  });

  it('passes both gates once the deadline has passed', async () => {
    await publish(WAITS);
    const placed = await happens('placed');
    await passes(HOUR + 1000);
    await settle(topology);
    const account = await only(placed);
    expect(gatesOf(account).slice(2)).toEqual([
      'condition passed',
      'unless passed',
      'deadline passed',
      'recipient passed',
    ]);
    expect(account.stoppedAt).toBe('provider');
  });

  it('stops a match in cooldown at the condition, and shows no gates of waiting', async () => {
    await publish({ cooldown: '1h' });
    await happens('placed');
    topology.clock.pass(MINUTE);
    const second = await happens('placed');
    await settle(topology);
    const account = await only(second);
    expect([account.stoppedAt, account.text]).toEqual([
      'condition',
      expect.stringMatching(/^in cooldown: fired 1m before/),
    ]);
    expect(account.gates.map(({ gate }) => gate)).not.toContain('unless');
  });

  it('stops at the rule if the rule was disabled at its deadline', async () => {
    await publish(WAITS);
    const placed = await happens('placed');
    await publish(WAITS, false);
    await passes(HOUR + 1000);
    await settle(topology);
    const { stoppedAt, text } = await only(placed);
    expect([stoppedAt, text]).toEqual(['rule', expect.stringMatching(/^disabled: /)]);
  });

  it('stops at the deadline if that was past already', async () => {
    await publish({ at: 'timestamp(event.starts_at)' });
    const late = await happens('placed', { starts_at: iso(topology.clock.now() - HOUR) });
    await settle(topology);
    const { stoppedAt, text } = await only(late);
    expect([stoppedAt, text]).toEqual(['deadline', expect.stringMatching(/^deadline_past: /)]);
  });

  it('has one line for an event, with its newest decision', async () => {
    await publish(WAITS);
    const placed = await happens('placed');
    const paid = await happens('paid');
    await settle(topology);
    const { items } = await whyAddress({ address: 'ada@example.com', limit: 10 }, topology.tracePorts);
    const lines = items.filter(({ eventId }) => eventId === placed);
    expect(lines).toMatchObject([{ text: `wait cancelled: \`unless\` is true, by event ${paid}` }]);
  });
});
