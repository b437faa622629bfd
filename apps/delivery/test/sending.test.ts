import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCustodyStage } from '@carillon/stages';
import { account } from '@carillon/testing/given';
import { startScriptedSmtp, untilFound } from '@carillon/testing/topology';
import { startSending } from '../src/start.ts';
import { startDelivery } from '../src/index.ts';
import { FIRST_PAUSE, QUICK, RoleUnderTest } from './delivery-role.ts';

let under: RoleUnderTest;
beforeEach(async () => {
  under = await RoleUnderTest.open();
});
afterEach(() => under.close());

const pathOf = (delivery: { history: readonly { state: string; reason: string }[] }) =>
  delivery.history.map(({ state, reason }) => `${state} ${reason}`);

describe('a message', () => {
  it('goes from event to mail server once, and its outcome to the log', async () => {
    await under.shop();
    await under.start();
    const event = await under.paid('A-1');
    const sent = await under.reaches('SENT');
    expect(sent.intent.eventId).toBe(event);
    expect(under.mail.accepted).toMatchObject([{ to: ['a-1@example.com'] }]);
    expect(under.mail.accepted[0]?.raw).toContain('Subject: Order A-1 is paid');
    const outcome = await untilFound('the outcome', async () => (await under.topology.records('carillon.outcomes'))[0]);
    expect(under.topology.ports.codecs.outcome.decode(outcome.value)).toMatchObject({
      value: { state: 'SENT', deliveryId: sent.id },
    });
    expect(under.troubles).toEqual([]);
  });

  it('holds up no connection while its outcome waits for the log', async () => {
    await under.shop();
    const { log } = under.topology.ports;
    let open = (): void => undefined;
    const opened = new Promise<void>((resolve) => (open = resolve));
    const append: typeof log.append = async (records) => {
      if (records.some(({ topic }) => topic === 'carillon.outcomes')) await opened;
      return log.append(records);
    };
    const role = await startDelivery({ aloneOnStore: true }, { ...under.ports, log: { ...log, append } });
    await under.topology.evaluates();
    await under.paid('A-1');
    await under.paid('A-2');
    await under.reaches('SENT', 'A-1');
    await under.reaches('SENT', 'A-2');
    expect(await under.topology.records('carillon.outcomes')).toEqual([]);
    open();
    await untilFound('both outcomes', async () => (await under.topology.records('carillon.outcomes'))[1]);
    await role.close();
  });

  it('without a provider goes to the sandbox', async () => {
    await under.shop({ channels: { email: { template: 'order-paid' } } });
    await under.start();
    await under.paid('A-1');
    const sent = await under.reaches('SENT');
    expect((await under.topology.data.inbox.list({}, 5)).items).toMatchObject([
      { deliveryId: sent.id, message: { channel: 'email', subject: 'Order A-1 is paid' } },
    ]);
    expect(under.mail.accepted).toEqual([]);
  });

  it('that is refused for now is tried again after a while and then sent once', async () => {
    await under.shop({ retry: { attempts: 4 } });
    let refusals = 1;
    under.mail.follow(({ stage }) =>
      stage === 'rcpt' && (refusals -= 1) >= 0 ? '451 4.3.0 try again later' : undefined,
    );
    await under.start();
    await under.paid('A-1');
    const refused = await untilFound('a refusal', async () =>
      (await under.deliveries()).find(({ attempts }) => attempts[0]?.result),
    );
    expect(refused).toMatchObject({ state: 'WAITING', attemptsUsed: 1, clean: true });
    expect(under.mail.accepted).toEqual([]);
    under.topology.clock.pass(FIRST_PAUSE + 1000);
    const sent = await under.reaches('SENT');
    expect(sent.attempts.map(({ result }) => result?.verdict)).toEqual(['transient', 'accepted']);
    expect(under.mail.accepted).toHaveLength(1);
  });

  it('without an answer from the server is in doubt and never sent again', async () => {
    await under.shop(QUICK);
    under.mail.follow(({ stage }) => (stage === 'dot' ? { ending: 'drop' } : undefined));
    await under.start();
    await under.paid('A-1');
    const doubt = await under.reaches('IN_DOUBT');
    expect(doubt).toMatchObject({ reason: 'answer_unknown', clean: false });
    under.mail.follow(() => undefined);
    under.topology.clock.pass(3_600_000);
    await under.paid('A-2');
    await under.reaches('SENT', 'A-2');
    const again = await under.paid('A-1');
    await untilFound('the duplicate', async () => {
      const found = (await under.deliveries()).find(
        ({ slot, duplicates }) => slot.uniqueId === 'A-1' && duplicates === 1,
      );
      return found && again ? found : undefined;
    });
    expect((await under.deliveries()).map(({ slot, state }) => `${slot.uniqueId} ${state}`).toSorted()).toEqual([
      'A-1 IN_DOUBT',
      'A-2 SENT',
    ]);
    expect(under.mail.accepted.filter(({ to }) => to[0] === 'a-1@example.com')).toHaveLength(1);
  });

  it('to an address that bounced is not sent, by this notification or another', async () => {
    await under.shop();
    under.mail.follow(({ stage }) => (stage === 'rcpt' ? '550 5.1.1 no such user' : undefined));
    await under.start();
    await under.paid('A-1');
    expect(await under.reaches('FAILED')).toMatchObject({ reason: 'refused_recipient' });
    await untilFound(
      'the address on the list',
      async () => (await under.topology.data.suppressions.find('shop', 'email', 'a-1@example.com')) ?? undefined,
    );
    const body = { status: 'paid', order_id: 'B-1', customer: { email: 'A-1@EXAMPLE.com' } };
    await under.topology.event(body);
    expect(await under.reaches('SUPPRESSED', 'B-1')).toMatchObject({ reason: 'suppressed_address' });
    expect(under.mail.heard.filter(({ stage }) => stage === 'rcpt')).toHaveLength(1);
  });

  it('of a notification that was switched off while it waited is suppressed', async () => {
    await under.shop();
    under.mail.follow(({ stage }) => (stage === 'rcpt' ? '451 4.3.0 try again later' : undefined));
    await under.start();
    await under.paid('A-1');
    await untilFound('a refusal', async () => (await under.deliveries()).find(({ reason }) => reason === 'transient'));
    await under.change({ enabled: false });
    under.mail.follow(() => undefined);
    under.topology.clock.pass(FIRST_PAUSE + 1000);
    const ended = await under.reaches('SUPPRESSED');
    expect(pathOf(ended)).toEqual(['WAITING new', 'SENDING new', 'WAITING transient', 'SUPPRESSED rule_withdrawn']);
    expect(under.mail.accepted).toEqual([]);
  });

  it('is suppressed soon after the switch, although its next attempt is hours away', async () => {
    await under.shop({ retry: { attempts: 4, first: '4h', max: '4h' } });
    under.mail.follow(({ stage }) => (stage === 'rcpt' ? '451 4.3.0 try again later' : undefined));
    await under.start();
    await under.paid('A-1');
    await untilFound('a refusal', async () => (await under.deliveries()).find(({ reason }) => reason === 'transient'));
    await under.change({ enabled: false });
    expect(await under.reaches('SUPPRESSED')).toMatchObject({ reason: 'rule_withdrawn' });
    expect(under.mail.heard.filter(({ stage }) => stage === 'rcpt')).toHaveLength(1);
  });

  it('that became useless while it waited expires', async () => {
    await under.shop({ expires: '1h' });
    under.mail.follow(({ stage }) => (stage === 'rcpt' ? '451 4.3.0 try again later' : undefined));
    await under.start();
    await under.paid('A-1');
    await untilFound('a refusal', async () => (await under.deliveries()).find(({ reason }) => reason === 'transient'));
    under.mail.follow(() => undefined);
    under.topology.clock.pass(3_700_000);
    await under.reaches('EXPIRED');
    expect(under.mail.accepted).toEqual([]);
  });
});

