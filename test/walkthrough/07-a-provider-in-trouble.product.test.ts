import { startScriptedSmtp, type ScriptedSmtp } from '@carillon/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chapter } from './places.ts';
import { ORDER, ORDER_PAID, startCarillon, type Carillon } from './support.ts';

/*
 * 7. A provider in trouble
 *
 * Mail servers are busy, go away in the middle of a sentence, or refuse an address. Carillon knows three answers apart:
 * "certainly not taken, try again", "certainly refused", and "nobody can say". The third is the one that matters: then a
 * message is IN_DOUBT, and a person decides, because sending it again may mean that it arrives twice.
 */

chapter('7. A provider in trouble', (newHome) => {
  let carillon: Carillon;
  let smtp: ScriptedSmtp;
  beforeAll(async () => {
    smtp = await startScriptedSmtp();
    carillon = await startCarillon(await newHome());
    await carillon.sendThrough(smtp.port);
    await carillon.edit(ORDER_PAID, 'first: 30s, max: 4h', 'first: 1s, max: 1s');
    await carillon.apply();
  });
  afterAll(async () => {
    await carillon.leave();
    await smtp.stop();
  });

  it('proves an account without sending anything: it connects, says hello and signs in', async () => {
    const { code, out } = await carillon.command(['account', 'check', 'default']);
    expect(code, out).toBe(0);
    expect(smtp.accepted).toEqual([]);
  });

  it('tries again by itself what the server certainly did not take', async () => {
    let refusals = 0;
    smtp.follow(({ stage }) => (stage === 'rcpt' && refusals++ === 0 ? '451 4.3.0 try again later' : undefined));
    const id = await carillon.send(ORDER);
    const sent = await carillon.delivery(id, 'SENT');
    expect(sent.attempts).toHaveLength(2);
    expect(smtp.accepted).toHaveLength(1);
    expect(await carillon.trace(id)).toContain('451');
  });

  /** The server takes the message and is gone before it says so: the case in which nobody can know. */
  const sayNothingAfterTheDot = (): void =>
    smtp.follow(({ stage }) => (stage === 'dot' ? { ending: 'drop' } : undefined));

  it('holds a message IN_DOUBT when the connection broke after it was handed over, and does not send it again', async () => {
    sayNothingAfterTheDot();
    const before = smtp.accepted.length;
    const doubted = await carillon.delivery(await carillon.send(ORDER), 'IN_DOUBT');
    expect(smtp.accepted).toHaveLength(before + 1);
    // This is what an operator sees in the morning. doctor points at it, too.
    expect((await carillon.command(['deliveries', '--state', 'IN_DOUBT'])).out).toContain(doubted.id);

    // You look into the mail server's log for the time of the attempt. It is there: the message was taken.
    const { out } = await carillon.command([
      'deliveries',
      'dismiss',
      doubted.id,
      '--as',
      'sent',
      '--reason',
      'in the log of the mail server',
    ]);
    expect(out).toContain('dismissed: SENT (operator_dismiss)');
    expect((await carillon.command(['trace', doubted.id])).out).toContain('in the log of the mail server');
    expect(smtp.accepted).toHaveLength(before + 1);
  });

  it('sends a doubtful message again when you say so, knowing that it may arrive twice', async () => {
    sayNothingAfterTheDot();
    const id = await carillon.send(ORDER);
    const doubted = await carillon.delivery(id, 'IN_DOUBT');
    smtp.follow(() => undefined);
    const { out } = await carillon.command(['deliveries', 'resend', doubted.id]);
    expect(out).toContain('will be sent again: WAITING (operator_resend)');
    await carillon.delivery(id, 'SENT');
  });

  it('sends nothing more to an address that does not exist, until you allow it again', async () => {
    smtp.follow(({ stage }) => (stage === 'rcpt' ? '550 5.1.1 no such user' : undefined));
    const refused = await carillon.delivery(await carillon.send(ORDER), 'FAILED');
    expect(refused.reason).toBe('refused_recipient');
    await expect
      .poll(async () => (await carillon.command(['suppressions', 'list'])).out, { timeout: 60_000 })
      .toContain('ada@example.com');
    smtp.follow(() => undefined);
    const next = await carillon.delivery(await carillon.send(ORDER), 'SUPPRESSED');
    expect(next.reason).toBe('suppressed_address');

    // Remove it, and messages go there again.
    await carillon.command(['suppressions', 'remove', 'ada@example.com']);
    await carillon.delivery(await carillon.send(ORDER), 'SENT');
  });

  it('takes back a message that still waits', async () => {
    smtp.follow(({ stage }) => (stage === 'rcpt' ? '450 4.7.1 greylisted, come back in five minutes' : undefined));
    // It waits for hours, so that there is time to make up your mind.
    await carillon.edit(ORDER_PAID, 'first: 1s, max: 1s', 'first: 4h, max: 4h');
    await carillon.apply();
    const id = await carillon.send(ORDER);
    await expect
      .poll(async () => (await carillon.delivery(id, 'WAITING')).reason, { timeout: 60_000 })
      .toBe('throttled');
    const waiting = await carillon.delivery(id, 'WAITING');
    const { out } = await carillon.command(['deliveries', 'cancel', waiting.id]);
    expect(out).toContain('called off: CANCELLED (operator_cancel)');
  });
});
