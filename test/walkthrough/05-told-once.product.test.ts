import { afterAll, beforeAll, expect, it } from 'vitest';
import { chapter } from './places.ts';
import { ORDER, ORDER_PAID, startCarillon, type Carillon } from './support.ts';

/*
 * 5. Told once
 *
 * Two different repeats are kept apart here. A client that never saw an answer sends the same event again: that is one
 * event, by its Idempotency-Key. An order that changes twice is two events, and perhaps still only one message: that is
 * the rule's unique_id. Nobody is sent the same notification twice for one unique_id.
 */

chapter('5. Told once', (newHome) => {
  let carillon: Carillon;
  beforeAll(async () => {
    carillon = await startCarillon(await newHome());
    await carillon.edit(ORDER_PAID, 'unique_id: event_id', 'unique_id: event.order_id');
    await carillon.command(['apply', '-f', 'carillon-demo']);
  });
  afterAll(async () => {
    await carillon.leave();
  });

  it('treats a repeated request with the same Idempotency-Key as one event', async () => {
    const first = await carillon.send({ ...ORDER, order_id: 'B-1' }, { 'idempotency-key': 'order-B-1/change-7' });
    const again = await carillon.send({ ...ORDER, order_id: 'B-1' }, { 'idempotency-key': 'order-B-1/change-7' });
    expect(again).toBe(first);
    await carillon.delivery(first, 'SENT');
    expect(await carillon.inbox()).toHaveLength(1);
  });

  it('sends one message for two events with one unique_id, and shows the second as a duplicate of the first', async () => {
    const first = await carillon.send(ORDER);
    const told = await carillon.delivery(first, 'SENT');
    const second = await carillon.send({ ...ORDER, total: 130 });
    expect(second).not.toBe(first);
    const duplicate = await carillon.delivery(second, 'SUPPRESSED');
    expect(duplicate.duplicate_of).toBe(told.id);
    // Both events fired. The trace of the second says who holds its place.
    const story = await carillon.trace(second);
    expect(story).toContain('1 rule saw it, 1 fired');
    expect(story).toContain(told.id);
    expect(await carillon.inbox()).toHaveLength(2);
  });

  it('answers before you send, by rule test, whether somebody was told already', async () => {
    const { out } = await carillon.command(['rule', 'test', 'order-paid.paid', '--event', '-'], JSON.stringify(ORDER));
    expect(out).toContain('unique_id  A-1001');
    expect(out).toMatch(/already notified: dlv_\w+ holds this slot/);
  });

  it('warns in words when unique_id is left out, because then each address is told once, ever', async () => {
    await carillon.edit(ORDER_PAID, 'unique_id: event.order_id', '# unique_id: event.order_id');
    const { out, code } = await carillon.command(['diff', '-f', 'carillon-demo']);
    expect(out).toContain('each address gets this notification once, ever');
    expect(code).toBe(0);
  });
});
