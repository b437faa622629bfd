import type { IntegrationBody, Security, StreamBody } from '@carillon/domain/configuration';
import fc, { type Arbitrary } from 'fast-check';
import { expression, name, words } from './texts.ts';

/* Streams of every origin, and what they read. */

/** A JWT provider of this name is in every configuration. */
export const PROVIDER = 'auth';
const claim = fc.constantFrom('sub', 'email', 'https://example.com/user_id', 'null', '1', '~');
export const security: Arbitrary<Security> = fc.oneof(
  fc.record({ api_keys: fc.uniqueArray(name, { minLength: 1, maxLength: 2 }) }),
  fc.record(
    { jwt_provider: fc.constant(PROVIDER), claims: fc.dictionary(claim, expression, { minKeys: 1, maxKeys: 3 }) },
    { requiredKeys: ['jwt_provider'] },
  ),
);
const rate = fc.record({ per_second: fc.integer({ min: 1, max: 1000 }), burst: fc.integer({ min: 1, max: 1000 }) });
export const secret = fc.constantFrom({ secret: 'CRM_KEY' }, { secret: 'CRM_NEXT' });

/** A database of this name is in every configuration. Other names are shorter. */
export const DATABASE = 'shop-database';
export const database: Arbitrary<IntegrationBody> = fc.record(
  {
    kind: fc.constant('postgres' as const),
    url: fc.constant({ secret: 'SHOP_DB' }),
    tls: fc.constant({ ca: { secret: 'SHOP_CA' } }),
  },
  { requiredKeys: ['kind', 'url'] },
);
const table = fc.constantFrom('public.orders', 'public.Order Items', 'null.~', "public.#it's", 'a.b:c');
const column = fc.constantFrom('card_number', 'a.b', '~', 'Name: first');
const withoutColumn = (listed: Readonly<Record<string, string>>, left: string | null) =>
  left !== null && { without: Object.keys(listed).map((named) => `${named}.${left}`) };
const tablesStream = fc.record(
  {
    from: fc
      .record({ tables: fc.dictionary(table, expression, { minKeys: 1, maxKeys: 3 }), left: fc.option(column) })
      .map(({ tables, left }) => ({ integration: DATABASE, tables, ...withoutColumn(tables, left) })),
    time: expression,
  },
  { requiredKeys: ['from'] },
) as Arbitrary<StreamBody>;

/** A Kafka cluster of this name is in every configuration. */
export const CLUSTER = 'shop-cluster';
export const cluster = fc.record(
  {
    kind: fc.constant('kafka' as const),
    brokers: fc.uniqueArray(fc.constantFrom('kafka-1:9092', '10.0.0.4:9093', 'kafka.example.com:9093'), {
      minLength: 1,
    }),
    sasl: fc.record({
      mechanism: fc.constantFrom('plain', 'scram-sha-256', 'scram-sha-512'),
      username: words,
      password: secret,
    }),
    tls: fc.record({ ca: secret }, { requiredKeys: [] }),
    registry: fc.record(
      {
        url: fc.constantFrom('https://registry.example.com', 'http://10.0.0.1:8081/a/'),
        username: words,
        password: secret,
      },
      { requiredKeys: ['url'] },
    ),
  },
  { requiredKeys: ['kind', 'brokers'] },
) as Arbitrary<IntegrationBody>;
const topic = fc.constantFrom('orders', 'app.public.orders', 'null', '1.50', '-', '.a', '_b..c', '0x10', 'constructor');
const topicsStream = fc
  .record(
    {
      format: fc.constantFrom('json' as const, 'debezium' as const),
      from: fc.record({
        topics: fc.dictionary(topic, expression, { minKeys: 1, maxKeys: 3 }),
        left: fc.option(column),
      }),
      time: expression,
    },
    { requiredKeys: ['from'] },
  )
  .map(({ from: { topics, left }, ...body }) => ({
    ...body,
    from: { integration: CLUSTER, topics, ...withoutColumn(topics, body.format === 'debezium' ? left : null) },
  })) as Arbitrary<StreamBody>;

const postedStream = fc.record(
  {
    key: expression,
    time: expression,
    format: fc.constant('json' as const),
    security,
    cors_origins: fc.constant(['https://app.example.com']),
    rate,
  },
  { requiredKeys: ['security'] },
) as Arbitrary<StreamBody>;

/** A sender posts envelopes here. */
const envelopeStream = fc.record(
  {
    format: fc.constant('debezium' as const),
    key: expression,
    time: expression,
    security: fc.oneof(security, fc.record({ webhook_secret: secret })),
    rate,
  },
  { requiredKeys: ['format', 'key', 'security'] },
) as Arbitrary<StreamBody>;

export const streamBody = fc.oneof(postedStream, envelopeStream, tablesStream, topicsStream);
