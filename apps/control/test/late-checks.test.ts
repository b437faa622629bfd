import { streamTable } from '@carillon/domain/configuration';
import { ORDER_PAID, ORDERS, orderShop, stream } from '@carillon/testing/given';
import { evaluateAll, openTopology, type Topology } from '@carillon/testing/topology';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ControlPorts } from '../src/index.ts';
import { createLateEventsOf, lateChecks } from '../src/late-checks.ts';
import { accessOf, openControl, personWith } from './control-fixture.ts';

const HOUR = 3_600_000;
const RECIPIENTS = { from: 'event', to: { email: 'event.customer.email' }, unique_id: 'event.order_id' } as const;
const RULES = {
  unpaid: { stream: 'orders', when: 'event.status == "placed"', after: '1h', recipients: RECIPIENTS },
  paid: { stream: 'orders', when: 'event.status == "paid"', recipients: RECIPIENTS },
} as const;
const KEYED = { ...ORDERS, key: 'event.order_id' };
const TIMED = { ...KEYED, time: 'event.happened_at' };

let topology: Topology;
beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
  topology.clock.standStill();
});
afterEach(() => topology.close());

const LATE = { count: 1, complete: true };
const placedRule = (name: string) => {
  const rules = [...streamTable(topology.ports.configuration.current()).rules.values()].flat();
  const placed = rules.find((rule) => rule.name === name);
  if (!placed) throw new Error(`no rule ${name}`);
  return placed;
};

const happened = (ago: number) =>
  topology.event({
    status: 'placed',
    order_id: 'A-1',
    happened_at: new Date(topology.clock.now() - ago).toISOString(),
    customer: { email: 'ada@example.com' },
  });

describe('late events', () => {
  it('are reported by doctor per rule with state', async () => {
    await topology.publish(...orderShop({ ...ORDER_PAID, rules: RULES }), stream('orders', TIMED));
    await happened(0);
    const late = await happened(2 * HOUR);
    await happened(10_000);
    await happened(3 * HOUR);
    await evaluateAll(topology);
    expect(await lateChecks(topology.ports)).toEqual([
      {
        step: 'late events of shop/order-paid.unpaid',
        ok: true,
        detail: `2 events of the last day came more than the grace of shop/orders after their time, such as ${late}; if many are late, raise \`grace\``,
      },
    ]);
  });

  it('are counted for the page of a rule', async () => {
    await topology.publish(...orderShop({ ...ORDER_PAID, rules: RULES }), stream('orders', TIMED), {
      ref: { kind: 'workspace', workspace: 'shop', name: '' },
      body: {},
    });
    await happened(2 * HOUR);
    await evaluateAll(topology);
    const access = accessOf(personWith('ann', ['read']));
    const { control } = await openControl(access, topology.ports as unknown as Partial<ControlPorts>);
    const lateOf = async (rule: string) => {
      const url = `/v1/workspaces/shop/rules/order-paid.${rule}/waiting`;
      return (await control.app.inject({ method: 'GET', url })).json<Record<string, unknown>>()['late_events'];
    };
    expect(await lateOf('unpaid')).toEqual({ count: 1, complete: true });
    expect(await lateOf('paid')).toEqual({ count: 0, complete: true });
    await control.app.close();
  });

  it('are counted once a minute for all pages', async () => {
    await topology.publish(...orderShop({ ...ORDER_PAID, rules: RULES }), stream('orders', TIMED));
    await happened(2 * HOUR);
    await evaluateAll(topology);
    const log = topology.ports.log;
    const read = vi.spyOn(log, 'read');
    const lateEventsOf = createLateEventsOf(topology.ports);
    const placed = placedRule('unpaid');
    expect(await Promise.all([lateEventsOf(placed), lateEventsOf(placed)])).toEqual([LATE, LATE]);
    const reads = read.mock.calls.length;
    topology.clock.pass(59_000);
    expect(await lateEventsOf(placed)).toEqual(LATE);
    expect(read).toHaveBeenCalledTimes(reads);
    read.mockRejectedValueOnce(new Error('the log is away'));
    topology.clock.pass(1_000);
    await expect(lateEventsOf(placed)).rejects.toThrow('the log is away');
    await happened(2 * HOUR);
    await evaluateAll(topology);
    expect(await lateEventsOf(placed)).toEqual({ ...LATE, count: 2 });
  });

  it('are counted once if their batch came again', async () => {
    await topology.publish(...orderShop({ ...ORDER_PAID, rules: RULES }), stream('orders', TIMED));
    await happened(2 * HOUR);
    await evaluateAll(topology);
    await topology.data.log.append(
      (await topology.records('carillon.evaluations')).map(({ topic, partition, key, headers, value }) => ({
        topic,
        partition,
        key,
        headers,
        value,
      })),
    );
    const [check] = await lateChecks(topology.ports);
    expect(check?.detail).toContain('1 event of the last day came');
  });

  it('are not reported after a day', async () => {
    await topology.publish(...orderShop({ ...ORDER_PAID, rules: RULES }), stream('orders', TIMED));
    await happened(2 * HOUR);
    await evaluateAll(topology);
    topology.clock.pass(25 * HOUR);
    expect(await lateChecks(topology.ports)).toEqual([]);
  });

  it('are not looked for without a `time` path', async () => {
    await topology.publish(...orderShop({ ...ORDER_PAID, rules: RULES }), stream('orders', KEYED));
    await happened(2 * HOUR);
    await evaluateAll(topology);
    expect(await lateChecks(topology.ports)).toEqual([]);
  });
});
