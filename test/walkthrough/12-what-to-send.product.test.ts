import { untilFound } from '@carillon/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runSample } from '../support/sample-programs.ts';
import { chapter } from './places.ts';
import { ORDER_PAID, startCarillon, type Carillon } from './support.ts';

/*
 * 12. What to send
 *
 * Whoever connects a program asks: what does the rule need, and how do I send it? `rule sample` answers both, with an event
 * for which the rule fires and a program that sends it. Whoever writes rules asks the other way round: what comes? That is
 * `events fields`.
 */

chapter('12. What to send', (newHome) => {
  let carillon: Carillon;
  beforeAll(async () => {
    carillon = await startCarillon(await newHome());
  });
  afterAll(async () => {
    await carillon.leave();
  });

  const sample = async (...more: string[]): Promise<string> => {
    const { out, err, code } = await carillon.command(['rule', 'sample', 'order-paid.paid', ...more]);
    expect(code, err).toBe(0);
    return out;
  };

  it('lists the fields that rule, template and stream use, and values that make the rule fire', async () => {
    const out = await sample();
    expect(out).toMatch(/^status +string +"paid" +from the condition +when/m);
    expect(out).toMatch(/^total +number +101 +from the condition +when/m);
    expect(out).toMatch(/^customer\.email +email +"ada@example.com" +placeholder +to\.email/m);
    expect(out).toMatch(/^order_id .* key/m);
    expect(out).toContain('the rule fires for it, and notifies 1');
  });

  it('prints a program that sends the event, with the credential from the environment', async () => {
    const program = await sample('--language', 'javascript');
    expect(program).toContain('An API key belongs on a server, never in a page or an app.');
    const { out, err, code } = await runSample('javascript', program, { CARILLON_API_KEY: carillon.key });
    expect(code, err).toBe(0);
    const id = /evt_\w{26}/.exec(out)?.[0] ?? '';
    expect(await carillon.delivery(id, 'SENT')).toMatchObject({ to: 'ada@example.com' });
  });

  it('follows the rule when it changes', async () => {
    await carillon.edit(
      ORDER_PAID,
      'event.total > 100',
      'event.total > 5000 && event.customer.plan in ["gold", "black"]',
    );
    await carillon.apply();
    const out = await sample();
    expect(out).toMatch(/^total +number +5001 /m);
    expect(out).toMatch(/^customer\.plan +string +"gold" +from the condition/m);
  });

  it('lists the fields that came, with types and the newest value, whether a rule uses them or not', async () => {
    await carillon.send({ order_id: 'F-1', status: 'open', carrier: 'north', parcels: [{ weight: 2 }] });
    // A new event shows within a second.
    const out = await untilFound('the fields of the event', async () => {
      const fields = await carillon.command(['events', 'fields', 'shop/orders']);
      return fields.out.includes('carrier') ? fields.out : undefined;
    });
    expect(out).toMatch(/^carrier +string +1 .*"north"$/m);
    expect(out).toMatch(/^parcels\[\]\.weight +number +1 .* 2$/m);
  });
});
