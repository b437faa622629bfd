import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { messageBody, payloadBytes, type PushContent } from '../src/index.ts';

type Schema = {
  readonly type?: string;
  readonly $ref?: string;
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly items?: Schema;
};
const { schemas } = JSON.parse(readFileSync(new URL('fcm-v1.discovery.json', import.meta.url), 'utf8')) as {
  readonly schemas: Readonly<Record<string, Schema>>;
};

/** What of a value FCM's own description does not have. */
function foreign(value: unknown, schema: Schema, path = '$'): readonly string[] {
  if (schema.$ref !== undefined) return foreign(value, schemas[schema.$ref] ?? {}, path);
  if (schema.type === 'any') return [];
  if (schema.type === 'object') {
    if (typeof value !== 'object' || value === null) return [`${path} is no object`];
    return Object.entries(value).flatMap(([name, item]) => {
      const inside = schema.properties?.[name] ?? schema.additionalProperties;
      return inside ? foreign(item, inside, `${path}.${name}`) : [`${path}.${name} is unknown`];
    });
  }
  if (schema.type === 'array')
    return (value as unknown[]).flatMap((item) => foreign(item, schema.items ?? {}, `${path}[]`));
  if (typeof value !== schema.type) return [`${path} is no ${schema.type}`];
  return schema.enum && !schema.enum.includes(value as string) ? [`${path} is ${String(value)}`] : [];
}

const NOW = Date.UTC(2026, 10, 22, 12);
const content: PushContent = {
  title: 'Order A-1',
  body: 'paid',
  image: 'https://shop.example.com/paid.png',
  link: 'https://shop.example.com/orders/A-1',
  data: { order: 'A-1' },
  priority: 'high',
  collapse: 'order A-1',
  androidChannel: 'orders',
  apnsSound: 'default',
};
const bodyOf = (more: Partial<PushContent> = {}, timeToLive = 90_000, token = 'abc:def') =>
  messageBody({ token, content: { ...content, ...more }, timeToLive, now: NOW });

describe('the body of a push notification', () => {
  it('has every part that its template has', () => {
    expect(bodyOf()).toEqual({
      message: {
        token: 'abc:def',
        notification: { title: 'Order A-1', body: 'paid', image: 'https://shop.example.com/paid.png' },
        data: { order: 'A-1', link: 'https://shop.example.com/orders/A-1' },
        android: { ttl: '90s', priority: 'HIGH', collapseKey: 'order A-1', notification: { channelId: 'orders' } },
        apns: {
          headers: {
            'apns-expiration': String(NOW / 1000 + 90),
            'apns-priority': '10',
            'apns-collapse-id': 'order A-1',
          },
          payload: { aps: { sound: 'default', 'mutable-content': 1 } },
          fcmOptions: { image: 'https://shop.example.com/paid.png' },
        },
        webpush: {
          headers: { TTL: '90', Urgency: 'high', Topic: 'lDuN0fN5XveVq831MlTdxc2N0dmUq5pe' },
          fcmOptions: { link: 'https://shop.example.com/orders/A-1' },
        },
      },
    });
  });

  it('has a browser topic per collapse key, which is the key itself if it is a valid topic', () => {
    const topicOf = (collapse: string): string =>
      (bodyOf({ collapse }) as { message: { webpush: { headers: { Topic: string } } } }).message.webpush.headers.Topic;
    const long = 'order-'.repeat(8);
    const keys = ['order-A-1', 'order A-1', 'order/A-1', 'order.A-1', `${long}1`, `${long}2`, 'Ü', 'Ä', 'x'.repeat(32)];
    const topics = keys.map(topicOf);
    expect(new Set(topics).size).toBe(keys.length);
    for (const topic of topics) expect(topic).toMatch(/^[\w-]{1,32}$/);
    expect([topics[0], topics.at(-1)]).toEqual([keys[0], keys.at(-1)]);
  });

  it('names an installation by fid and everything else by token', () => {
    const fid = 'cOq3-aB_dE1234567890xy';
    expect(bodyOf({}, 1_000, fid)).toMatchObject({ message: { fid } });
    expect(bodyOf({}, 1_000, `${fid}z`)).toMatchObject({ message: { token: `${fid}z` } });
  });

  it('has a time to live of at most 4 weeks, or 0 if no time is left', () => {
    expect(bodyOf({}, 90 * 86_400_000)).toMatchObject({ message: { android: { ttl: '2419200s' } } });
    expect(bodyOf({}, -5)).toMatchObject({
      message: {
        android: { ttl: '0s' },
        apns: { headers: { 'apns-expiration': '0' } },
        webpush: { headers: { TTL: '0' } },
      },
    });
  });

  it('has only fields of FCM’s own description, whatever the template leaves out', () => {
    const text = fc.option(fc.string({ minLength: 1 }), { nil: null });
    const contents = fc.record({
      title: text,
      body: text,
      image: text,
      link: text,
      data: fc.dictionary(fc.string({ minLength: 1 }), fc.string()),
      priority: fc.constantFrom('normal' as const, 'high' as const, null),
      collapse: text,
      androidChannel: text,
      apnsSound: text,
    });
    fc.assert(
      fc.property(contents, fc.integer(), fc.boolean(), (random, timeToLive, validateOnly) => {
        const body = messageBody({ token: 't', content: random, timeToLive, now: NOW }, validateOnly);
        expect(foreign(JSON.parse(JSON.stringify(body)), { $ref: 'SendMessageRequest' })).toEqual([]);
      }),
    );
    // The description refuses what is not in it: otherwise the law says nothing.
    expect(
      foreign({ message: { tokn: 'x', android: { priority: 'TOP' } } }, { $ref: 'SendMessageRequest' }),
    ).toHaveLength(2);
  });

  it('is measured in bytes including its data', () => {
    expect(payloadBytes({ ...content, title: '€', body: null, image: null, link: null, data: { ab: 'c' } })).toBe(6);
  });
});
