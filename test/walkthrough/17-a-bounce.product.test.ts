import { bringMail, startScriptedSmtp, statusReport, type ScriptedSmtp } from '@carillon/testing';
import { freePorts } from '@carillon/testing/services';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chapter } from './places.ts';
import { DEPLOYMENT, ORDER, startCarillon, type Carillon } from './support.ts';

/*
 * 17. A bounce
 *
 * SENT means that a mail server took the message. It may find out minutes later that the mailbox does not exist. It says so
 * by mail, to the envelope sender: where that is an address of Carillon's, the delivery moves, and nobody writes to a dead
 * mailbox again.
 */

chapter('17. A bounce', (newHome) => {
  let carillon: Carillon;
  let smtp: ScriptedSmtp;
  let lmtp = 0;
  beforeAll(async () => {
    smtp = await startScriptedSmtp();
    [lmtp = 0] = await freePorts(1);
    // Your mail server hands what comes for bounces.shop.example.com to this address by LMTP.
    carillon = await startCarillon(await newHome(), [], { CARILLON_BOUNCES_LISTEN: `127.0.0.1:${lmtp}` });
    await carillon.sendThrough(smtp.port);
    await carillon.edit(DEPLOYMENT, ', tls: none', ', tls: none, return_path: bounces.shop.example.com');
    await carillon.apply();
  });
  afterAll(async () => {
    await carillon.leave();
    await smtp.stop();
  });

  /** As a mailbox provider sends it, when a reader says that it is spam (RFC 5965). */
  const complaint = [
    'Content-Type: multipart/report; report-type=feedback-report; boundary="B"',
    '',
    '--B',
    'Content-Type: message/feedback-report',
    '',
    'Feedback-Type: abuse',
    'User-Agent: SomeProvider/1.0',
    'Version: 1',
    '--B--',
  ];
  let first = '';
  let envelope = '';

  it('gives each message its own envelope sender, invisible to the reader', async () => {
    first = await carillon.send(ORDER);
    await carillon.delivery(first, 'SENT');
    const [mail] = smtp.accepted;
    envelope = mail?.from ?? '';
    expect(envelope).toMatch(/^[0-9a-z]{26}-1-[0-9a-z]{10}@bounces\.shop\.example\.com$/);
    expect(mail?.raw).toMatch(/^From: .*shop@example\.com/m);
    expect(mail?.raw).not.toContain('bounces.shop.example.com');
  });

  it('takes nothing that is for anybody else', async () => {
    const report = statusReport('ada@example.com', '5.1.1', '550 5.1.1 no such user');
    expect(await bringMail(lmtp, 'postmaster@bounces.shop.example.com', report)).toMatch(/^550/);
    const guessed = envelope.replace(/.@/, (end) => (end === '0@' ? '1@' : '0@'));
    expect(await bringMail(lmtp, guessed, report)).toMatch(/^550/);
  });

  it('takes an absence note, and lets the delivery be', async () => {
    expect(await bringMail(lmtp, envelope, ['Subject: I am away', '', 'until Monday'])).toMatch(/^250/);
    await carillon.delivery(first, 'SENT');
  });

  it('moves the delivery by a report, and says in its story what the mail server said', async () => {
    const report = statusReport('ada@example.com', '5.1.1', '550 5.1.1 no such user');
    expect(await bringMail(lmtp, envelope, report)).toMatch(/^250/);
    await carillon.delivery(first, 'BOUNCED');
    expect(await carillon.trace(first)).toContain('550 5.1.1 no such user');
  });

  it('sends nothing more to that address, and shows why', async () => {
    const before = smtp.accepted.length;
    const next = await carillon.send({ ...ORDER, order_id: 'A-1002' });
    await carillon.delivery(next, 'SUPPRESSED');
    expect(smtp.accepted).toHaveLength(before);
    expect((await carillon.command(['suppressions', 'list'])).out).toContain('hard_bounce');
  });

  it('never takes back what was reported: a late "delivered" moves nothing, and a complaint does', async () => {
    const late = statusReport('ada@example.com', '2.0.0', '250 ok').map((line) => line.replace('failed', 'delivered'));
    expect(await bringMail(lmtp, envelope, late)).toMatch(/^250/);
    expect(await bringMail(lmtp, envelope, complaint)).toMatch(/^250/);
    // Reports of one delivery are applied in their order: once the second has moved it, the first has been looked at.
    await carillon.delivery(first, 'COMPLAINED');
    expect(await carillon.trace(first)).not.toContain('DELIVERED');
  });

  it('allows the address again on command, and lists the remaining entries about it', async () => {
    const remove = ['suppressions', 'remove', 'ada@example.com'];
    const bounced = await carillon.command([...remove, '--source', 'hard_bounce']);
    expect(bounced.out).toMatch(/^ada@example\.com still gets nothing: complaint, /);
    expect((await carillon.command(['suppressions', 'list', '--address', 'Ada@Example.com'])).out).not.toContain(
      'hard_bounce',
    );
    expect((await carillon.command(remove)).out).toContain('ada@example.com may be sent to again');
    const before = smtp.accepted.length;
    await carillon.delivery(await carillon.send({ ...ORDER, order_id: 'A-1003' }), 'SENT');
    expect(smtp.accepted).toHaveLength(before + 1);
  });
});
