import type { NotificationBody } from '@carillon/domain/configuration';
import { type Delivery, operatorCancel, operatorResend } from '@carillon/domain/deliveries';
import { decideOnDelivery } from '@carillon/stages';
import { at, notification, ORDER_PAID, template } from '@carillon/testing/given';
import { untilFound } from '@carillon/testing/topology';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RoleUnderTest } from './delivery-role.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DIGEST_MAIL = {
  email: {
    subject: '{{count}} orders, the newest {{order_id}}',
    text: '{{#each items}}{{order_id}}: {{total}}. {{/each}}',
  },
};

let under: RoleUnderTest;
beforeEach(async () => {
  under = await RoleUnderTest.open();
});
afterEach(() => under.close());

const digesting = (
  more: Partial<NotificationBody> = {},
  window: object = { fixed: '1h' },
): Partial<NotificationBody> => ({
  ...more,
  cadence: { digest: { window, template: 'orders-digest' } as never, ...more.cadence },
});

async function open(body: Partial<NotificationBody> = digesting()): Promise<void> {
  await under.shop();
  await under.topology.publish(template('orders-digest', DIGEST_MAIL));
  await under.change(body);
  await under.start();
}

/** Ada pays an order; or somebody else, or in another way. */
async function pays(order: string, facts: Readonly<Record<string, unknown>> = {}): Promise<void> {
  const { email = 'ada@example.com', ...rest } = facts;
  const body = { status: 'paid', order_id: order, total: 10, customer: { email, name: 'Ada' }, ...rest };
  await under.topology.event(body as never, { stream: 'shop/orders' });
}
const itemOf = (order: string, state: Delivery['state'] = 'COLLECTED') => under.reaches(state, order);
const listed = (order: string) =>
  untilFound(`${order} on the list`, async () => {
    const item = await itemOf(order);
    return item.nextAt === null ? item : undefined;
  });
const heads = async () => (await under.topology.data.digestHeads.list(100)).items;
const digests = async () => (await under.deliveries()).filter(({ intent }) => intent.digest);
const decide = (id: Delivery['id'], decision: Parameters<typeof decideOnDelivery>[1]) =>
  decideOnDelivery(
    async () => {
      const found = await under.topology.data.ledger.get(id);
      if (!found) throw new Error(`no ${id}`);
      return found;
    },
    decision,
    { ...under.topology.ports, untold: () => undefined },
  );
const now = () => at(under.topology.clock.now());

