import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chapter } from './places.ts';
import { startCarillon, type Carillon } from './support.ts';

/*
 * 37. Placed, not paid
 *
 * Some of the most useful messages are about what did not happen. A rule with `after` waits for an event that does not come: here an
 * order that is placed and not paid. docs/waiting.md has the keys, and docs/event-times.md says which clock counts.
 */

const WAIT_SECONDS = 2;
const UNPAID = {
  'notifications/order-unpaid.yaml': `
channels:
  email: { template: order-unpaid }
rules:
  not-paid:
    stream: orders
    when: event.status == "placed"
    after: 2s                              # in earnest: 1h
    unless: event.status == "paid"
    recipients:
      from: event
      to: { email: event.customer.email }
      unique_id: event.order_id
`,
  'templates/order-unpaid/email.yaml': 'subject: Order {{order_id}} is not paid\n',
  'templates/order-unpaid/email.txt': 'Dear {{customer.name}}, order {{order_id}} is still open.\n',
};

chapter('37. Placed, not paid', (newHome) => {
  let carillon: Carillon;
  /** The order that is paid in time. */
  let paidOrder = '';
  beforeAll(async () => {
    carillon = await startCarillon(await newHome());
    for (const [name, text] of Object.entries(UNPAID)) {
      const file = join(carillon.folder, 'carillon-demo/workspaces/shop', name);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text);
    }
    await carillon.apply();
  });
  afterAll(async () => {
    await carillon.leave();
  });

  const order = (id: string, status: string) => ({
    order_id: id,
    status,
    customer: { name: 'Ada', email: 'ada@example.com' },
  });

  it('notifies nobody about an order that is paid in time, and says what ended the wait', async () => {
    const { placed, paid } = await paidInTime();
    const waited = await carillon.trace(placed);
    expect(waited).toMatch(
      /rule +waits until \S+ \d\d:\d\d:\d\d\S*(?: UTC)? +configuration \d+ +order-unpaid\.not-paid v1/,
    );
    for (const event of [placed, paid]) expect(await carillon.trace(event)).toContain('wait cancelled');
  });

  it('notifies because the second event does not come, and says by which deadline', async () => {
    const placed = await carillon.send(order('A-1', 'placed'));
    const { id } = await carillon.delivery(placed, 'SENT');
    expect(await subjects()).toContain('Order A-1 is not paid');
    const story = await carillon.trace(placed);
    const [, received = '', deadline = ''] =
      /^(\d\d:\d\d:\d\d)\S* +event [^]+ fired by its deadline \S+ (\d\d:\d\d:\d\d)/m.exec(story) ?? [];
    const seconds = (clock: string): number => Date.parse(`2026-01-01T${clock}Z`) / 1000;
    expect(seconds(deadline) - seconds(received)).toBeOneOf([WAIT_SECONDS, WAIT_SECONDS - 86_400]);
    expect((await carillon.command(['trace', id])).out).toContain('order-unpaid.not-paid');
  });

  it('sends nothing more when the payment comes too late', async () => {
    const paid = await carillon.send(order('A-1', 'paid'));
    expect(await carillon.trace(paid)).not.toContain('wait cancelled');
    const all = await subjects();
    expect(all.filter((subject) => subject === 'Order A-1 is not paid')).toHaveLength(1);
    expect(all).not.toContain(`Order ${paidOrder} is not paid`);
  });

  const subjects = async (): Promise<readonly string[]> => (await carillon.inbox()).map(({ subject }) => subject);

  /** Places and pays orders until one is surely paid before its deadline, however slow the machine is. */
  async function paidInTime() {
    for (let number = 1; ; number += 1) {
      const name = `paid-${number}`;
      const begun = performance.now();
      const placed = await carillon.send(order(name, 'placed'));
      const paid = await carillon.send(order(name, 'paid'));
      paidOrder = name;
      if (performance.now() - begun < WAIT_SECONDS * 1000) return { placed, paid };
    }
  }
});
