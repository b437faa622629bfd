import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { composeMessage, smsSegments, templateOf, type ChannelTemplate } from '../../src/channels/index.ts';
import type { TemplateBody } from '../../src/configuration/index.ts';

const PUSH: NonNullable<TemplateBody['push']> = {
  title: 'Order {{ order_id }}',
  body: '{{ total }} paid',
  data: { order: '{{ order_id }}', 'kind.of': 'paid' },
  priority: 'high',
  android: { channel: 'orders' },
  apns: { sound: 'default' },
};
const pushTemplate = (body = PUSH): ChannelTemplate => {
  const template = templateOf({ push: body }, 'push');
  if (!template) throw new Error('there is a push template');
  return template;
};
const smsTemplate = templateOf({ sms: { text: 'Paid' } }, 'sms');
const addressed = { deliveryId: 'dlv_1', attempt: 1 } as const;
const sms = (text: string, account = {}) =>
  composeMessage(
    { ...addressed, channel: 'sms', to: '+49 30 123456' },
    { settings: smsTemplate?.settings ?? {}, parts: { text } },
    account,
  );
const push = (parts: Record<string, string>, template = pushTemplate()) =>
  composeMessage({ ...addressed, channel: 'push', to: 'dKz_A:APA91b' }, { settings: template.settings, parts }, {});

describe('an SMS', () => {
  it('goes to the normalized number, and contains only the text', () => {
    expect(sms('Grüße €')).toEqual({ ok: true, value: { channel: 'sms', to: '+4930123456', text: 'Grüße €' } });
  });

  it('has at most ten segments, or the maximum of its account', () => {
    expect(sms('a'.repeat(1530)).ok).toBe(true);
    expect(sms('a'.repeat(1531))).toEqual({
      ok: false,
      error: 'text: it takes 11 segments (GSM-7), and 10 are sent at most',
    });
    expect(sms('ж'.repeat(68 * 2), { max_segments: 2 })).toEqual({
      ok: false,
      error: 'text: it takes 3 segments (UCS-2, because of “ж”), and 2 are sent at most',
    });
  });

  it('has at most ten segments even if its account allows more', () => {
    expect(sms('a'.repeat(1531), { max_segments: 20 }).ok).toBe(false);
  });

  it('is never empty', () => {
    expect(sms(' \n ')).toEqual({ ok: false, error: 'text: the rendered text is empty' });
  });

  it('of any text is sent with at most ten segments or not at all', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 1800 }), (text) => {
        const made = sms(text);
        expect(made.ok).toBe(text.trim() !== '' && smsSegments(text).segments <= 10);
      }),
    );
  });
});

describe('a push notification', () => {
  it('holds the fields of its template, as they were rendered', () => {
    expect(pushTemplate()).toMatchObject({
      channel: 'push',
      parts: {
        title: 'Order {{ order_id }}',
        body: '{{ total }} paid',
        'data.order': '{{ order_id }}',
        'data.kind.of': 'paid',
      },
      settings: { priority: 'high', 'android.channel': 'orders', 'apns.sound': 'default' },
      strict: false,
    });
    const parts = {
      title: 'Order 1',
      body: '5 € paid',
      link: 'https://shop.example.com/1',
      'data.order': '1',
      'data.kind.of': 'paid',
    };
    expect(push(parts)).toEqual({
      ok: true,
      value: {
        channel: 'push',
        to: 'dKz_A:APA91b',
        title: 'Order 1',
        body: '5 € paid',
        image: null,
        link: 'https://shop.example.com/1',
        data: { order: '1', 'kind.of': 'paid' },
        priority: 'high',
        collapse: null,
        androidChannel: 'orders',
        apnsSound: 'default',
      },
    });
  });

  it('is not sent without content', () => {
    expect(push({ title: '', body: ' ', 'data.order': '1' })).toEqual({
      ok: false,
      error: 'the rendered title and body are empty',
    });
  });

  it('omits a link or image whose address was rendered empty', () => {
    expect(push({ title: 'Paid', link: '', image: '', collapse: '' })).toMatchObject({
      value: { link: null, image: null, collapse: null },
    });
  });

  it('is at most four KB of notification and data, counted in bytes', () => {
    expect(push({ title: 'a', body: 'é'.repeat(2047) }, pushTemplate({ title: 'a' })).ok).toBe(true);
    expect(push({ title: 'ab', body: 'é'.repeat(2048) }, pushTemplate({ title: 'a' }))).toEqual({
      ok: false,
      error: 'it has 4098 bytes of notification and data, and 4096 are sent at most',
    });
  });

  it('may have fields of any name, also __proto__, safely', () => {
    const made = push({ title: 'a', 'data.__proto__': 'x', 'data.constructor': 'y' });
    expect(made.ok && made.value.channel === 'push' && Object.entries(made.value.data)).toEqual([
      ['__proto__', 'x'],
      ['constructor', 'y'],
    ]);
  });
});
