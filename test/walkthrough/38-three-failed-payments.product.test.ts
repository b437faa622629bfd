import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chapter } from './places.ts';
import { startCarillon, type Carillon } from './support.ts';

/*
 * 38. Three failed payments
 *
 * One failed payment is nothing, three within an hour are worth a message. A rule with `totals` counts the events of each order, and
 * `cooldown: until_false` notifies once until the count is lower again. docs/count-events.md has the keys.
 */

const FILES = {
  'notifications/payment-fails.yaml': `
channels:
  email: { template: payment-fails }
rules:
  three-times:
    stream: orders
    totals: { failed: { count: event.status == "payment_failed", within: 1h } }
    when: totals.failed >= 3
    cooldown: until_false
    recipients:
      from: event
      to: { email: event.customer.email }
      unique_id: event_id
`,
  'templates/payment-fails/email.yaml': 'subject: "Order {{order_id}}: {{totals.failed}} payments failed"\n',
  'templates/payment-fails/email.txt': 'Dear {{customer.name}}, please check your card.\n',
  'tests/payment-fails.yaml': `
rule: payment-fails.three-times
cases:
  three failed payments within an hour notify once until it is over:
    - { at: 10:00, event: { order_id: A-1, status: payment_failed, customer: { name: Ada, email: ada@example.com } } }
    - { at: 10:20, event: { order_id: A-2, status: payment_failed, customer: { name: Bo, email: bo@example.com } } }
    - { at: 10:30, event: { order_id: A-1, status: payment_failed, customer: { name: Ada, email: ada@example.com } } }
    - { at: 10:59, event: { order_id: A-1, status: payment_failed, customer: { name: Ada, email: ada@example.com } } }
    - { at: 10:59, message: { email: ada@example.com, subject: "Order A-1: 3 payments failed" } }
    - { at: 11:00, event: { order_id: A-1, status: payment_failed, customer: { name: Ada, email: ada@example.com } } }
    - { at: 13:00, event: { order_id: A-1, status: payment_failed, customer: { name: Ada, email: ada@example.com } } }
    - { at: 13:10, event: { order_id: A-1, status: payment_failed, customer: { name: Ada, email: ada@example.com } } }
    - { at: 13:20, event: { order_id: A-1, status: payment_failed, customer: { name: Ada, email: ada@example.com } } }
    - { at: 13:20, message: { email: ada@example.com, subject: "Order A-1: 3 payments failed" } }
`,
} as const;

chapter('38. Three failed payments', (newHome) => {
  let carillon: Carillon;
  beforeAll(async () => {
    carillon = await startCarillon(await newHome());
    for (const [name, text] of Object.entries(FILES)) {
      const file = join(carillon.folder, 'carillon-demo/workspaces/shop', name);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text);
    }
  });
  afterAll(async () => {
    await carillon.leave();
  });

  const fail = (id: string) =>
    carillon.send({ order_id: id, status: 'payment_failed', customer: { name: 'Ada', email: 'ada@example.com' } });
  const subjects = async (): Promise<readonly string[]> =>
    (await carillon.inbox()).map(({ subject }) => subject).filter((subject) => subject.startsWith('Order A-'));

  it('is tried before it is applied: the case of the folder passes, and fails for a rule that counts two', async () => {
    const tried = await carillon.command(['test', 'carillon-demo']);
    expect(tried.out).toContain('4 cases passed');
    const rule = 'carillon-demo/workspaces/shop/notifications/payment-fails.yaml';
    await carillon.edit(rule, 'totals.failed >= 3', 'totals.failed >= 2');
    const wrong = await carillon.command(['test', 'carillon-demo']);
    expect(wrong.code).toBe(1);
    expect(wrong.out).toContain('1 of 4 cases failed');
    await carillon.edit(rule, 'totals.failed >= 2', 'totals.failed >= 3');
    await carillon.apply();
  });

  it('notifies at the third failed payment of an order, with the count', async () => {
    const first = await fail('A-1');
    await fail('A-2');
    await fail('A-1');
    const third = await fail('A-1');
    await carillon.delivery(third, 'SENT');
    expect(await subjects()).toEqual(['Order A-1: 3 payments failed']);
    expect(await carillon.trace(first)).toContain('totals.failed is 1');
    expect(await carillon.trace(third)).toContain('totals.failed is 3');
  });

  it('notifies once while the count lasts, and says why', async () => {
    const fourth = await fail('A-1');
    const story = await carillon.trace(fourth);
    expect(story).toContain('in cooldown');
    expect(story).toContain('totals.failed is 4');
    expect(await subjects()).toHaveLength(1);
  });

  it('shows what is kept of the order', async () => {
    const { out } = await carillon.command(['state', 'show', 'shop/orders', 'A-1', '--workspace', 'shop']);
    expect(out).toContain('totals.failed keeps 4 events');
  });
});