describe('messages to one person within a window', () => {
  it('become one digest that lists each of them, and each names its digest', async () => {
    await open();
    for (const order of ['A-1', 'A-2', 'A-3']) await pays(order);
    for (const order of ['A-1', 'A-2', 'A-3']) {
      const item = await listed(order);
      expect(item.detail).toContain('for a digest at ');
    }
    expect(under.mail.accepted).toEqual([]);
    under.topology.clock.pass(HOUR);
    const digest = await untilFound('the digest', async () => (await digests()).find(({ state }) => state === 'SENT'));
    expect(under.mail.accepted).toHaveLength(1);
    expect(under.mail.accepted[0]?.to).toEqual(['ada@example.com']);
    expect(under.mail.accepted[0]?.raw).toContain('Subject: 3 orders, the newest A-3');
    expect(under.mail.accepted[0]?.raw).toContain('A-1: 10. A-2: 10. A-3: 10.');
    for (const order of ['A-1', 'A-2', 'A-3']) {
      expect(await itemOf(order, 'DIGESTED')).toMatchObject({
        digestedIn: digest.id,
        detail: `in digest ${digest.id}`,
      });
    }
    expect(digest.intent.digest?.items).toHaveLength(3);
    await untilFound('an empty head', async () =>
      (await heads()).find(({ closing, items }) => !closing && items.length === 0),
    );
    const told = await untilFound('all outcomes', async () => {
      const outcomes = (await under.topology.records('carillon.outcomes')).map(({ value }) => {
        const read = under.topology.ports.codecs.outcome.decode(value);
        return read.ok ? read.value.state : '';
      });
      return outcomes.length >= 7 ? outcomes : undefined;
    });
    expect(told.filter((state) => state === 'COLLECTED')).toHaveLength(3);
    expect(told.filter((state) => state === 'DIGESTED')).toHaveLength(3);
    expect(under.troubles).toEqual([]);
  });

  it('form separate digests per address and per configured key', async () => {
    const cadence = { digest: { window: { fixed: '1h' }, key: 'event.project', template: 'orders-digest' } } as const;
    await open({ cadence });
    await pays('A-1', { project: 'x' });
    await pays('A-2', { project: 'y' });
    await pays('A-3', { project: 'x' });
    await pays('B-1', { project: 'x', email: 'bob@example.com' });
    for (const order of ['A-1', 'A-2', 'A-3', 'B-1']) await listed(order);
    under.topology.clock.pass(HOUR);
    const sent = await untilFound('three digests', async () => {
      const all = (await digests()).filter(({ state }) => state === 'SENT');
      return all.length === 3 ? all : undefined;
    });
    expect(sent.map(({ intent }) => Number(intent.variables['count'])).toSorted((a, b) => a - b)).toEqual([1, 1, 2]);
  });

  it('are dropped with a reason if the key is not an identifier', async () => {
    await open({ cadence: { digest: { window: { fixed: '1h' }, key: 'event.project' } } });
    await pays('A-1', { project: { id: 1 } });
    await pays('A-2', { project: 'p'.repeat(1001) });
    await pays('A-3', { project: 'x' });
    await listed('A-3');
    expect((await under.deliveries()).map(({ slot }) => slot.uniqueId)).toEqual(['A-3']);
  });

  it('are sent before the window ends when the digest has max_items', async () => {
    await open({ cadence: { digest: { window: { fixed: '1h' }, max_items: 2, template: 'orders-digest' } } });
    for (const order of ['A-1', 'A-2']) await pays(order);
    const digest = await untilFound('the digest', async () => (await digests()).find(({ state }) => state === 'SENT'));
    expect(digest.intent.variables['count']).toBe(2);
    await pays('A-3');
    await listed('A-3');
    expect(await heads()).toMatchObject([{ n: 1, items: [{}] }]);
  });

  it('are sent together, each once, if each item extends a sliding window', async () => {
    await open(digesting({}, { sliding: '10m', at_most: '15m' }));
    await pays('A-1');
    await listed('A-1');
    under.topology.clock.pass(9 * MINUTE);
    await pays('A-2');
    await listed('A-2');
    const [head] = await heads();
    expect(head?.end?.closesAt).toBe(head?.end?.slide?.latest);
    under.topology.clock.pass(5 * MINUTE);
    await under.looks();
    expect(await digests()).toEqual([]);
    under.topology.clock.pass(MINUTE);
    await untilFound('the digest', async () => (await digests()).find(({ state }) => state === 'SENT'));
  });
});

describe('a digest of messages over a limit', () => {
  it('sends messages below the limit singly, collects the others, and counts towards the limit itself', async () => {
    await open({
      cadence: {
        limits: [{ max: 1, per: '2h', then: 'digest' }],
        digest: { when: 'over_limit', window: { fixed: '1h' }, template: 'orders-digest' },
      },
    });
    await pays('A-1');
    await itemOf('A-1', 'SENT');
    await pays('A-2');
    await pays('A-3');
    expect((await listed('A-2')).detail).toContain('filled by dlv_');
    await listed('A-3');
    under.topology.clock.pass(HOUR);
    await untilFound('it is held', async () => (await digests()).find(({ reason }) => reason === 'held_by_limit'));
    under.topology.clock.pass(HOUR);
    const digest = await untilFound('the digest', async () => (await digests()).find(({ state }) => state === 'SENT'));
    expect(digest.intent.variables['count']).toBe(2);
    expect(under.mail.accepted).toHaveLength(2);
  });

  it('needs a digest in the notification: without it the message waits', async () => {
    await open({ cadence: { limits: [{ max: 1, per: '2h', then: 'hold' }] } });
    await pays('A-1');
    await itemOf('A-1', 'SENT');
    await pays('A-2');
    await untilFound('it is held', async () =>
      (await under.deliveries()).find(({ reason }) => reason === 'held_by_limit'),
    );
    expect(await heads()).toEqual([]);
  });
});

