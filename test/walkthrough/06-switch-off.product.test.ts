import { startScriptedSmtp, type ScriptedSmtp } from '@carillon/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chapter } from './places.ts';
import { ORDER, ORDER_PAID, startCarillon, type Carillon } from './support.ts';

/*
 * 6. Switch it off
 *
 * Something goes out that should not. `enabled: false` on a notification, or on one of its rules, stops it: later events
 * do not fire, and what already waits is not sent any more. Nothing is deleted, and who was told stays known.
 */

chapter('6. Switch it off', (newHome) => {
  let carillon: Carillon;
  let smtp: ScriptedSmtp;
  beforeAll(async () => {
    // A mail server that has no time for anybody, so that messages wait to be tried again.
    smtp = await startScriptedSmtp({
      script: ({ stage }) => (stage === 'rcpt' ? '451 4.3.0 try again later' : undefined),
    });
    carillon = await startCarillon(await newHome());
    await carillon.sendThrough(smtp.port);
    // So often that it still waits when somebody gets round to it.
    await carillon.edit(ORDER_PAID, 'attempts: 8, first: 30s, max: 4h', 'attempts: 100, first: 5s, max: 5s');
    await carillon.apply();
  });
  afterAll(async () => {
    await carillon.leave();
    await smtp.stop();
  });

  let waiting = '';

  it('keeps a message WAITING that the mail server refuses for now, with the reply of the server', async () => {
    waiting = await carillon.send(ORDER);
    await carillon.delivery(waiting, 'WAITING');
    await expect
      .poll(async () => (await carillon.delivery(waiting, 'WAITING')).reason, { timeout: 60_000 })
      .toBe('transient');
  });

  it('stops the notification by one line in its file', async () => {
    await carillon.edit(ORDER_PAID, 'name: Order paid', 'name: Order paid\nenabled: false');
    expect(await carillon.apply()).toContain('applied as configuration');
  });

  it('ends waiting messages as SUPPRESSED, with the withdrawn rule as reason', async () => {
    const ended = await carillon.delivery(waiting, 'SUPPRESSED');
    expect(ended.reason).toBe('rule_withdrawn');
    expect(await carillon.trace(waiting)).toMatch(
      /SUPPRESSED \(rule_withdrawn\) notification order-paid is switched off/,
    );
    expect(smtp.accepted).toEqual([]);
  });

  it('does not fire for later events, and their story says why', async () => {
    const story = await carillon.trace(await carillon.send(ORDER));
    expect(story).toMatch(/rule +.*switched off/);
    expect(story).not.toContain('trigger');
  });

  it('goes on from the next event when it is switched on again; what ended stays ended', async () => {
    smtp.follow(() => undefined);
    await carillon.edit(ORDER_PAID, 'enabled: false', 'enabled: true');
    await carillon.apply();
    const next = await carillon.send(ORDER);
    await carillon.delivery(next, 'SENT');
    expect(smtp.accepted).toHaveLength(1);
  });
});
