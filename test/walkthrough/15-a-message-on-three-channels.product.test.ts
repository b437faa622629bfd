import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { untilFound } from '@carillon/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chapter } from './places.ts';
import { ORDER, ORDER_PAID, startCarillon, type Carillon } from './support.ts';

/*
 * 15. A message on three channels
 *
 * A notification sends on each channel that it names, to the address that the channel takes: `to.email`, `to.phone`,
 * `to.token`. Its template says what the message reads like on each: `sms.txt` and `push.yaml` stand beside the files of
 * the email. Without a provider all three go to the inbox.
 */

const TEMPLATE = 'carillon-demo/workspaces/shop/templates/order-paid';
const ADDRESSES = { phone: '+49 30 123456', device: 'dKz_A:APA91b' };
const order = (id: string, customer: object) => ({
  ...ORDER,
  order_id: id,
  customer: { ...ORDER.customer, ...ADDRESSES, ...customer },
});

chapter('15. A message on three channels', (newHome) => {
  let carillon: Carillon;
  const write = (file: string, text: string): Promise<void> => writeFile(join(carillon.folder, TEMPLATE, file), text);
  const apply = () => carillon.command(['apply', '-f', 'carillon-demo']);
  beforeAll(async () => {
    carillon = await startCarillon(await newHome());
    await carillon.edit(
      ORDER_PAID,
      '  email: { template: order-paid }',
      '  email: { template: order-paid }\n  sms: { template: order-paid }\n  push: { template: order-paid }',
    );
    await carillon.edit(
      ORDER_PAID,
      'email: event.customer.email',
      'email: event.customer.email, phone: event.customer.phone, token: event.customer.device',
    );
  });
  afterAll(async () => {
    await carillon.leave();
  });

  const fatesOf = (eventId: string) =>
    untilFound(`the three messages of ${eventId} have ended`, async () => {
      const { items } = await carillon.ask<{ items: { channel: string; state: string; reason: string }[] }>([
        'deliveries',
        '--event',
        eventId,
      ]);
      const isOpen = items.some(({ state }) => state === 'WAITING' || state === 'SENDING');
      if (items.length < 3 || isOpen) return undefined;
      return items.map(({ channel, state, reason }) => `${channel} ${state} ${reason}`).toSorted();
    });

  it('names the missing file if a template lacks a channel', async () => {
    const { code, out, err } = await apply();
    expect(code).toBe(2);
    expect(out + err).toContain('sms has no text yet in the template order-paid');
    expect(out + err).toContain('templates/order-paid/push.yaml');
  });

  it('names line and column of a mistake in either file', async () => {
    await write('sms.txt', 'Order {{ order_id }}\nis {{paid\n');
    await write('push.yaml', 'title: Order {{ order_id }}\nbody: "{{#if}}"\n');
    const { code, out, err } = await apply();
    expect(code).toBe(2);
    expect(out + err).toContain('order-paid/sms.txt:2:4');
    expect(out + err).toContain('order-paid/push.yaml:2:');
    await write('sms.txt', 'Order {{ order_id }} is paid: {{ total }} €. Thank you, {{ customer.name }}!\n');
    await write(
      'push.yaml',
      'title: Order {{ order_id }} is paid\nbody: Thank you, {{ customer.name }}\npriority: high\n',
    );
    await carillon.apply();
  });

  it('previews each channel before sending, with the segments of the SMS', async () => {
    await writeFile(join(carillon.folder, 'event.json'), JSON.stringify(order('A-1', {})));
    const { out, code } = await carillon.command(['rule', 'test', 'order-paid.paid', '--event', 'event.json']);
    expect(code).toBe(0);
    expect(out).toContain('phone: +4930123456');
    expect(out).toContain('1 segment (GSM-7)');
    expect(out).toContain('Order A-1 is paid: 120 €. Thank you, Ada!');
    expect(out).toMatch(/push +Order A-1 is paid/);
    const preview = ['template', 'preview', 'order-paid', '--event', 'event.json'];
    const shown = await carillon.command(preview);
    expect(shown.code).toBe(0);
    expect(shown.out).toContain('Order A-1 is paid: 120 €. Thank you, Ada!');
    expect((await carillon.command([...preview, '--channel', 'push'])).out).not.toContain('segment');
    await rm(join(carillon.folder, 'event.json'));
  });

  it('sends each channel its own message, once', async () => {
    const event = await carillon.send(order('A-1', {}));
    expect(await fatesOf(event)).toEqual(['email SENT accepted', 'push SENT accepted', 'sms SENT accepted']);
    const sent = (await carillon.inbox()) as readonly object[];
    expect(sent).toHaveLength(3);
    expect(sent).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ channel: 'email', to: 'ada@example.com' }),
        expect.objectContaining({
          channel: 'sms',
          to: '+4930123456',
          text: 'Order A-1 is paid: 120 €. Thank you, Ada!\n',
          sms: { encoding: 'GSM-7', segments: 1, units: 43, first_outside_gsm: null },
        }),
        expect.objectContaining({
          channel: 'push',
          to: 'dKz_A:APA91b',
          push: expect.objectContaining({
            title: 'Order A-1 is paid',
            body: 'Thank you, Ada',
            priority: 'high',
          }) as unknown,
        }),
      ]),
    );
    const again = await carillon.send(order('A-1', { name: 'Ada again' }));
    expect(again).not.toBe(event);
    expect((await carillon.inbox()).length).toBe(3);
  });

  it('lists the deliveries of one channel', async () => {
    const { items } = await carillon.ask<{ items: { channel: string }[] }>(['deliveries', '--channel', 'sms']);
    expect(new Set(items.map(({ channel }) => channel))).toEqual(new Set(['sms']));
  });

  it('names the missing or invalid address of a channel, and sends on the other channels', async () => {
    const event = await carillon.send(order('A-2', { phone: '030 123456', device: null }));
    expect(await fatesOf(event)).toEqual([
      'email SENT accepted',
      'push SUPPRESSED no_address',
      'sms SUPPRESSED invalid_address',
    ]);
    expect(await carillon.trace(event)).toContain('phone number in international form');
  });
});
