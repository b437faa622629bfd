import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SentToPerson } from '@carillon/domain/cadence';
import type { NotificationBody } from '@carillon/domain/configuration';
import {
  openDelivery,
  operatorDismiss,
  providerResult,
  sandboxOf,
  type Delivery,
  type Intent,
  type ProviderResult,
  type ProviderVerdict,
} from '@carillon/domain/deliveries';
import type { TriggerId } from '@carillon/kernel';
import type { ChannelSender, DeliveryLedger, LimitStore } from '@carillon/ports';
import { givenIntent, HOUR, ORDER_PAID, orderShop, workspaceSettings } from '@carillon/testing/given';
import { openTopology, type Topology } from '@carillon/testing/topology';
import { deliveryIdOf, sweep, type AttemptPorts } from '../../src/index.ts';
import { attemptAndPublish } from './support/attempt-and-publish.ts';

const ADA = 'ada@example.com';
const SECOND = 1000;

let topology: Topology;
/** Delivery ids of the calls that were taken. */
let taken: string[] = [];
beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
  topology.clock.standStill();
  taken = [];
  await publish([{ max: 1, per: '1d', then: 'drop' }]);
});
afterEach(() => topology.close());

type Limits = NonNullable<NonNullable<NotificationBody['cadence']>['limits']>;
async function publish(limits: Limits, more: Partial<NotificationBody> = {}): Promise<void> {
  const [rule] = Object.values(ORDER_PAID.rules);
  if (!rule) throw new Error('there is a rule');
  const rules = { paid: { ...rule, id: 'rul_paid' } };
  await topology.publish(...orderShop({ ...ORDER_PAID, id: 'ntf_paid', rules, cadence: { limits }, ...more }));
}

const ports = (more: Partial<AttemptPorts> = {}): AttemptPorts => ({
  ...topology.ports,
  pause: () => Promise.resolve(),
  stopping: new AbortController().signal,
  collect: async () => [],
  ...more,
});
const senderOf = (answer: (id: string) => ProviderResult | Promise<ProviderResult>): ChannelSender => ({
  async send(_message, { deliveryId }) {
    const result = await answer(deliveryId);
    if (result.verdict === 'accepted') taken.push(deliveryId);
    return result;
  },
  check: async () => [],
  close: async () => undefined,
});
const says = (verdict: ProviderVerdict): ChannelSender => senderOf(() => providerResult(verdict, '', 'said so'));

let made = 0;
async function waiting(facts: Partial<Intent> = {}, expires = 48 * HOUR): Promise<Delivery> {
  made += 1;
  const now = topology.clock.now();
  const name = `message ${made}`;
  const intent = givenIntent(name, {
    uniqueId: name,
    triggerId: `trg_${made}` as TriggerId,
    person: ADA,
    causedAt: now,
    sendAt: now,
    notAfter: now + expires,
    ...facts,
  });
  const moment = { now, derive: topology.ids.derive };
  const delivery = openDelivery(intent, 'carillon.intents/0@0', deliveryIdOf(intent, topology.ids), moment);
  await topology.data.ledger.insert([delivery]);
  return delivery;
}
const read = async ({ id }: Delivery): Promise<Delivery> => {
  const found = await topology.data.ledger.get(id);
  if (!found) throw new Error('it is there');
  return found;
};
const attempt = async (delivery: Delivery, sender = says('accepted'), more: Partial<AttemptPorts> = {}) => {
  const hold = { choice: sandboxOf('email'), sender, release: () => undefined };
  return attemptAndPublish(await read(delivery), hold, { retryAt: null, anotherAccount: false }, ports(more));
};
const document = (person = ADA): Promise<SentToPerson | null> => topology.data.limits.find('shop', person);
const tokens = async (): Promise<readonly string[]> => ((await document())?.entries ?? []).map(({ token }) => token);

