import { createErasureMatcher, nameHash } from '@carillon/domain/erasures';
import type { SourceEvent } from '@carillon/domain/events';
import { keepEvent } from '@carillon/domain/rules';
import type { EventId } from '@carillon/kernel';
import { createErasureWork } from '@carillon/stages';
import { notification, ORDER_PAID, ORDERS, orderShop, stream } from '@carillon/testing/given';
import { openTopology, type Topology } from '@carillon/testing/topology';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const OF_USER = { from: 'event', person: 'event.user_id', to: { email: 'event.email' } } as const;
const RULES = {
  posted: { stream: 'orders', when: 'true', after: '1h', recipients: OF_USER },
  read: { stream: 'people', when: 'true', after: '1h', recipients: OF_USER },
  told: { stream: 'messages', when: 'true', after: '1h', recipients: OF_USER },
  entered: {
    cohort: { integration: 'amplitude', id: 'c1', on: 'entered' },
    after: '1h',
    recipients: { from: 'lookup', integration: 'crm' },
  },
} as const;

let topology: Topology;
beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
  await topology.publish(
    ...orderShop({ ...ORDER_PAID, rules: RULES }),
    stream('orders', { ...ORDERS, key: 'event.user_id' }),
    stream('people', {
      from: { integration: 'db', tables: { 'public.items': 'event.id', 'public.people': 'event.user_id' } },
    }),
    stream('messages', { from: { integration: 'kafka', topics: { messages: 'event.user_id' } } }),
  );
});
afterEach(() => topology.close());

describe('an erasure of a person by user id', () => {
  it.each([['shop/orders'], ['shop/people'], ['shop/messages'], ['shop/cohorts/amplitude/c1']])(
    'finds the rule state of the person on the stream %s',
    (path) => {
      const { ids, ports } = topology;
      const keyed = (...parts: readonly string[]): string => ids.keyed(...parts);
      const subject = { workspace: 'shop', hashes: [nameHash('u-17', keyed)] };
      const work = createErasureWork(createErasureMatcher(subject, keyed), ports);
      const isFound = (key: string): boolean => work.isEntityOfPerson({ workspace: 'shop', stream: path, key });
      expect([isFound('u-17'), isFound('u-18')]).toEqual([true, false]);
    },
  );

  it('finds rule state about the person that was made before the rule named people by another field', async () => {
    const named = { ...RULES.posted, recipients: { ...OF_USER, person: 'event.customer_id' } };
    await topology.publish(notification('order-paid', { ...ORDER_PAID, rules: { posted: named } }));
    const { ids, ports } = topology;
    const keyed = (...parts: readonly string[]): string => ids.keyed(...parts);
    const subject = { workspace: 'shop', hashes: [nameHash('u-17', keyed)] };
    const work = createErasureWork(createErasureMatcher(subject, keyed), ports);
    for (const record of await topology.records('carillon.events')) await work.judge(record);
    const entity = { workspace: 'shop', stream: 'shop/orders', key: 'A-1' };
    const kept = keepEvent({ body: { user_id: 'u-17' }, change: null } as unknown as SourceEvent);
    expect(work.isOfPerson(kept, entity)).toBe(true);
    expect(work.isEntityOfPerson({ ...entity, key: 'u-17' })).toBe(true);
  });

  it('keeps the times of the other users of a cohort message', async () => {
    const { ids, ports } = topology;
    const keyed = (...parts: readonly string[]): string => ids.keyed(...parts);
    const subject = { workspace: 'shop', hashes: [nameHash('u-17', keyed)] };
    const work = createErasureWork(createErasureMatcher(subject, keyed), ports);
    const users = { userIds: ['u-16', 'u-17', 'u-18'], time: [16, 17, 18] };
    await topology.saysOfCohort({
      id: 'evt_c' as EventId,
      workspace: 'shop',
      integration: 'amplitude',
      cohort: 'c1',
      name: null,
      session: null,
      page: null,
      action: 'add',
      skipped: 0,
      firstSync: 0,
      ...users,
    });
    const [record] = await topology.records('carillon.cohorts');
    const verdict = record && (await work.judge(record));
    if (!verdict || verdict === 'erased') throw new Error('the record was not changed');
    expect(ports.codecs.cohort.decode(verdict.value)).toMatchObject({
      ok: true,
      value: { userIds: ['u-16', 'u-18'], time: [16, 18] },
    });
  });
});
