import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  openDelivery,
  providerResult,
  sandboxOf,
  type Delivery,
  type Intent,
  type ProviderResult,
} from '@carillon/domain/deliveries';
import type { ChannelSender, DeliveryLedger } from '@carillon/ports';
import { givenIntent, HOUR, notification, ORDER_PAID, orderShop, PAID_MAIL, template } from '@carillon/testing/given';
import { openTopology, type Topology } from '@carillon/testing/topology';
import { deliveryIdOf, sweep, type AttemptPorts } from '../../src/index.ts';
import { attemptAndPublish } from './support/attempt-and-publish.ts';

let topology: Topology;
let calls: string[] = [];
beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
  calls = [];
  const [rule] = Object.values(ORDER_PAID.rules);
  if (!rule) throw new Error('there is a rule');
  await topology.publish(...orderShop({ ...ORDER_PAID, id: 'ntf_paid', rules: { paid: { ...rule, id: 'rul_paid' } } }));
});
afterEach(() => topology.close());

/** A provider whose next answers are written down before: it stands for the adapters, which keep one contract. */
const senderOf = (answer: (call: number) => Promise<ProviderResult>): ChannelSender => ({
  async send(message) {
    calls.push(message.to);
    return answer(calls.length);
  },
  check: async () => [],
  close: async () => undefined,
});
const answers = (...list: readonly ProviderResult[]) =>
  senderOf(async (call) => list[call - 1] ?? providerResult('accepted', '250', 'fine'));

const ports = (more: Partial<AttemptPorts> = {}): AttemptPorts => ({
  ...topology.ports,
  pause: () => Promise.resolve(),
  stopping: new AbortController().signal,
  collect: async () => [],
  ...more,
});
async function waiting(facts: Partial<Intent> = {}, uniqueId = '1'): Promise<Delivery> {
  const now = topology.clock.now();
  const intent = givenIntent('a', { uniqueId, causedAt: now, notAfter: now + 24 * HOUR, ...facts });
  const delivery = openDelivery(intent, 'carillon.intents/0@0', deliveryIdOf(intent, topology.ids), {
    now,
    derive: topology.ids.derive,
  });
  await topology.data.ledger.insert([delivery]);
  return delivery;
}
const released: (ProviderResult | null)[] = [];
const attempt = (
  delivery: Delivery,
  sender: ChannelSender | null,
  more: Partial<AttemptPorts> = {},
  retryAt: number | null = null,
) => {
  released.length = 0;
  const hold = sender && {
    choice: sandboxOf('email'),
    sender,
    release: (result: ProviderResult | null) => void released.push(result),
  };
  return attemptAndPublish(delivery, hold, { retryAt, anotherAccount: false }, ports(more));
};
const now = async (delivery: Delivery): Promise<Delivery> => (await topology.data.ledger.get(delivery.id)) ?? delivery;
const suppress = (address: string) =>
  topology.data.suppressions.add({
    workspace: 'shop',
    channel: 'email',
    address,
    source: 'operator',
    detail: 'asked for it',
    deliveryId: null,
    at: 0,
  });

