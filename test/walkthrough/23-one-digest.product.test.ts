import { afterAll, beforeAll, expect, it } from 'vitest';
import { chapter } from './places.ts';
import { ORDER, ORDER_PAID, startCarillon, type Carillon } from './support.ts';

/*
 * 23. One digest in place of twelve mails
 *
 * `digest` in the file of a notification collects its messages to one address and tells of all of them at once: after a
 * time, at a time of day, or, as here, when there are as many as it may have.
 */

const ITEMS = 12;

chapter('23. One digest in place of twelve mails', (newHome) => {
  let carillon: Carillon;
  const events: string[] = [];
  beforeAll(async () => {
    carillon = await startCarillon(await newHome());
  });
  afterAll(() => carillon.leave());

  it('takes a window, and how many a digest may have', async () => {
    await carillon.edit(
      ORDER_PAID,
      'expires: 24h',
      `cadence:\n  digest: { window: { fixed: 1h }, max_items: ${ITEMS} }\nexpires: 24h`,
    );
    expect(await carillon.apply()).toContain('applied as configuration');
  });

  it('lets the first ones wait, and says until when', async () => {
    for (let n = 1; n < ITEMS; n += 1) events.push(await carillon.send({ ...ORDER, order_id: `D-${n}` }));
    for (const event of events) {
      expect(await carillon.delivery(event, 'COLLECTED')).toMatchObject({ reason: 'collected', attempts: [] });
    }
    expect(await carillon.trace(events[0]!)).toMatch(/COLLECTED \(collected\) .*for a digest at \d{4}-\d\d-\d\d/);
  });

  it('sends one message when the twelfth comes, and each event says which', async () => {
    events.push(await carillon.send({ ...ORDER, order_id: `D-${ITEMS}` }));
    for (const event of events) await carillon.delivery(event, 'DIGESTED');
    const story = await carillon.trace(events[0]!);
    expect(story).toMatch(/DIGESTED \(digested\) .*in digest dlv_/);
    expect(story).toMatch(new RegExp(`a digest of ${ITEMS} items`));
  });
});
