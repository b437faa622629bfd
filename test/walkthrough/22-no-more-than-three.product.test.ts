import { afterAll, beforeAll, expect, it } from 'vitest';
import { chapter } from './places.ts';
import { ORDER, ORDER_PAID, startCarillon, type Carillon } from './support.ts';

/*
 * 22. No more than three a day
 *
 * `limits` in the file of a notification, or of the workspace for all that are not transactional: how many messages one
 * person gets at most, within a time that rolls or by their calendar. What is over it is dropped or waits, and says which
 * limit it was and which messages filled it.
 */

chapter('22. No more than three a day', (newHome) => {
  let carillon: Carillon;
  beforeAll(async () => {
    carillon = await startCarillon(await newHome());
  });
  afterAll(() => carillon.leave());

  const told: string[] = [];
  const LIMIT = '{ max: 3, per: 1d, then: drop }';
  const explain = async (): Promise<string> => {
    const { out, err } = await carillon.command(['cadence', 'explain', 'order-paid', ORDER.customer.email]);
    expect(err).toBe('');
    return out;
  };

  it('takes a limit into the file', async () => {
    await carillon.edit(ORDER_PAID, 'expires: 24h', `cadence:\n  limits:\n    - ${LIMIT}\nexpires: 24h`);
    expect(await carillon.apply()).toContain('applied as configuration');
    expect(await explain()).toMatch(
      /email {2}would be sent[^]*0 of 3 {2}at most 3 messages in 1d of this notification/,
    );
  });

  it('tells one person three times', async () => {
    for (let sent = 0; sent < 3; sent += 1) {
      const { id } = await carillon.delivery(await carillon.send(ORDER), 'SENT');
      told.push(id);
    }
    expect(await carillon.inbox()).toHaveLength(3);
  });

  it('drops the fourth message, naming the limit and the messages that filled it', async () => {
    const event = await carillon.send(ORDER);
    expect(await carillon.delivery(event, 'SUPPRESSED')).toMatchObject({ reason: 'capped', attempts: [] });
    const story = await carillon.trace(event);
    expect(story).toContain('at most 3 messages in 1d of this notification, filled by');
    for (const id of told) expect(story).toContain(id);
    expect(await carillon.inbox()).toHaveLength(3);
  });

  it('says beforehand what would meet a message, and from when there is room', async () => {
    const said = await explain();
    expect(said).toMatch(/email {2}would be dropped[^]*3 of 3 .*, then: drop; room from \d{4}-\d\d-\d\d \d\d:\d\d /);
    for (const id of told) expect(said).toContain(id);
  });

  it('still tells somebody else', async () => {
    const other = { ...ORDER, customer: { ...ORDER.customer, email: 'grace@example.com' } };
    await carillon.delivery(await carillon.send(other), 'SENT');
  });

  it('holds messages above a limit with then: hold, and says until when', async () => {
    await carillon.edit(ORDER_PAID, LIMIT, '{ max: 3, per: 1h, then: hold }');
    await carillon.apply();
    const event = await carillon.send(ORDER);
    await expect
      .poll(async () => await carillon.delivery(event, 'WAITING'), { timeout: 60_000 })
      .toMatchObject({ reason: 'held_by_limit', attempts: [] });
    expect(await carillon.trace(event)).toMatch(/WAITING \(held_by_limit\).*held until \d{4}-\d\d-\d\d \d\d:\d\d /);
  });

  it('sends what is transactional, and counts it nowhere', async () => {
    await carillon.edit(ORDER_PAID, 'expires: 24h', 'transactional: true\nexpires: 24h');
    await carillon.apply();
    await carillon.delivery(await carillon.send(ORDER), 'SENT');
    expect(await explain()).toContain('transactional: quiet hours and limits do not apply');
  });
});