describe('a delivery attempt (one call of a provider for a message)', () => {
  it('is recorded as SENDING before the provider is called, and its result afterwards', async () => {
    const delivery = await waiting();
    let during: Delivery | undefined;
    const sender = senderOf(async () => {
      during = await now(delivery);
      return providerResult('accepted', '250', 'queued');
    });
    expect(await attempt(delivery, sender)).toMatchObject({ kind: 'called', result: { verdict: 'accepted' } });
    expect(during).toMatchObject({ state: 'SENDING', attempts: [{ account: 'sandbox', result: null }] });
    expect(await now(delivery)).toMatchObject({ state: 'SENT', attempts: [{ result: { code: '250' } }] });
    expect(released).toMatchObject([{ verdict: 'accepted' }]);
  });

  it('calls the provider once if ten workers try at the same time', async () => {
    const delivery = await waiting();
    const reports = await Promise.all(Array.from({ length: 10 }, () => attempt(delivery, answers())));
    expect(reports.filter(({ kind }) => kind === 'called')).toHaveLength(1);
    expect(reports.filter(({ kind }) => kind === 'stale')).toHaveLength(9);
    expect(calls).toHaveLength(1);
  });

  it('makes no call and releases the delivery if the process stalled until its lease expired', async () => {
    const delivery = await waiting();
    const { ledger } = topology.data;
    const swept = async (): Promise<void> => {
      topology.clock.pass(31_000);
      await sweep(topology.ports, topology.clock.now());
    };
    const frozen = (then: () => Promise<void>): DeliveryLedger => ({
      ...ledger,
      async replace(next) {
        const wrote = await ledger.replace(next);
        if (next.state === 'SENDING') await then();
        return wrote;
      },
    });
    expect(await attempt(delivery, answers(), { ledger: frozen(swept) })).toMatchObject({ kind: 'postponed' });
    expect([calls, released]).toEqual([[], [null]]);
    const back = await now(delivery);
    expect(back).toMatchObject({ state: 'WAITING', reason: 'stopped_before_sending', attemptsUsed: 0, token: null });
    expect(back.history.map(({ state }) => state)).toEqual(['WAITING', 'SENDING', 'IN_DOUBT', 'WAITING']);
    // The same where nobody has swept yet.
    const asleep = async (): Promise<void> => topology.clock.pass(30_000);
    expect(await attempt(back, answers(), { ledger: frozen(asleep) })).toMatchObject({ kind: 'postponed' });
    expect(calls).toEqual([]);
    expect(await attempt(await now(delivery), answers())).toMatchObject({ kind: 'called' });
  });

  it('leaves the delivery in doubt, not failed, if the adapter throws', async () => {
    const delivery = await waiting();
    await attempt(
      delivery,
      senderOf(() => Promise.reject(new Error('bug'))),
    );
    expect(await now(delivery)).toMatchObject({ state: 'IN_DOUBT', reason: 'answer_unknown' });
  });

  it('suppresses an address that bounces permanently before it ends the delivery, so that a crash between the two loses nothing', async () => {
    const bounce = providerResult('refused_recipient', '550', 'no such ADA@example.com', { suppress: 'hard_bounce' });
    const { ledger, suppressions } = topology.data;
    let failed = 0;
    const failing: AttemptPorts['suppressions'] = {
      ...suppressions,
      async add(one) {
        failed += 1;
        const [delivery] = (await ledger.list({}, 1)).items;
        expect(delivery?.state).toBe('SENDING');
        if (failed === 1) throw new Error('the store is away');
        return suppressions.add(one);
      },
    };
    const report = await attempt(await waiting({ to: 'ada@example.com' }), answers(bounce), { suppressions: failing });
    expect(report).toMatchObject({ delivery: { state: 'FAILED' } });
    expect(failed).toBe(2);
    const expected = { source: 'hard_bounce', detail: '550 no such <address>' };
    expect(await suppressions.find('shop', 'email', 'ada@example.com')).toMatchObject(expected);
  });

  it('suppresses an address that the provider refuses, in any letter case, on its channel with the reason; the next delivery makes no call', async () => {
    const stopped = providerResult('refused_recipient', '21610', 'has said STOP', { suppress: 'stop' });
    const first = await waiting({ to: 'Ada@Example.com' });
    await attempt(first, answers(stopped));
    expect(await topology.data.suppressions.find('shop', 'email', 'ada@example.com')).toMatchObject({
      source: 'stop',
      deliveryId: first.id,
    });
    const second = await waiting({ to: 'ADA@example.com' }, '2');
    expect(await attempt(second, answers())).toMatchObject({
      kind: 'ended',
      delivery: { state: 'SUPPRESSED', reason: 'suppressed_address' },
    });
    expect(calls).toHaveLength(1);
  });

  it('waits without counting as an attempt if every account is busy, and fails only if no account exists', async () => {
    const delivery = await waiting();
    const until = topology.clock.now() + 30_000;
    expect(await attempt(delivery, null, {}, until)).toMatchObject({
      kind: 'postponed',
      delivery: { nextAt: until, attemptsUsed: 0 },
    });
    expect(await attempt(await now(delivery), null)).toMatchObject({
      kind: 'ended',
      delivery: { state: 'FAILED', reason: 'no_account' },
    });
  });
});