describe('an account that fails', () => {
  it('is paused after ten failed calls; waiting messages use no attempt, and are sent when it works again', async () => {
    // More attempts than bad calls, however they fall on the messages.
    await under.shop({ retry: { attempts: 12, first: '1s', max: '1s' } });
    under.mail.follow(({ stage }) => (stage === 'greeting' ? '421 4.3.2 not now' : undefined));
    for (let order = 0; order < 16; order += 1) await under.paid(`A-${order}`);
    await under.start();
    await untilFound('an open breaker', async () =>
      (await under.deliveries()).find(({ reason }) => reason === 'account_unavailable'),
    );
    await untilFound('all of them wait', async () => {
      const all = await under.deliveries();
      return all.length === 16 && all.every(({ reason }) => reason === 'account_unavailable') ? all : undefined;
    });
    const calls = under.mail.connections();
    const used = (await under.deliveries()).reduce((sum, { attemptsUsed }) => sum + attemptsUsed, 0);
    // Who watches is told a moment after the ledger.
    const bad = () => under.attempts.filter(({ verdict }) => verdict === 'transient' || verdict === 'throttled').length;
    await expect.poll(bad).toBe(used);
    under.topology.clock.pass(2_000);
    await under.looks();
    expect(under.mail.connections()).toBe(calls);
    under.mail.follow(() => undefined);
    under.topology.clock.pass(35_000);
    await untilFound('all of them sent', async () => {
      const all = await under.deliveries();
      return all.every(({ state }) => state === 'SENT') ? all : undefined;
    });
    expect(under.mail.accepted).toHaveLength(16);
  });
});

