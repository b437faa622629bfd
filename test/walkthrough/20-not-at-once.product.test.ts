import { afterAll, beforeAll, expect, it } from 'vitest';
import { chapter } from './places.ts';
import { ORDER, ORDER_PAID, startCarillon, type Carillon } from './support.ts';

/*
 * 20. Not at once
 *
 * `delay` in the file of a notification puts its messages off: by a span, until a time in the event, or until a local
 * time of the person. It is worked out when the event is judged; the story says when the message is due.
 */

chapter('20. Not at once', (newHome) => {
  let carillon: Carillon;
  beforeAll(async () => {
    carillon = await startCarillon(await newHome());
  });
  afterAll(() => carillon.leave());

  it('lets a message wait until the time that the event names, and says when that is', async () => {
    await carillon.edit(ORDER_PAID, 'expires: 24h', 'cadence:\n  delay: { until: event.ships_at }\nexpires: 24h');
    expect(await carillon.apply()).toContain('applied as configuration');
    const event = await carillon.send({ ...ORDER, ships_at: new Date(Date.now() + 86_400_000).toISOString() });
    expect(await carillon.delivery(event, 'WAITING')).toMatchObject({ reason: 'delayed', attempts: [] });
    expect(await carillon.trace(event)).toMatch(/WAITING \(delayed\) .*due at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC/);
  });

  it('sends at once what the event says is past', async () => {
    const event = await carillon.send({ ...ORDER, ships_at: '2020-01-01T00:00:00Z' });
    await carillon.delivery(event, 'SENT');
  });

  it('notifies nobody about an event without the time field, and says so', async () => {
    const story = await carillon.trace(await carillon.send({ ...ORDER, ships_at: 'soon' }));
    expect(story).toContain('cadence.delay.until is no time');
  });

  it('sends after a span of time', async () => {
    await carillon.edit(ORDER_PAID, 'delay: { until: event.ships_at }', 'delay: 2s');
    await carillon.apply();
    await carillon.delivery(await carillon.send(ORDER), 'SENT');
  });
});