describe('the checks before a delivery attempt', () => {
  it('run in a fixed order, and the first failed check gives the reason', async () => {
    const delivery = await waiting({ variables: {} });
    await suppress('ada@example.com');
    topology.clock.pass(25 * HOUR);
    await topology.publish(notification('order-paid', null));
    expect(await attempt(delivery, answers())).toMatchObject({
      delivery: { state: 'SUPPRESSED', reason: 'rule_withdrawn' },
    });
    expect(calls).toEqual([]);
    expect(released).toEqual([null]);
  });

  it('expire a late delivery', async () => {
    const delivery = await waiting();
    await suppress('ada@example.com');
    topology.clock.pass(24 * HOUR + 1000);
    expect(await attempt(delivery, answers())).toMatchObject({
      delivery: { state: 'EXPIRED', reason: 'not_after_passed' },
    });
  });

  it('prevent the attempt if not_after passes while the message is rendered', async () => {
    const delivery = await waiting();
    const templates: AttemptPorts['templates'] = {
      ...topology.ports.templates,
      async render(...asked) {
        const rendered = await topology.ports.templates.render(...asked);
        topology.clock.pass(25 * HOUR);
        return rendered;
      },
    };
    expect(await attempt(delivery, answers(), { templates })).toEqual({ kind: 'stale' });
    expect(calls).toEqual([]);
    expect(await attempt(await now(delivery), answers())).toMatchObject({ delivery: { state: 'EXPIRED' } });
  });

  it('fail the delivery without a provider call if the message cannot be rendered', async () => {
    await topology.publish(template('strict', { email: { subject: '{{gone}}', text: 'x', strict: true } }));
    const strict = await waiting({ template: 'strict', configNumber: 1 });
    expect(await attempt(strict, answers())).toMatchObject({ delivery: { state: 'FAILED', reason: 'cannot_render' } });
    const gone = await waiting({ template: 'gone' }, '3');
    expect(await attempt(gone, answers())).toMatchObject({ delivery: { state: 'FAILED', reason: 'cannot_render' } });
    expect(calls).toEqual([]);
  });

  it('suppress, without a provider call, a delivery with an invalid address that an earlier release accepted', async () => {
    const taken = await waiting();
    const nobody = { ...taken, version: taken.version + 1, intent: { ...taken.intent, to: 'ada, bob@example.com' } };
    await topology.data.ledger.replace(nobody);
    expect(await attempt(nobody, answers())).toMatchObject({ delivery: { reason: 'invalid_address' } });
    expect(calls).toEqual([]);
  });

  it('apply the suppression list to every spelling of an address, while the message goes to the address as it was looked up', async () => {
    await suppress('a@example.com');
    const spellings = ['a@ｅxample.com', 'a@example。com', 'a@exam\u00adple.com', 'a@example.com.', 'A@EXAMPLE.COM'];
    for (const [index, to] of spellings.entries()) {
      const report = await attempt(await waiting({ to }, `s${index}`), answers());
      expect(report, to).toMatchObject({ delivery: { reason: 'suppressed_address' } });
    }
    expect(calls).toEqual([]);
    await attempt(await waiting({ to: 'B@ＢÜCHER.example.' }, 'c'), answers());
    expect(calls).toEqual(['b@xn--bcher-kva.example']);
  });

  it('render the template version by which the event was evaluated, not the newest', async () => {
    const delivery = await waiting({ variables: { order_id: 'A-1' } });
    await topology.publish(template('order-paid', { email: { ...PAID_MAIL.email, subject: 'New' } }));
    let subject = '';
    const sender: ChannelSender = {
      ...answers(),
      send: async (sent) => ((subject = 'subject' in sent ? sent.subject : ''), providerResult('accepted', '', '')),
    };
    await attempt(delivery, sender);
    expect(subject).toBe('Order A-1 is paid');
  });
});