describe('a second account', () => {
  it('takes over at once if the first account fails, but never if the first may have accepted the message', async () => {
    const backup = await startScriptedSmtp();
    const reached = {
      kind: 'smtp',
      host: backup.host,
      port: backup.port,
      tls: 'none',
      from: 'shop@example.com',
    } as const;
    await under.topology.publish(account('backup', reached));
    await under.shop({ channels: { email: { template: 'order-paid', accounts: ['main', 'backup'] } } });
    under.mail.follow(({ stage }) => (stage === 'greeting' ? '421 4.3.2 not now' : undefined));
    await under.start();
    await under.paid('A-1');
    expect((await under.reaches('SENT')).attempts.map((one) => one.account)).toEqual(['shop/main', 'shop/backup']);
    under.mail.follow(({ stage }) => (stage === 'dot' ? { ending: 'drop' } : undefined));
    await under.paid('A-2');
    expect(await under.reaches('IN_DOUBT')).toMatchObject({ attempts: [{ account: 'shop/main' }] });
    expect(backup.accepted.map(({ to }) => to[0])).toEqual(['a-1@example.com']);
    await under.stop();
    await backup.stop();
  });
});

describe('two workspaces over one account', () => {
  it('share capacity: one delivery of a workspace does not wait for 200 of the other', async () => {
    const sandbox = { channels: { email: { template: 'order-paid' } } };
    await under.shop(sandbox, 'busy');
    await under.shop(sandbox, 'calm');
    for (let order = 0; order < 200; order += 1) await under.paid(`A-${order}`, 'busy');
    await under.paid('only', 'calm');
    await under.topology.evaluates();
    const intents = await untilFound('all intents', async () => {
      const records = await under.topology.records('carillon.intents');
      return records.length === 201 ? records : undefined;
    });
    const custody = createCustodyStage({ ...under.topology.ports, due: () => undefined });
    await custody.handle(intents, { partition: 0, configNumber: -1, watermark: 0 });
    await under.start();
    await untilFound('all of them sent', async () => {
      const all = await under.deliveries();
      return all.length === 201 && all.every(({ state }) => state === 'SENT') ? all : undefined;
    });
    const begun = (await under.deliveries()).map((one) => ({ one, at: one.attempts[0]?.startedAt ?? 0 }));
    const calm = begun.find(({ one }) => one.slot.workspace === 'calm');
    const before = begun.filter(({ at }) => at < (calm?.at ?? 0));
    // The sandbox takes sixteen at a time: it is among the first of them.
    expect(before.length).toBeLessThanOrEqual(16);
  });
});

describe('two processes over one ledger', () => {
  it('start with different deliveries, so that few are attempted twice', async () => {
    await under.close();
    under = await RoleUnderTest.open({ partitions: 4 });
    await under.shop();
    // Stands still, so that nothing waits for so long that the other one helps out, however slow the machine is.
    under.topology.clock.standStill();
    // Slow enough for a backlog: the ledger is read again and again while it is worked off.
    under.mail.follow(({ stage }) => (stage === 'dot' ? { say: '250 2.0.0 Ok', after: 60 } : undefined));
    await under.start();
    const other = await under.another();
    for (let order = 0; order < 100; order += 1) await under.paid(`A-${order}`);
    await untilFound('all of them sent', async () => {
      const all = await under.deliveries();
      return all.length === 100 && all.every(({ state }) => state === 'SENT') ? all : undefined;
    });
    await other.close();
    // Who watches is told a moment after the ledger.
    await under.stop();
    const verdicts = under.attempts.map(({ verdict }) => verdict);
    expect(verdicts.filter((verdict) => verdict === 'accepted')).toHaveLength(100);
    expect(verdicts.filter((verdict) => verdict === 'stale').length).toBeLessThan(20);
    expect(under.mail.accepted).toHaveLength(100);
  });

  it('take over a delivery of the other process if it has waited for long', async () => {
    await under.shop(QUICK);
    under.mail.follow(({ stage }) => (stage === 'rcpt' ? '451 4.3.0 later' : undefined));
    await under.start();
    await under.paid('A-1');
    await untilFound('a refusal', async () => (await under.deliveries()).find(({ attempts }) => attempts[0]?.result));
    await under.stop();
    under.mail.follow(() => undefined);
    under.topology.clock.pass(60_000);
    const nothing = { hasDelivery: () => false, hasDigestHead: () => false, fraction: () => 1, mayBegin: () => true };
    const stopping = new AbortController();
    const sending = startSending(under.ports, nothing, stopping.signal);
    await under.reaches('SENT');
    stopping.abort();
    await sending.stop(under.topology.clock.now());
    expect(under.mail.accepted).toHaveLength(1);
  });
});