describe('a message under a frequency limit', () => {
  it('is recorded in the person’s list with the token and the time of its attempt', async () => {
    const delivery = await waiting();
    await attempt(delivery);
    const { state, attempts } = await read(delivery);
    expect(state).toBe('SENT');
    expect((await document())?.entries).toEqual([
      expect.objectContaining({ deliveryId: delivery.id, token: attempts[0]?.token, at: attempts[0]?.startedAt }),
    ]);
  });

  it('shares one write of the person’s list with concurrent messages, so that they do not conflict', async () => {
    await publish([{ max: 1000, per: '1d', then: 'drop' }]);
    const many = await Promise.all(Array.from({ length: 40 }, () => waiting()));
    let writes = 0;
    const replace: LimitStore['replace'] = async (...of) => {
      writes += 1;
      await new Promise(setImmediate);
      return topology.data.limits.replace(...of);
    };
    const limits: LimitStore = { ...topology.data.limits, replace };
    await Promise.all(many.map((delivery) => attempt(delivery, says('accepted'), { limits })));
    expect(taken).toHaveLength(40);
    expect(writes).toBe(40);
  });

  it('is dropped if it is over the limit, with the limit and the messages that fill it as detail', async () => {
    const [first, second] = [await waiting(), await waiting()];
    await attempt(first);
    expect(await attempt(second)).toMatchObject({ kind: 'ended' });
    expect(await read(second)).toMatchObject({
      state: 'SUPPRESSED',
      reason: 'capped',
      detail: `at most 1 message in 1d of this notification, filled by ${first.id}`,
      attempts: [],
    });
    expect(taken).toEqual([first.id]);
    const sent = await document();
    expect(sent?.entries).toMatchObject([{ sure: true }]);
  });

  it('waits until there is room if the limit says hold, and ends at once if that would be too late', async () => {
    await publish([{ max: 1, per: '1d', then: 'hold' }]);
    const [first, second, brief] = [await waiting(), await waiting(), await waiting({}, 23 * HOUR)];
    await attempt(first);
    const until = topology.clock.now() + 24 * HOUR;
    await attempt(second);
    expect(await read(second)).toMatchObject({
      state: 'WAITING',
      reason: 'held_by_limit',
      nextAt: until,
      attemptsUsed: 0,
    });
    await attempt(brief);
    expect(await read(brief)).toMatchObject({ state: 'SUPPRESSED', reason: 'capped' });
    topology.clock.pass(24 * HOUR);
    expect(await attempt(second)).toMatchObject({ kind: 'called', delivery: { state: 'SENT' } });
  });

  it('is counted by the recipient’s calendar day, not that of the machine or the workspace', async () => {
    const day = 24 * HOUR;
    await publish([{ max: 1, per: 'calendar day', then: 'hold' }]);
    // Half a day ahead of UTC, and never changed.
    const variables = { time_zone: 'Pacific/Tarawa' };
    const [first, second] = [await waiting({ variables }), await waiting({ variables })];
    await attempt(first);
    await attempt(second);
    const midnight = (Math.floor((topology.clock.now() + 12 * HOUR) / day) + 1) * day - 12 * HOUR;
    expect(await read(second)).toMatchObject({ state: 'WAITING', nextAt: midnight });
  });

  it('is counted separately for another person', async () => {
    const [ada, bob] = [await waiting(), await waiting({ person: 'bob@example.com', to: 'bob@example.com' })];
    await attempt(ada);
    await attempt(bob);
    expect(taken).toEqual([ada.id, bob.id]);
  });

  it('counts once if it goes to several devices for one trigger on one channel', async () => {
    const triggerId = 'trg_devices' as TriggerId;
    const devices = [await waiting({ triggerId }), await waiting({ triggerId })];
    for (const device of devices) await attempt(device);
    expect(taken).toEqual(devices.map(({ id }) => id));
    const other = await waiting();
    await attempt(other);
    expect((await read(other)).state).toBe('SUPPRESSED');
  });

  it('is sent and not counted if it is transactional, or if no limit applies to it', async () => {
    await publish([{ max: 1, per: '1d', channels: ['sms'], then: 'drop' }]);
    await attempt(await waiting());
    await publish([{ max: 1, per: '1d', then: 'drop' }], { transactional: true });
    await attempt(await waiting());
    await attempt(await waiting());
    expect(taken).toHaveLength(3);
    expect(await document()).toBeNull();
  });

  it('is sent and not counted if it is a test, even if the limit is full', async () => {
    await attempt(await waiting());
    const before = await document();
    await attempt(await waiting({ test: { by: 'ann' } }));
    expect(taken).toHaveLength(2);
    expect(await document()).toEqual(before);
  });

  it('is counted for limits of the workspace and of the notification, and a changed limit counts earlier messages', async () => {
    await publish([{ max: 9, per: '1d', then: 'drop' }]);
    await attempt(await waiting());
    await attempt(await waiting());
    await topology.publish(workspaceSettings({ cadence: { limits: [{ max: 2, per: '1h', then: 'drop' }] } }));
    const third = await waiting();
    await attempt(third);
    expect((await read(third)).detail).toContain('at most 2 messages in 1h, filled by');
  });
});