describe('a delivery attempt while the database does not respond', () => {
  const faulty = (replace: DeliveryLedger['replace']): Pick<AttemptPorts, 'ledger'> => ({
    ledger: { ...topology.data.ledger, replace },
  });

  it('retries until it knows whether the delivery was set to SENDING, so that the delivery is never in doubt without a provider call', async () => {
    const { ledger } = topology.data;
    const delivery = await waiting();
    let away = 0;
    const report = await attempt(delivery, answers(), {
      ledger: {
        ...ledger,
        async replace(next) {
          const wrote = await ledger.replace(next);
          if (next.state !== 'SENDING') return wrote;
          away = 3;
          throw new Error('no answer');
        },
        async get(id) {
          away -= 1;
          if (away >= 0) throw new Error('no answer');
          return ledger.get(id);
        },
      },
    });
    expect(report.kind).toBe('called');
    expect(calls).toHaveLength(1);
    expect((await ledger.get(delivery.id))?.state).toBe('SENT');
  });

  it('makes one provider call after a lost response, because the write to SENDING has its own token', async () => {
    const delivery = await waiting();
    let lost = false;
    const losing = faulty(async (next) => {
      const wrote = await topology.data.ledger.replace(next);
      if (next.state !== 'SENDING' || lost) return wrote;
      lost = true;
      throw new Error('no answer');
    });
    expect(await attempt(delivery, answers(), losing)).toMatchObject({ kind: 'called' });
    expect(calls).toHaveLength(1);
    expect((await now(delivery)).attempts).toHaveLength(1);
  });

  it('makes one provider call if the driver repeats the write, because the write has its own token', async () => {
    const delivery = await waiting();
    const repeating = faulty(async (next) => {
      await topology.data.ledger.replace(next);
      return topology.data.ledger.replace(next);
    });
    expect(await attempt(delivery, answers(), repeating)).toMatchObject({
      kind: 'called',
      delivery: { state: 'SENT' },
    });
    expect(calls).toHaveLength(1);
    expect((await now(delivery)).history.map(({ state }) => state)).toEqual(['WAITING', 'SENDING', 'SENT']);
  });

  it('makes no provider call if the write to SENDING failed, and leaves the delivery to be found again', async () => {
    const delivery = await waiting();
    expect(
      await attempt(
        delivery,
        answers(),
        faulty(() => Promise.reject(new Error('away'))),
      ),
    ).toEqual({ kind: 'stale' });
    expect(calls).toEqual([]);
    expect(await now(delivery)).toEqual(delivery);
  });

  it('stores the provider’s answer once when the database is back', async () => {
    const delivery = await waiting();
    let away = 3;
    const back = faulty(async (next) => {
      if (next.state === 'SENT' && away > 0) {
        away -= 1;
        if (away > 0) throw new Error('away');
        await topology.data.ledger.replace(next);
        throw new Error('written, no answer');
      }
      return topology.data.ledger.replace(next);
    });
    expect(await attempt(delivery, answers(), back)).toMatchObject({ kind: 'called', delivery: { state: 'SENT' } });
    expect((await now(delivery)).history.map(({ state }) => state)).toEqual(['WAITING', 'SENDING', 'SENT']);
    expect(calls).toHaveLength(1);
  });
});

describe('the sweeper (looks for deliveries whose worker died)', () => {
  it('puts a delivery in doubt whose lease has expired, and ignores one whose lease is held', async () => {
    const [first, second] = [await waiting(), await waiting({}, '2')];
    const { promise: answer, resolve: release } = Promise.withResolvers<ProviderResult>();
    const hanging = senderOf(() => answer);
    const never = ports({ pause: () => new Promise(() => undefined) });
    const hold = { choice: sandboxOf('email'), sender: hanging, release: () => undefined };
    const running = [first, second].map((one) =>
      attemptAndPublish(one, hold, { retryAt: null, anotherAccount: false }, never),
    );
    while (calls.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await sweep(topology.ports, topology.clock.now())).toMatchObject({ doubted: 0 });
    topology.clock.pass(31_000);
    expect(await sweep(topology.ports, topology.clock.now())).toMatchObject({ doubted: 2 });
    expect(await now(first)).toMatchObject({ state: 'IN_DOUBT', reason: 'lease_ran_out' });
    release(providerResult('accepted', '', ''));
    await Promise.all(running);
    expect(await now(first)).toMatchObject({ state: 'SENT', clean: false });
    expect(calls).toHaveLength(2);
  });

  it('never puts a delivery in doubt whose worker is alive and renews its lease', async () => {
    const delivery = await waiting();
    let renewals = 0;
    const pausing = async () => {
      renewals += 1;
      topology.clock.pass(10_000);
      await sweep(topology.ports, topology.clock.now());
    };
    const slow = senderOf(async () => {
      while (renewals < 8) await new Promise((resolve) => setTimeout(resolve, 2));
      return providerResult('accepted', '', '');
    });
    await attempt(delivery, slow, { pause: pausing });
    const { history, clean } = await now(delivery);
    expect(history.map(({ state }) => state)).toEqual(['WAITING', 'SENDING', 'SENT']);
    expect(clean).toBe(true);
  });
});
