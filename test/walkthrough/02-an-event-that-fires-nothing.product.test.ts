import { afterAll, beforeAll, expect, it } from 'vitest';
import { chapter } from './places.ts';
import { ORDER, startCarillon, type Carillon } from './support.ts';

/*
 * 2. An event that fires nothing
 *
 * Most events tell nobody anything, and that is right. But when somebody asks "why did Ada get no mail?", silence is no
 * answer. Every event that was accepted can be asked for its story, whether or not something came of it.
 */

chapter('2. An event that fires nothing', (newHome) => {
  let carillon: Carillon;
  beforeAll(async () => {
    carillon = await startCarillon(await newHome());
  });
  afterAll(async () => {
    await carillon.leave();
  });

  it('shows for an event without a message the rules that saw it and the false part of their condition', async () => {
    const id = await carillon.send({ ...ORDER, status: 'open' });
    const story = await carillon.trace(id);
    expect(story).toContain('1 rule saw it, 0 fired');
    const configuration = `configuration ${carillon.home.demoNumber}`;
    expect(story).toMatch(
      new RegExp(String.raw`rule +did not fire: \`when\` is false +${configuration} +order-paid\.paid v1`),
    );
    // Each part of the condition with the value that it had for this event.
    expect(story).toMatch(/event\.status == "paid" +→ +false/);
    expect(story).toMatch(/event\.status +→ +"open"/);
    expect(story).toMatch(/event\.total > 100 +→ +true/);
  });

  it('says when a rule could not judge the event at all, for instance because a field is missing', async () => {
    // A missing field makes the condition an error, not false. The rule does not fire, and the error is shown.
    const { total: _left, ...withoutTotal } = ORDER;
    const story = await carillon.trace(await carillon.send(withoutTotal));
    expect(story).toMatch(/rule +did not fire: no such field: total/);
  });

  it('shows why a rule that fired sent no message', async () => {
    // The rule fires, but the event names no address.
    const id = await carillon.send({ ...ORDER, customer: { name: 'Ada' } });
    await carillon.delivery(id, 'SUPPRESSED');
    expect(await carillon.trace(id)).toMatch(/delivery +SUPPRESSED \(no_address\)/);
  });

  it('lists received events, newest first, and follows new ones', async () => {
    const { items } = await carillon.ask<{ items: { id: string; stream: string }[] }>([
      'events',
      '--stream',
      'shop/orders',
    ]);
    expect(items).toHaveLength(3);
    expect(items[0]?.stream).toBe('shop/orders');

    const watcher = carillon.watch(['events', '--follow']);
    await expect.poll(() => watcher.out(), { timeout: 60_000 }).toContain(items[0]?.id);
    const next = await carillon.send({ ...ORDER, status: 'open' });
    await expect.poll(() => watcher.out(), { timeout: 60_000 }).toContain(next);
    watcher.end();
    expect(await carillon.inbox()).toEqual([]);
  });

  it('refuses malformed events at once with the position of the mistake, and stores nothing', async () => {
    const key = { authorization: `Bearer ${carillon.key}` };
    // No answer but 202 means that the event was taken.
    const torn = await carillon.post('shop/orders', '{"order_id": "A-1", "status": }', key);
    expect(torn).toMatchObject({ status: 400, body: { code: 'invalid_json', line: 1 } });
    const list = await carillon.post('shop/orders', '[1, 2]', key);
    expect(list).toMatchObject({ status: 400, body: { code: 'not_an_object' } });
    const twice = await carillon.post('shop/orders', '{"order_id": "A-1", "order_id": "A-2"}', key);
    expect(twice).toMatchObject({ status: 400, body: { code: 'duplicate_key' } });
    // The demo's stream has a key, event.order_id: events of one order are judged in their order.
    const keyless = await carillon.post('shop/orders', '{"status": "paid"}', key);
    expect(keyless).toMatchObject({ status: 400, body: { code: 'missing_entity_key' } });
    const text = await carillon.post('shop/orders', 'hello', { ...key, 'content-type': 'text/plain' });
    expect(text).toMatchObject({ status: 415, body: { code: 'unsupported_media_type' } });
    const { items } = await carillon.ask<{ items: unknown[] }>(['events']);
    expect(items).toHaveLength(4);
  });
});
