import type { Lookup } from '@carillon/domain';
import type { LogRecord } from '@carillon/ports';
import {
  givenLookup,
  givenTrigger,
  integration,
  notification,
  ORDER_PAID,
  ORDERS,
  PAID_MAIL,
  stream,
  template,
} from '@carillon/testing/given';
import { openTopology, type Topology } from '@carillon/testing/topology';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createResolveStage } from '../../src/index.ts';

let topology: Topology;
let configNumber: number;
beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
  const recipients = { from: 'lookup', integration: 'crm', user_ids: 'event.watchers', unique_id: 'event_id' } as const;
  configNumber = await topology.publish(
    stream('orders', ORDERS),
    template('order-paid', PAID_MAIL),
    integration('crm', { kind: 'lookup', url: 'https://crm.example.com', authorization: { key: { secret: 'K' } } }),
    notification('order-paid', { ...ORDER_PAID, rules: { paid: { stream: 'orders', when: 'true', recipients } } }),
  );
});
afterEach(() => topology.close());

const answer = (email: string, rule = 'order-paid.paid'): Lookup =>
  givenLookup({
    trigger: givenTrigger({ configNumber, rule }),
    items: [{ userId: 'ada', to: { email, phone: null, token: null }, variables: {} }],
  });
const record = (lookup: Lookup, offset: number): LogRecord => ({
  topic: 'carillon.lookups',
  partition: 0,
  offset,
  time: 1,
  key: 'k',
  value: topology.ports.codecs.lookup.encode(lookup),
  headers: { workspace: 'shop' },
});
async function resolve(...records: readonly LogRecord[]) {
  const result = await createResolveStage(topology.ports).handle(records, { partition: 0, configNumber, clocks: {} });
  const told = result.outputs.flatMap(({ topic, value }) => {
    const read = topology.ports.codecs.intent.decode(value);
    return topic === 'carillon.intents' && read.ok ? [read.value.to] : [];
  });
  return { told, fates: result.fates, topics: result.outputs.map(({ topic }) => topic) };
}

describe('two answers to one trigger', () => {
  it('are one: the first on the log counts, the other says nothing, in one batch and in the next', async () => {
    const first = record(answer('first@example.com'), 3);
    const second = record(answer('second@example.com'), 4);
    expect(await resolve(first, second)).toMatchObject({
      told: ['first@example.com'],
      fates: [{ kind: 'done' }, { kind: 'dropped', reason: 'superseded' }],
    });
    expect((await resolve(second)).told).toEqual([]);
  });

  it('come again after a crash, and give what they gave', async () => {
    const first = record(answer('first@example.com'), 3);
    expect((await resolve(first)).told).toEqual(['first@example.com']);
    expect((await resolve(first)).told).toEqual(['first@example.com']);
  });
});

it('an answer whose rule its configuration does not have is parked, and the others go on', async () => {
  const odd = record({ ...answer('x@example.com', 'order-paid.gone') }, 5);
  expect(await resolve(odd)).toMatchObject({
    told: [],
    topics: ['carillon.dead-letters'],
    fates: [{ kind: 'parked', reason: 'rule_gone' }],
  });
});
