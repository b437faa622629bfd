import type { Change } from '@carillon/domain/changes';
import { sourcesOf } from '@carillon/domain/configuration';
import { prepareChange } from '@carillon/stages';
import { integration, notification, ORDER_PAID, PAID_MAIL, stream, template } from '@carillon/testing/given';
import { openTopology, type Topology, settle } from '@carillon/testing/topology';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { traceEvent } from '../../src/index.ts';

let topology: Topology;
const [paid] = Object.values(ORDER_PAID.rules);
if (!paid) throw new Error('there is a rule');
const CHANGED = { ...paid, when: 'changedTo(event.status, "paid")' };

beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
  await topology.publish(
    integration('shop-db', { kind: 'postgres', url: { secret: 'SHOP_DB' } }),
    stream('orders', { from: { integration: 'shop-db', tables: { 'public.orders': 'event.order_id' } } }),
    notification('order-paid', { ...ORDER_PAID, rules: { paid: CHANGED } }),
    template('order-paid', PAID_MAIL),
  );
});
afterEach(() => topology.close());

const row = (status: string) => ({ status, order_id: 'A-1', customer: { name: 'Ada', email: 'ada@example.com' } });
const source = {
  integration: 'shop-db',
  table: 'public.orders',
  tx: 728,
  position: '0/1948580:3',
  at: '2026-11-28T06:30:00.123456Z',
};

/** Traces a change that was read from the database and evaluated. */
async function trace(change: Omit<Change, 'source' | 'unknown'>) {
  const [configured] = sourcesOf(topology.ports.configuration.current());
  const read = { change: { ...change, unknown: [], source }, identity: ['a'] };
  const [prepared] = prepareChange(read, configured?.streams ?? [], topology.ports);
  if (!prepared) throw new Error('no stream reads the table');
  await topology.ports.log.append([prepared.record]);
  await settle(topology);
  const traced = await traceEvent(prepared.record.headers['event_id'] ?? '', topology.tracePorts);
  return traced?.steps ?? [];
}

describe('the trace of a change', () => {
  it('that fired names table and transaction, and both values', async () => {
    const steps = await trace({ op: 'update', event: row('paid'), previous: row('open') });
    expect(steps[0]?.lines).toEqual([
      'update of public.orders in transaction 728 of shop-db, committed at 2026-11-28T06:30:00.123456Z, position 0/1948580:3',
    ]);
    expect(steps.find(({ step }) => step === 'trigger')?.lines).toEqual([
      'changedTo(event.status, "paid")  →  true',
      '  event.status  →  "paid"',
      '  previous.status  →  "open"',
    ]);
  });

  it('that fired nothing shows that the value was the same before', async () => {
    const steps = await trace({ op: 'update', event: row('paid'), previous: row('paid') });
    expect(steps.find(({ step }) => step === 'rule')).toMatchObject({
      text: 'did not fire: `when` is false',
      lines: ['changedTo(event.status, "paid")  →  false', '  event.status  →  "paid"', '  previous.status  →  "paid"'],
    });
  });

  it('whose row before is unknown says so', async () => {
    const steps = await trace({ op: 'update', event: row('paid') });
    expect(steps.find(({ step }) => step === 'rule')).toMatchObject({ reason: 'before_unknown' });
  });
});