describe('an item of an open digest', () => {
  it('a cancelled item leaves the digest, and an item that is sent again joins the next digest', async () => {
    await open();
    await pays('A-1');
    await pays('A-2');
    const item = await listed('A-1');
    await listed('A-2');
    await decide(item.id, (newest) => operatorCancel(newest, 'ann', now()));
    await decide(item.id, (newest) => operatorResend(newest, 24 * HOUR, 'ann', now()));
    const again = await untilFound('it is listed anew', async () => {
      const seen = await under.topology.data.ledger.get(item.id);
      return seen?.state === 'COLLECTED' && seen.nextAt === null ? seen : undefined;
    });
    expect(again.collected?.token).not.toBe(item.collected?.token);
    await decide(again.id, (newest) => operatorCancel(newest, 'ann', now()));
    under.topology.clock.pass(HOUR);
    const digest = await untilFound('the digest', async () => (await digests()).find(({ state }) => state === 'SENT'));
    expect(digest.intent.variables['count']).toBe(1);
    await decide(item.id, (newest) => operatorResend(newest, 24 * HOUR, 'ann', now()));
    await listed('A-1');
    under.topology.clock.pass(HOUR);
    await untilFound('the second one', async () => (await digests()).filter(({ state }) => state === 'SENT')[1]);
    expect(under.mail.accepted).toHaveLength(2);
  });

  it('is followed by single messages when digests are switched off, and the open digest is still sent', async () => {
    await open();
    await pays('A-1');
    await listed('A-1');
    await under.change({});
    await pays('A-2');
    await itemOf('A-2', 'SENT');
    await under.looks();
    expect(await digests()).toEqual([]);
    under.topology.clock.pass(HOUR);
    const digest = await untilFound('the digest', async () => (await digests()).find(({ state }) => state === 'SENT'));
    // Nobody names a template of digests any more.
    expect(digest.intent).toMatchObject({ template: 'order-paid', variables: { count: 1 } });
  });

  it('is sent at the end of its window, ignoring later changes of the window', async () => {
    await open();
    await pays('A-1');
    await listed('A-1');
    const [before] = await heads();
    await under.change(digesting({}, { fixed: '5m' }));
    await pays('A-2');
    await listed('A-2');
    const [after] = await heads();
    expect(after?.end).toEqual(before?.end);
    under.topology.clock.pass(HOUR);
    await untilFound('the digest', async () => (await digests()).find(({ state }) => state === 'SENT'));
    await pays('A-3');
    await listed('A-3');
    const [next] = await heads();
    expect((next?.end?.closesAt ?? 0) - under.topology.clock.now()).toBeLessThanOrEqual(5 * MINUTE);
  });

  it('ends with its digest, after an opt-out or a withdrawal', async () => {
    await open();
    await pays('A-1');
    await listed('A-1');
    await under.topology.publish(notification('order-paid', { ...ORDER_PAID, ...digesting(), enabled: false }));
    under.topology.clock.pass(HOUR);
    const digest = await untilFound('the digest', async () => (await digests())[0]);
    await untilFound('it ended', async () => {
      const seen = await under.topology.data.ledger.get(digest.id);
      return seen?.state === 'SUPPRESSED' && seen.reason === 'rule_withdrawn' ? seen : undefined;
    });
    expect(under.mail.accepted).toEqual([]);
  });

  it('waits with its digest for the end of quiet hours', async () => {
    // The window closes within hours that have begun by then, whenever this runs.
    const from = Math.ceil((under.topology.clock.now() + MINUTE) / MINUTE) * MINUTE;
    const clockAt = (instant: number): string => new Date(instant).toISOString().slice(11, 16);
    const quiet = { from: clockAt(from), to: clockAt(from + 3 * HOUR) } as const;
    await open({ ...digesting({ expires: '2d' }), cadence: { ...digesting().cadence, quiet_hours: quiet } });
    await pays('A-1');
    await listed('A-1');
    under.topology.clock.pass(HOUR + 2 * MINUTE);
    const digest = await untilFound('it is held', async () =>
      (await digests()).find(({ reason }) => reason === 'held_by_quiet_hours'),
    );
    expect(digest.nextAt).toBe(from + 3 * HOUR);
    under.topology.clock.pass(HOUR);
    await under.looks();
    expect(under.mail.accepted).toEqual([]);
    under.topology.clock.pass(HOUR);
    await untilFound('it is sent', async () => (await digests()).find(({ state }) => state === 'SENT'));
    expect(under.mail.accepted).toHaveLength(1);
  });
});

