import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { beginAttempt, openDelivery } from '@carillon/domain/deliveries';
import type { AttemptId } from '@carillon/kernel';
import { deliveryIdOf } from '@carillon/stages';
import { givenIntent, HOUR, ORDER_PAID } from '@carillon/testing/given';
import { untilFound } from '@carillon/testing/topology';
import { startDelivery } from '../src/index.ts';
import { RoleUnderTest } from './delivery-role.ts';

let under: RoleUnderTest;
beforeEach(async () => {
  under = await RoleUnderTest.open();
});
afterEach(() => under.close());

const heard = (what: string) => untilFound(what, () => under.mail.heard.find(({ stage }) => stage === what));

describe('stopping', () => {
  it('returns deliveries not yet begun; the next start sends them once, over the same account', async () => {
    await under.shop();
    under.mail.follow(({ stage }) => (stage === 'rcpt' ? { ending: 'hang' } : undefined));
    await under.start();
    await under.paid('A-1');
    await heard('rcpt');
    await under.stop();
    const [stopped] = await under.deliveries();
    expect(stopped).toMatchObject({
      state: 'WAITING',
      attemptsUsed: 0,
      tried: [],
      clean: true,
      reason: 'stopped_before_sending',
    });
    under.mail.follow(() => undefined);
    await under.topology.restart();
    expect((await under.start()).recovered).toEqual({ resumed: 1, inDoubt: 0 });
    const sent = await under.reaches('SENT');
    expect(sent.history.map(({ reason }) => reason)).not.toContain('account_unavailable');
    expect(under.mail.accepted).toHaveLength(1);
  });

  it('waits for a call whose body has begun, and stores its result', async () => {
    await under.shop();
    under.mail.follow(({ stage }) =>
      stage === 'dot' ? { say: '250 2.0.0 Ok: queued as LATE', after: 500 } : undefined,
    );
    await under.start();
    await under.paid('A-1');
    await untilFound('the message at the server', () => under.mail.accepted[0]);
    await under.stop();
    expect(await under.deliveries()).toMatchObject([{ state: 'SENT', unpublished: [] }]);
  });

  it('ends in time while the log refuses appends, and every open call is in doubt', async () => {
    const own = await RoleUnderTest.open({ smtpSilence: 600_000 });
    try {
      await own.shop({}, 'shop', 2);
      own.mail.follow(({ stage }) => (stage === 'dot' ? { ending: 'hang' } : undefined));
      await own.topology.evaluates();
      const { log } = own.ports;
      let away = false;
      const role = await startDelivery(
        { aloneOnStore: true },
        {
          ...own.ports,
          log: { ...log, append: (records) => (away ? new Promise(() => undefined) : log.append(records)) },
        },
      );
      await own.paid('A-1');
      await own.paid('A-2');
      const dots = () => own.mail.heard.filter(({ stage }) => stage === 'dot').length;
      await untilFound('two calls under way', () => dots() === 2 || undefined);
      away = true;
      // The server would be waited for for ten minutes, and the log for ever.
      await role.close();
      expect((await own.deliveries()).map(({ state }) => state)).toEqual(['IN_DOUBT', 'IN_DOUBT']);
    } finally {
      await own.close();
    }
  });

  it('begins nothing more', async () => {
    await under.shop();
    await under.start();
    await under.stop();
    await under.paid('A-1');
    // The intent is on the log, where a role that still ran would find it: the next one to start is the first that does.
    await untilFound('the intent on the log', async () => (await under.topology.records('carillon.intents'))[0]);
    expect(await under.deliveries()).toEqual([]);
    expect(under.mail.accepted).toEqual([]);
    await under.topology.restart();
    await under.start();
    await under.reaches('SENT', 'A-1');
    expect(under.mail.accepted).toHaveLength(1);
  });
});

describe('starting', () => {
  it('after a crash in the midst of a call shows the doubt, and sends nothing', async () => {
    const [rule] = Object.values(ORDER_PAID.rules);
    if (!rule) throw new Error('there is a rule');
    await under.shop({ id: 'ntf_paid', rules: { paid: { ...rule, id: 'rul_paid' } } });
    const { ids, clock, data } = under.topology;
    const moment = { now: clock.now(), derive: ids.derive };
    const intent = givenIntent('dead', { causedAt: moment.now, notAfter: moment.now + HOUR });
    const waiting = openDelivery(intent, 'carillon.intents/0@0', deliveryIdOf(intent, ids), moment);
    await data.ledger.insert([waiting]);
    const start = {
      attemptId: 'att_1' as AttemptId,
      token: 't1',
      account: 'shop/main',
      leaseUntil: moment.now + 30_000,
    };
    const sending = beginAttempt(waiting, start, moment);
    if (!sending) throw new Error('it begins');
    await data.ledger.replace(sending);
    await under.topology.restart();
    expect((await under.start()).recovered).toEqual({ resumed: 0, inDoubt: 1 });
    await under.paid('A-2');
    await under.reaches('SENT', 'A-2');
    expect(await under.reaches('IN_DOUBT')).toMatchObject({ reason: 'lease_ran_out', clean: false });
    expect(under.mail.accepted).toHaveLength(1);
  });

  it('sends messages left waiting and messages that arrived meanwhile, each once', async () => {
    await under.shop();
    under.mail.follow(({ stage }) => (stage === 'rcpt' ? '451 4.3.0 try again later' : undefined));
    await under.start();
    await under.paid('A-1');
    await untilFound('a refusal', async () => (await under.deliveries()).find(({ reason }) => reason === 'transient'));
    await under.stop();
    await under.topology.restart();
    await under.paid('A-2');
    under.mail.follow(() => undefined);
    await under.start();
    under.topology.clock.pass(60_000);
    await under.reaches('SENT', 'A-1');
    await under.reaches('SENT', 'A-2');
    const told = under.mail.accepted.flatMap(({ to }) => to);
    expect(told).toHaveLength(2);
    expect(new Set(told)).toEqual(new Set(['a-1@example.com', 'a-2@example.com']));
  });
});
