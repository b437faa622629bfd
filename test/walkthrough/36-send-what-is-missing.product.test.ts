import type { RunMissingBody } from '@carillon/contracts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chapter } from './places.ts';
import { ORDER, ORDER_PAID, startCarillon, type Carillon } from './support.ts';

/*
 * 36. Send what is missing
 *
 * After a changed rule is published, Carillon sends the messages that the rule adds for past events: first a look, then exactly what was seen.
 * docs/send-missing-messages.md has the words.
 */

chapter('36. Send what is missing', (newHome) => {
  let carillon: Carillon;
  let late = '';
  let run = '';
  let send: readonly string[] = [];
  beforeAll(async () => {
    carillon = await startCarillon(await newHome());
    late = await carillon.send({ ...ORDER, order_id: 'A-1002', total: 90 });
    await carillon.trace(late);
    await carillon.edit(ORDER_PAID, 'event.total > 100', 'event.total > 80');
  });
  afterAll(async () => {
    await carillon.leave();
  });

  it('is refused until the edit is published', async () => {
    const { out } = await carillon.command(['replay', 'diff', '-f', 'carillon-demo']);
    run = /replay rows (run_\w+)/.exec(out)?.[1] ?? '';
    const { code, err } = await carillon.command(['replay', 'missing', run]);
    expect([code, err]).toEqual([1, expect.stringContaining('notification order-paid is not published')]);
    await carillon.apply();
  });

  it('shows what is missing, and the command that sends it', async () => {
    const { out } = await carillon.command(['replay', 'missing', run]);
    expect(out).toContain('1 message to 1 person is missing.');
    expect(out).toMatch(/order-paid\.paid +1 +1\n/);
    expect(out).toContain('ada@example.com');
    expect(await carillon.inbox()).toEqual([]);
    send = (/npx carillon (replay send .*)/.exec(out)?.[1] ?? '').split(' ');
  });

  it('refuses another number and another checksum', async () => {
    const other = send.map((word) => (/^[0-9a-f]{64}$/.test(word) ? '0'.repeat(64) : word));
    const { code, err } = await carillon.command(other);
    expect([code, err]).toEqual([1, expect.stringContaining('look at the missing messages again')]);
  });

  it('sends the message, up to the mail in the inbox', async () => {
    const { code } = await carillon.command(send);
    expect(code).toBe(0);
    await carillon.delivery(late, 'SENT');
    const [mail, ...others] = await carillon.inbox();
    expect([mail?.to, others]).toEqual(['ada@example.com', []]);
    const { out } = await carillon.command(['trace', late]);
    expect(out).toMatch(new RegExp(`sent by \\S+ in job_\\w+ of ${run}`));
  });

  it('is missing no longer, and a second send of the same list is refused', async () => {
    expect(await carillon.ask<RunMissingBody>(['replay', 'missing', run])).toMatchObject({ count: 0, people: 0 });
    const { code, err } = await carillon.command(send);
    expect([code, err]).toEqual([1, expect.stringContaining('0 messages are missing now, and 1 were confirmed')]);
    expect(await carillon.inbox()).toHaveLength(1);
  });
});