describe('messages that a frequency limit does not count', () => {
  it.each(['transient', 'throttled', 'refused_account', 'refused_recipient', 'refused_content'] as const)(
    'include one that the provider definitely refused (%s)',
    async (verdict) => {
      const [first, second] = [await waiting(), await waiting()];
      await attempt(first, says(verdict));
      expect(await tokens()).toEqual([]);
      await attempt(second);
      expect(taken).toEqual([second.id]);
    },
  );

  it('include one that cannot be rendered', async () => {
    await attempt(await waiting({ template: 'gone' }));
    expect(await document()).toBeNull();
  });

  it('include the retry of a delivery, also its resend after an unknown result', async () => {
    await publish([{ max: 1, per: '1d', then: 'drop' }], { in_doubt: 'resend' });
    const delivery = await waiting();
    await attempt(delivery, says('ambiguous'));
    expect(await read(delivery)).toMatchObject({ state: 'WAITING', reason: 'in_doubt_resend' });
    const other = await waiting();
    await attempt(other);
    expect((await read(other)).state).toBe('SUPPRESSED');
    await attempt(delivery);
    expect(taken).toEqual([delivery.id]);
  });

  it('include one in doubt that an operator marked as failed, also if it filled a limit before', async () => {
    const [doubted, dropped, other] = [await waiting(), await waiting(), await waiting()];
    await attempt(doubted, says('ambiguous'));
    await attempt(dropped);
    expect(await read(dropped)).toMatchObject({ state: 'SUPPRESSED', reason: 'capped' });
    const moment = { now: topology.clock.now(), derive: topology.ids.derive };
    const dismissed = operatorDismiss(await read(doubted), 'failed', 'no word of it', 'ann', moment);
    if (!dismissed.ok) throw new Error(dismissed.error);
    await topology.data.ledger.replace(dismissed.value);
    await attempt(other);
    expect(taken).toEqual([other.id]);
  });

  it('include one in doubt that the provider refused late, also if the list could not be written at once', async () => {
    const [slow, dropped, other] = [await waiting(), await waiting(), await waiting()];
    const { limits } = topology.data;
    let late = false;
    const lost: LimitStore = {
      ...limits,
      find: (...asked) => (late ? Promise.reject(new Error('away')) : limits.find(...asked)),
    };
    const refusing = senderOf(async () => {
      topology.clock.pass(31 * SECOND);
      await sweep(topology.ports, topology.clock.now());
      await attempt(dropped);
      late = true;
      return providerResult('refused_recipient', '', 'no such person');
    });
    await attempt(slow, refusing, { limits: lost, pause: () => new Promise(() => undefined) });
    expect(await read(dropped)).toMatchObject({ state: 'SUPPRESSED', reason: 'capped' });
    expect((await read(slow)).state).toBe('FAILED');
    await attempt(other);
    expect(taken).toEqual([other.id]);
  });

  it('include one whose worker died before it set SENDING: it is fenced off after 30 s and sent later', async () => {
    const [dead, other] = [await waiting(), await waiting()];
    const died = new Error('died');
    const ledger: DeliveryLedger = {
      ...topology.data.ledger,
      get: (id) => topology.data.ledger.get(id),
      replace: () => Promise.reject(died),
    };
    const stopping = AbortSignal.abort();
    const gone = { ...ledger, get: () => Promise.reject(died) };
    await expect(attempt(dead, says('accepted'), { ledger: gone, stopping })).rejects.toThrow('died');
    expect(await tokens()).toHaveLength(1);

    expect(await attempt(other)).toMatchObject({ kind: 'postponed' });
    const { state, nextAt, history } = await read(other);
    expect([state, nextAt, history.length]).toEqual(['WAITING', topology.clock.now() + SECOND, 1]);
    topology.clock.pass(29 * SECOND);
    await attempt(other);
    expect((await read(other)).state).toBe('WAITING');
    topology.clock.pass(SECOND);
    const before = await read(dead);
    await attempt(other);
    expect(taken).toEqual([other.id]);
    expect((await read(dead)).version).toBe(before.version + 1);
    await attempt(dead);
    expect((await read(dead)).state).toBe('SUPPRESSED');
  });

  it('include one whose worker read the delivery before it was fenced off: that worker sends nothing', async () => {
    const [slow, other] = [await waiting(), await waiting()];
    const { ledger } = topology.data;
    let interrupted = false;
    // Between its place and its step it is held still for half a minute, and somebody else needs the place.
    const held: DeliveryLedger = {
      ...ledger,
      get: (id) => ledger.get(id),
      replace: async (next) => {
        if (next.state === 'SENDING' && !interrupted) {
          interrupted = true;
          topology.clock.pass(30 * SECOND);
          await attempt(other);
        }
        return ledger.replace(next);
      },
    };
    expect(await attempt(slow, says('accepted'), { ledger: held })).toMatchObject({ kind: 'stale' });
    expect(taken).toEqual([other.id]);
    expect(await tokens()).toHaveLength(1);
  });

  it('include an outdated entry of the same delivery, which is removed and written again', async () => {
    const delivery = await waiting();
    const { limits } = topology.data;
    let writes = 0;
    const slow: LimitStore = {
      ...limits,
      replace: async (...write) => {
        const done = await limits.replace(...write);
        writes += 1;
        if (writes === 1) topology.clock.pass(16 * SECOND);
        return done;
      },
    };
    await attempt(delivery, says('accepted'), { limits: slow });
    const { attempts } = await read(delivery);
    expect(attempts[0]?.startedAt).toBe(topology.clock.now());
    expect(await tokens()).toEqual([attempts[0]?.token]);
  });
});