describe('an unsent digest', () => {
  async function failedDigest(): Promise<Delivery> {
    await open();
    under.mail.follow(({ stage }) => (stage === 'rcpt' ? '554 5.7.1 no' : undefined));
    await pays('A-1');
    await pays('A-2');
    await listed('A-1');
    await listed('A-2');
    under.topology.clock.pass(HOUR);
    return untilFound('a failed digest', async () => (await digests()).find(({ state }) => state === 'FAILED'));
  }

  it('frees the slots of its items for the next messages, and omits these items when an operator resends it', async () => {
    const failed = await failedDigest();
    await pays('A-1');
    const taken = await untilFound('A-1 is taken over', async () => {
      const item = (await under.deliveries()).find(({ slot }) => slot.uniqueId === 'A-1');
      return item?.state === 'COLLECTED' && item.nextAt === null ? item : undefined;
    });
    expect(taken.history.map(({ detail }) => detail).join()).toContain('in a digest that ended FAILED');
    under.mail.follow(() => undefined);
    await decide(failed.id, (newest) => operatorResend(newest, 24 * HOUR, 'ann', now()));
    const sent = await untilFound('it is sent', async () => (await digests()).find(({ state }) => state === 'SENT'));
    expect(sent.id).toBe(failed.id);
    expect(sent.intent.variables).toMatchObject({ count: 1, items: [{ order_id: 'A-2' }] });
    // From now on its items count as told.
    await pays('A-2');
    await untilFound('a duplicate', async () => (await under.deliveries()).find(({ duplicates }) => duplicates > 0));
    under.topology.clock.pass(HOUR);
    await untilFound('the second digest', async () => (await digests()).filter(({ state }) => state === 'SENT')[1]);
    expect(under.mail.accepted).toHaveLength(2);
  });
});

describe('work of a dead process', () => {
  it('does not stop the sweeper from other work if it cannot be read', async () => {
    const { ledger } = under.topology.data;
    Object.assign(ledger, { unlisted: () => Promise.reject(new Error('cut')) });
    under.mail.follow(({ stage }) => (stage === 'rcpt' ? '451 4.3.0 try again later' : undefined));
    const retry = { attempts: 4, first: '4h', max: '4h' };
    await open({ retry });
    await pays('A-1');
    await untilFound('it waits', async () => (await under.deliveries()).find(({ reason }) => reason === 'transient'));
    await under.change({ retry, enabled: false });
    expect(await itemOf('A-1', 'SUPPRESSED')).toMatchObject({ reason: 'rule_withdrawn' });
    expect(under.troubles).toContainEqual(new Error('cut'));
  });

  it('collected items without a digest are added by the sweeper and sent once', async () => {
    await open();
    const { digestHeads } = under.topology.data;
    const { ...whole } = digestHeads;
    let isCut = true;
    Object.assign(digestHeads, {
      replace: (next: never) => (isCut ? Promise.reject(new Error('cut')) : whole.replace(next)),
    });
    await pays('A-1');
    await itemOf('A-1');
    await untilFound('who collected it has given up', () => under.troubles.length > 0 || undefined);
    await under.looks();
    expect((await itemOf('A-1')).nextAt).not.toBeNull();
    isCut = false;
    under.topology.clock.pass(31_000);
    await listed('A-1');
    under.topology.clock.pass(HOUR);
    await untilFound('the digest', async () => (await digests()).find(({ state }) => state === 'SENT'));
    expect(under.mail.accepted).toHaveLength(1);
  });
});
