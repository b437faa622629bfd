import { afterAll, beforeAll, expect, it } from 'vitest';
import { chapter } from './places.ts';
import { ORDER, ORDER_PAID, startCarillon, type Carillon } from './support.ts';

/*
 * 19. Not at night
 *
 * `quiet_hours` in the file of a notification, or of the workspace for all that are not transactional: what comes in
 * them waits until they end, by the clock of the person who is told. The story says until when.
 */

/** The time in UTC, so many hours from now, as files have it. */
const hoursFromNow = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16);

/** Zones that never change their clocks: one shares the night with UTC, the other is half a day away. */
const NEAR = 'UTC';
const FAR = 'Pacific/Tarawa';

chapter('19. Not at night', (newHome) => {
  let carillon: Carillon;
  beforeAll(async () => {
    carillon = await startCarillon(await newHome());
  });
  afterAll(() => carillon.leave());

  const from = hoursFromNow(-2);
  const to = hoursFromNow(6);

  it('takes hours into the file, and the zone of the person from the event', async () => {
    await carillon.edit(
      ORDER_PAID,
      'expires: 24h',
      `cadence:\n  quiet_hours: { from: "${from}", to: "${to}" }\nexpires: 24h`,
    );
    await carillon.edit(
      ORDER_PAID,
      'to: { email: event.customer.email }',
      'to: { email: event.customer.email }\n      variables: { time_zone: event.customer.zone }',
    );
    expect(await carillon.apply()).toContain('applied as configuration');
  });

  const order = (zone: string) => ({ ...ORDER, customer: { ...ORDER.customer, zone } });

  let waiting: string;
  it('lets a message wait where it is night, and says until when', async () => {
    const event = await carillon.send(order(NEAR));
    await expect
      .poll(async () => await carillon.delivery(event, 'WAITING'), { timeout: 60_000 })
      .toMatchObject({ reason: 'held_by_quiet_hours', attempts: [] });
    expect(await carillon.trace(event)).toMatch(
      new RegExp(`WAITING \\(held_by_quiet_hours\\).*held by quiet hours until \\d{4}-\\d\\d-\\d\\d ${to} UTC`),
    );
    waiting = event;
  });

  it('sends it at once to somebody on the other side of the world', async () => {
    const event = await carillon.send(order(FAR));
    await carillon.delivery(event, 'SENT');
  });

  it('sends nothing at all where the hours say drop', async () => {
    await carillon.edit(ORDER_PAID, `to: "${to}" }`, `to: "${to}", then: drop }`);
    await carillon.apply();
    const event = await carillon.send(order(NEAR));
    expect(await carillon.delivery(event, 'SUPPRESSED')).toMatchObject({ reason: 'quiet_hours' });
  });

  it('sends held messages when the quiet hours are removed from the file', async () => {
    await carillon.edit(ORDER_PAID, `cadence:\n  quiet_hours: { from: "${from}", to: "${to}", then: drop }\n`, '');
    await carillon.apply();
    await carillon.delivery(waiting, 'SENT');
  });

  it('sends what is transactional day and night', async () => {
    await carillon.edit(ORDER_PAID, 'expires: 24h', 'transactional: true\nexpires: 24h');
    await carillon.apply();
    await carillon.delivery(await carillon.send(order(NEAR)), 'SENT');
  });
});