describe('messages that a frequency limit counts', () => {
  it('include one in doubt, also if it was dropped, so that nobody gets more than the limit allows', async () => {
    await publish([{ max: 1, per: '1d', then: 'drop' }], { in_doubt: 'drop' });
    const [first, second] = [await waiting(), await waiting()];
    await attempt(first, says('ambiguous'));
    expect(await read(first)).toMatchObject({ state: 'FAILED', reason: 'in_doubt_drop' });
    await attempt(second);
    expect(await read(second)).toMatchObject({ state: 'SUPPRESSED', reason: 'capped' });
  });

  it('include one whose provider call is running; another message checks again after a second, without an entry in its timeline', async () => {
    const [first, second] = [await waiting(), await waiting()];
    let meanwhile: Delivery | undefined;
    await attempt(
      first,
      senderOf(async () => {
        await attempt(second);
        meanwhile = await read(second);
        return providerResult('accepted', '', 'yes');
      }),
    );
    expect(meanwhile).toMatchObject({ state: 'WAITING', reason: 'new', nextAt: topology.clock.now() + SECOND });
    expect(meanwhile?.history).toHaveLength(1);
    await attempt(second);
    expect((await read(second)).state).toBe('SUPPRESSED');
  });

  it('include one whose process died during the provider call: the delivery is in doubt', async () => {
    const [first, second] = [await waiting(), await waiting()];
    const never = senderOf(() => new Promise<ProviderResult>(() => undefined));
    // Nor does it renew its lease any more.
    void attempt(first, never, { pause: () => new Promise(() => undefined) });
    await expect.poll(async () => (await read(first)).state).toBe('SENDING');
    topology.clock.pass(31 * SECOND);
    await sweep(topology.ports, topology.clock.now());
    await attempt(second);
    expect(await read(second)).toMatchObject({ state: 'SUPPRESSED', reason: 'capped' });
  });
});

describe('many concurrent messages to one person', () => {
  it('are sent three times under a limit of three, in any order', async () => {
    await publish([{ max: 3, per: '1d', then: 'drop' }]);
    const all = await Promise.all(Array.from({ length: 30 }, () => waiting()));
    for (let round = 0; round < 10; round += 1) {
      const open = [];
      for (const one of all) if ((await read(one)).state === 'WAITING') open.push(one);
      await Promise.all(open.map((one) => attempt(one)));
      topology.clock.pass(SECOND);
    }
    expect(taken).toHaveLength(3);
    const states = await Promise.all(all.map(async (one) => (await read(one)).state));
    expect(states.filter((state) => state === 'SUPPRESSED')).toHaveLength(27);
  });
});
